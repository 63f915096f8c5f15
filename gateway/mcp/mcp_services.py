"""What the tools of the Model Context Protocol use."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from starlette.responses import Response

from common.shares.cache import FairCache
from gateway.documents.document_services import ReadingWatcher
from gateway.http.request_context import RequestContext
from gateway.mcp.lazy_module import LazyModule
from gateway.mcp.tool import McpTool
from gateway.recording.read_log import ReadLog
from gateway.search.search_services import SearchServices
from gateway.settings.settings import Settings
from gateway.stores import Stores
from index.documents.visible_documents import VisibleDocuments

OwnServices = TypeVar("OwnServices")


@dataclass(frozen=True, slots=True)
class McpMethod(Generic[OwnServices]):
    """A method of the protocol's versions without a handshake that an extension answers.

    answer: gets the request, whose head and caller have been checked.
    hint:   what clients read of it where answers are described as resources.
    """

    answer: Callable[[RequestContext[OwnServices], Mapping[str, Any]], Awaitable[Response]]
    hint: str = ""


@dataclass(frozen=True, slots=True)
class OfExtensions:
    """What clients read of extensions, by name. methods: with their hints."""

    methods: tuple[tuple[str, str], ...] = ()
    tools: tuple[tuple[str, McpTool[Any]], ...] = ()


@dataclass(frozen=True, slots=True)
class McpServices:
    """tool_results: by an answer's key, its body and the tool result made from it.

    protocol: the protocol's package, whose import takes 0.7 s.
    methods, tools: of extensions, each with the services that it gets.
    """

    settings: Settings
    search: SearchServices
    documents: VisibleDocuments
    read_log: ReadLog
    reading_watchers: Sequence[ReadingWatcher]
    tool_results: FairCache[str, tuple[bytes, bytes]]
    protocol: LazyModule
    methods: dict[str, tuple[McpMethod[Any], Any]] = field(default_factory=dict)
    tools: dict[str, tuple[McpTool[Any], Any]] = field(default_factory=dict)

    @property
    def of_extensions(self) -> OfExtensions:
        return OfExtensions(
            tuple((name, method.hint) for name, (method, _) in self.methods.items()),
            tuple((name, tool) for name, (tool, _) in self.tools.items()),
        )


def build(
    stores: Stores, search: SearchServices, reading_watchers: Sequence[ReadingWatcher]
) -> McpServices:
    settings = search.settings
    return McpServices(
        settings,
        search,
        stores.visible_documents,
        search.read_log,
        reading_watchers,
        FairCache(
            settings.local_cache_bytes_max // 4, lambda result: len(result[0]) + len(result[1])
        ),
        LazyModule(f"{__package__}.protocol"),
    )
