"""The kinds of sources that this process reads: folders, and those that extensions contribute."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import orjson

from gateway.extension import Settings
from gateway.extensions._files import read_options
from gateway.extensions._files.formats import Formats
from gateway.extensions._sources.kinds import FOLDER, PathKind, suffixes
from gateway.extensions._sources.source import Defaults, Source
from gateway.extensions._sources.source_body import body_of, kinds_of
from gateway.extensions._sources.source_kind import OpenedKind, SourceFollowing, SourceReader
from gateway.extensions._sources.source_schemas import (
    SourceConfiguration,
    SourceDocuments,
    SourceFiles,
)
from gateway.extensions._sources.source_store import StoredSource
from gateway.extensions._sources.sync.report import Report
from gateway.extensions.sources.path_reader import PathReader
from ingest.errors import JobRefused


class SourceKinds:
    """folder: of all tenants' sources that have a path. formats: of their files.

    readers: of the kinds that are contributed, by their configuration.
    """

    def __init__(
        self,
        settings: Settings,
        folder: Path | None,
        formats: Formats,
        contributions: Sequence[object] = (),
        readers: Mapping[type[SourceConfiguration], OpenedKind] | None = None,
    ) -> None:
        self.body = body_of(contributions)
        self._settings = settings
        self._formats = formats
        path_kinds = [each for each in contributions if isinstance(each, PathKind)]
        self._suffixes = suffixes(path_kinds)
        self._readers: dict[str, SourceReader] = {FOLDER: PathReader(folder, None)}
        self._readers |= {kind.name: PathReader(folder, kind) for kind in path_kinds}
        self._following: dict[str, SourceFollowing] = {}
        for body, opened in (readers or {}).items():
            if isinstance(opened, SourceFollowing):
                self._following |= dict.fromkeys(kinds_of(body), opened)
            else:
                self._readers |= dict.fromkeys(kinds_of(body), opened)

    def configured(self, source: StoredSource) -> SourceConfiguration | None:
        """The configuration of a stored source; None if Nearhit does not read it.

        Raises `JobRefused` if its kind is of an extension that is off.
        """
        if source.kind is None:
            return None
        if source.kind not in self._readers | self._following:
            raise JobRefused(f"Sources of kind {source.kind} are of an extension that is off.")
        fields = {"kind": source.kind, "settings": dict(source.settings)}
        body: SourceConfiguration = self.body.model_validate_json(orjson.dumps(fields)).root
        return body

    def denial_reason(self, body: SourceConfiguration) -> str | None:
        """The reason why this server may not read the source; None if it may."""
        opened: OpenedKind = (self._readers | self._following)[body.kind]
        return opened.denial_reason(body.settings)

    def following(self, kind: str | None) -> SourceFollowing | None:
        """What follows sources of the kind; None if jobs read them."""
        return self._following.get(kind or "")

    def settings_to_store(
        self, tenant: str, name: str, body: SourceConfiguration, before: StoredSource | None
    ) -> dict[str, Any]:
        """The settings of a source, with what is secret sealed."""
        config, following = body.settings, self.following(body.kind)
        if following is not None:
            stored = before.settings if before is not None and before.kind == body.kind else {}
            config = following.to_store(tenant, name, config, stored)
        return config.model_dump(mode="json")

    def needs_slot(self, kind: str | None) -> bool:
        """As `SourceReader`; true of kinds that this process does not read."""
        return kind not in self._readers or self._readers[kind].needs_slot

    async def open(self, tenant: str, name: str, body: SourceConfiguration) -> Source:
        """The tenant's source. Raises `JobRefused`."""
        if (reason := self.denial_reason(body)) is not None:
            raise JobRefused(reason)
        config = body.settings
        return await self._readers[body.kind].open(tenant, name, config, self._defaults_of(config))

    async def record(
        self, tenant: str, name: str, body: SourceConfiguration, source: Source, report: Report
    ) -> None:
        """Keep what the next reading has to know of this one, which is stored."""
        await self._readers[body.kind].record(tenant, name, source, report)

    def _defaults_of(self, config: SourceDocuments) -> Defaults:
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
            formats=self._formats,
            source_suffixes=self._suffixes,
        )
