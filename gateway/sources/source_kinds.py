"""The kinds of sources that this process reads: those of the core, and of extensions."""

from typing import Any, Protocol

import orjson
from pydantic import RootModel, ValidationError

from gateway.settings.settings import Settings
from gateway.sources import source_reader
from gateway.sources.source_schemas import PathSourceBody, SourceConfiguration, body_of
from index.sources.source_store import StoredSource
from ingest.errors import JobRefused
from ingest.parse.formats import TEXT_FORMATS
from ingest.sources.report import Report
from ingest.sources.source import Source


class SourceReader(Protocol):
    """Reads sources of a kind. config: the `settings` of the source's body."""

    def denial_reason(self, config: Any, /) -> str | None:
        """The reason why this server may not read the source; None if it may."""

    async def open(self, tenant: str, name: str, config: Any, /) -> Source: ...

    async def record(self, tenant: str, name: str, source: Any, report: Report, /) -> None:
        """Keep what the next reading has to know of this one, which is stored."""


class SourceKinds:
    """body: the model of a configuration, of any kind. formats: of the files of sources."""

    def __init__(self, settings: Settings) -> None:
        self.formats = TEXT_FORMATS
        self.body: type[RootModel[Any]] = body_of()
        self._settings = settings
        self._added: dict[type[SourceConfiguration], SourceReader] = {}

    def add(self, body: type[SourceConfiguration], reader: SourceReader) -> None:
        self._added[body] = reader
        self.body = body_of(*self._added)

    def configured(self, source: StoredSource) -> SourceConfiguration | None:
        """The configuration of a stored source; None if Nearhit does not read it.

        Raises `JobRefused` if its kind is of an extension that is off.
        """
        if source.kind is None:
            return None
        fields = {"kind": source.kind, "settings": dict(source.settings)}
        try:
            body: SourceConfiguration = self.body.model_validate_json(orjson.dumps(fields)).root
        except ValidationError as error:
            if error.errors()[0]["loc"] not in ((), ("kind",)):
                raise
            raise JobRefused(
                f"Sources of kind {source.kind} are of an extension that is off."
            ) from None
        return body

    def denial_reason(self, body: SourceConfiguration) -> str | None:
        """The reason why this server may not read the source; None if it may."""
        if isinstance(body, PathSourceBody):
            return source_reader.denial_reason(self._settings)
        return self._added[type(body)].denial_reason(body.settings)

    async def open(self, tenant: str, name: str, body: SourceConfiguration) -> Source:
        """The tenant's source. Raises `JobRefused`."""
        if (reason := self.denial_reason(body)) is not None:
            raise JobRefused(reason)
        if isinstance(body, PathSourceBody):
            return await source_reader.open_for_reading(
                self._settings, self.formats, tenant, name, body
            )
        return await self._added[type(body)].open(tenant, name, body.settings)

    async def record(
        self, tenant: str, name: str, body: SourceConfiguration, source: Source, report: Report
    ) -> None:
        """Keep what the next reading has to know of this one, which is stored."""
        if (reader := self._added.get(type(body))) is not None:
            await reader.record(tenant, name, source, report)
