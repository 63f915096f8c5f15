"""Opens sources that the server reads from its disk, and limits which paths it may read."""

import asyncio

from pydantic import ValidationError

from gateway import schemas
from gateway.settings.settings import Settings
from gateway.sources import read_options
from gateway.sources.source_schemas import PathSourceBody, SourceDocuments
from ingest.errors import JobRefused
from ingest.parse.formats import TEXT_FORMATS, Formats
from ingest.sources.kinds import KINDS, open_source
from ingest.sources.readers import confined
from ingest.sources.source import Defaults, Source


def denial_reason(settings: Settings) -> str | None:
    """The reason why this server may not read a path; None if it may."""
    if settings.sources_dir is None:
        return "This server may read no folder: ask the operator to set NEARHIT_SOURCES_DIR."
    return None


async def open_for_reading(
    settings: Settings, formats: Formats, tenant: str, name: str, body: PathSourceBody
) -> Source:
    """The tenant's source. Raises `JobRefused`."""
    defaults = defaults_of(settings, body.settings, body.settings.base_url, formats)
    return await asyncio.to_thread(_path_source, settings, tenant, name, body, defaults)


def defaults_of(
    settings: Settings,
    config: SourceDocuments,
    base_url: str | None = None,
    formats: Formats = TEXT_FORMATS,
) -> Defaults:
    """Of documents that set nothing, as a source is configured."""
    return Defaults(
        owner=config.owner,
        readers=config.readers,
        tags=config.tags,
        language=config.language,
        default_language=settings.language,
        chunker=config.chunker,
        summaries=config.summaries,
        base_url=base_url or "",
        options=read_options.of(settings),
        formats=formats,
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


def _path_source(
    settings: Settings, tenant: str, name: str, body: PathSourceBody, defaults: Defaults
) -> Source:
    assert settings.sources_dir is not None, "denial_reason has checked it"
    base = (settings.sources_dir / tenant_folder(tenant)).resolve()
    label = f"NEARHIT_SOURCES_DIR/{tenant}"
    kind, columns = KINDS.get(body.kind), body.settings.columns
    path = confined.locate(base, body.settings.path, label, is_folder=kind is None)
    return open_source(kind, path, defaults, name=name, columns=columns, within=base)
