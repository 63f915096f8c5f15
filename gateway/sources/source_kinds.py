"""The kinds of sources that this process reads: folders, and those of extensions."""

from typing import Any, Protocol

import orjson
from pydantic import RootModel

from gateway.settings.settings import Settings
from gateway.sources import read_options
from gateway.sources.path_reader import PathReader
from gateway.sources.source_schemas import (
    SourceConfiguration,
    SourceDocuments,
    SourceFiles,
    body_of,
    kinds_of,
)
from index.sources.source_store import StoredSource
from ingest.errors import JobRefused
from ingest.parse.formats import TEXT_FORMATS
from ingest.sources.kinds import FOLDER, PathKind, suffixes
from ingest.sources.report import Report
from ingest.sources.source import Defaults, Source


class SourceReader(Protocol):
    """Reads sources of a kind. config: the `settings` of the source's body."""

    def denial_reason(self, config: Any, /) -> str | None:
        """The reason why this server may not read the source; None if it may."""

    async def open(self, tenant: str, name: str, config: Any, /) -> Source: ...

    async def record(self, tenant: str, name: str, source: Any, report: Report, /) -> None:
        """Keep what the next reading has to know of this one, which is stored."""


class SourceKinds:
    """formats: of the files of sources."""

    def __init__(self, settings: Settings) -> None:
        self.formats = TEXT_FORMATS
        self._settings = settings
        self._path_kinds: dict[str, PathKind] = {}
        self._bodies: list[type[SourceConfiguration]] = []
        self._readers: dict[str, SourceReader] = {
            FOLDER: PathReader(settings, self.defaults_of, None)
        }

    @property
    def body(self) -> type[RootModel[Any]]:
        """The model of a configuration, of any kind."""
        return body_of(*self._bodies, path_kinds=tuple(self._path_kinds))

    def add_path_kind(self, kind: PathKind) -> None:
        self._path_kinds[kind.name] = kind
        self._readers[kind.name] = PathReader(self._settings, self.defaults_of, kind)

    def add(self, body: type[SourceConfiguration], reader: SourceReader) -> None:
        self._bodies.append(body)
        self._readers |= dict.fromkeys(kinds_of(body), reader)

    def defaults_of(self, config: SourceDocuments) -> Defaults:
        """Of documents that set nothing, as a source is configured."""
        return Defaults(
            owner=config.owner,
            readers=config.readers,
            tags=config.tags,
            language=config.language,
            default_language=self._settings.language,
            chunker=config.chunker,
            summaries=config.summaries,
            base_url=(isinstance(config, SourceFiles) and config.base_url) or "",
            options=read_options.of(self._settings),
            formats=self.formats,
            source_suffixes=suffixes(self._path_kinds.values()),
        )

    def configured(self, source: StoredSource) -> SourceConfiguration | None:
        """The configuration of a stored source; None if Nearhit does not read it.

        Raises `JobRefused` if its kind is of an extension that is off.
        """
        if source.kind is None:
            return None
        if source.kind not in self._readers:
            raise JobRefused(f"Sources of kind {source.kind} are of an extension that is off.")
        fields = {"kind": source.kind, "settings": dict(source.settings)}
        body: SourceConfiguration = self.body.model_validate_json(orjson.dumps(fields)).root
        return body

    def denial_reason(self, body: SourceConfiguration) -> str | None:
        """The reason why this server may not read the source; None if it may."""
        return self._readers[body.kind].denial_reason(body.settings)

    async def open(self, tenant: str, name: str, body: SourceConfiguration) -> Source:
        """The tenant's source. Raises `JobRefused`."""
        if (reason := self.denial_reason(body)) is not None:
            raise JobRefused(reason)
        return await self._readers[body.kind].open(tenant, name, body.settings)

    async def record(
        self, tenant: str, name: str, body: SourceConfiguration, source: Source, report: Report
    ) -> None:
        """Keep what the next reading has to know of this one, which is stored."""
        await self._readers[body.kind].record(tenant, name, source, report)
