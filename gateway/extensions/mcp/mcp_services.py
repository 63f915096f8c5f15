"""What the tools of the Model Context Protocol use."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from common.shares.cache import FairCache
from gateway.extension import (
    McpMethod,
    McpTool,
    ReadingWatcher,
    ReadLog,
    SearchServices,
    Services,
    Settings,
)
from gateway.extensions.mcp.lazy_module import LazyModule
from index.documents.visible_documents import VisibleDocuments


@dataclass(frozen=True, slots=True)
class OfExtensions:
    """What clients read of other extensions, by name. methods: with their hints."""

    methods: tuple[tuple[str, str], ...] = ()
    tools: tuple[tuple[str, McpTool[Any]], ...] = ()


@dataclass(frozen=True, slots=True)
class McpServices:
    """tool_results: by an answer's key, its body and the tool result made from it.

    protocol: the protocol's package, whose import takes 0.7 s.
    methods, tools: of other extensions, each with the services that it gets; they are added as
        these open.
    """

    settings: Settings
    search: SearchServices
    documents: VisibleDocuments
    read_log: ReadLog
    reading_watchers: Sequence[ReadingWatcher]
    tool_results: FairCache[str, tuple[bytes, bytes]]
    protocol: LazyModule
    methods: Mapping[str, tuple[McpMethod[Any], Any]]
    tools: Mapping[str, tuple[McpTool[Any], Any]]

    @property
    def of_extensions(self) -> OfExtensions:
        return OfExtensions(
            tuple((name, method.hint) for name, (method, _) in self.methods.items()),
            tuple((name, tool) for name, (tool, _) in self.tools.items()),
        )


def build(services: Services) -> McpServices:
    settings, search = services.settings, services.search
    return McpServices(
        settings,
        search,
        services.stores.visible_documents,
        search.read_log,
        services.documents.reading_watchers,
        FairCache(
            settings.local_cache_bytes_max // 4, lambda result: len(result[0]) + len(result[1])
        ),
        LazyModule(f"{__package__}.protocol"),
        services.mcp_methods,
        services.mcp_tools,
    )
