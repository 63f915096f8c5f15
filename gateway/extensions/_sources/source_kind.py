"""A kind of sources that the worker reads, which an extension contributes."""

from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias, runtime_checkable

from gateway.extension import Services
from gateway.extensions._sources.source import Defaults, Source
from gateway.extensions._sources.source_schemas import SourceConfiguration
from gateway.extensions._sources.sync.report import Report


class SourceReader(Protocol):
    """Reads sources of a kind. config: the `settings` of the source's body.

    needs_slot: whether a reading holds a slot of the worker's jobs; not one that mostly waits for a
        host, and works in shares of its own.
    """

    @property
    def needs_slot(self) -> bool: ...

    def denial_reason(self, config: Any, /) -> str | None:
        """The reason why this server may not read the source; None if it may."""

    async def open(self, tenant: str, name: str, config: Any, defaults: Defaults, /) -> Source:
        """The tenant's source. defaults: of its documents. Raises `JobRefused`."""

    async def record(self, tenant: str, name: str, source: Any, report: Report, /) -> None:
        """Keep what the next reading has to know of this one, which is stored."""


@runtime_checkable
class SourceFollowing(Protocol):
    """Of a kind whose sources work beside the jobs follows, so that no job reads them."""

    def denial_reason(self, config: Any, /) -> str | None:
        """As `SourceReader`."""

    def to_store(self, tenant: str, name: str, config: Any, stored: Mapping[str, Any], /) -> Any:
        """The configuration with sealed secrets. stored: the settings before, empty if none."""

    async def request_copy(self, tenant: str, name: str, /) -> None:
        """Let all of the source be read again."""


OpenedKind: TypeAlias = SourceReader | SourceFollowing


@dataclass(frozen=True, slots=True)
class SourceKind:
    """body: the configuration of such a source. open_reader: makes what reads or follows them, with
    the extension's settings.
    """

    body: type[SourceConfiguration]
    open_reader: Callable[[Services, Any], AbstractAsyncContextManager[OpenedKind]]
