"""Reads sources on the server's disk, each within its tenant's folder."""

import asyncio
from pathlib import Path

from pydantic import ValidationError

from gateway.extension import schemas
from gateway.extensions._sources import confined
from gateway.extensions._sources.kinds import PathKind, open_source
from gateway.extensions._sources.source import Defaults, Source
from gateway.extensions._sources.source_schemas import PathSettings
from gateway.extensions._sources.sync.report import Report
from ingest.errors import JobRefused


class PathReader:
    """folder: with one of each tenant; None if none may be read.

    kind: of the files that it reads; None for folders.
    """

    needs_slot = True

    def __init__(self, folder: Path | None, kind: PathKind | None) -> None:
        self._folder = folder
        self._kind = kind

    def denial_reason(self, _config: PathSettings) -> str | None:
        if self._folder is not None:
            return None
        return "This server may read no folder: ask the operator to set NEARHIT_SOURCES_DIR."

    async def open(
        self, tenant: str, name: str, config: PathSettings, defaults: Defaults
    ) -> Source:
        """The tenant's source. Raises `JobRefused`."""
        return await asyncio.to_thread(self._open, tenant, name, config, defaults)

    async def record(self, _tenant: str, _name: str, _source: Source, _: Report) -> None:
        """The next reading reads everything again."""

    def _open(self, tenant: str, name: str, config: PathSettings, defaults: Defaults) -> Source:
        assert self._folder is not None, "denial_reason has checked it"
        base = (self._folder / tenant_folder(tenant)).resolve()
        label = f"NEARHIT_SOURCES_DIR/{tenant}"
        path = confined.locate(base, config.path, label, is_folder=self._kind is None)
        return open_source(
            self._kind, path, defaults, name=name, columns=config.columns, within=base
        )


def tenant_folder(tenant: str) -> str:
    """The name of the tenant's folder. Raises `JobRefused`.

    Names are lower-case ASCII, so two tenants never share a folder on a case-insensitive disk.
    """
    try:
        return schemas.TENANT.validate_python(tenant)
    except ValidationError:
        raise JobRefused(
            f"The name of the tenant {tenant!r} is not valid for a folder of sources."
        ) from None
