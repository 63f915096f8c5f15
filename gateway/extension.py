"""What an extension brings to the gateway, and all that it may use of it.

An extension is a package with a module `extension` that holds `EXTENSION`: a folder of
`gateway/extensions`, or an entry point in the group `nearhit.extensions` of any distribution. Its
modules import nothing else of `gateway`; of `cache`, `index`, `ingest` and `common` they import
what they need. See `docs/how-to/extend.md`.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from pydantic import BaseModel
from starlette.requests import Request
from starlette.responses import Response

from gateway import field_errors, problems, schemas
from gateway.admin.key_schemas import KeyBody
from gateway.admin.tenant_schemas import TenantBody
from gateway.auth.authenticator import AuthenticatedRequest, Authenticator, utc_now
from gateway.auth.credentials import key_digest, make_secret, new_id
from gateway.auth.freshness import latest_revisions, revision_header, strictest
from gateway.auth.jwk import thumbprint
from gateway.auth.makers import maker_for_admin, maker_of
from gateway.background.background_flush import FlushBuffer
from gateway.background.repeated_reading import repeated_reading
from gateway.caching.change_feed import ChangeLogFeed
from gateway.content import decode_json, encode_json
from gateway.document_address import Address, address_of, address_of_hit, parse_address
from gateway.documents import document_update, preconditions
from gateway.documents.batch_endpoint import lines_of
from gateway.documents.deletion import remove_document
from gateway.documents.deletion_schemas import DeletionAnswer
from gateway.documents.document_endpoints import enqueue_write, written_response
from gateway.documents.document_schemas import DocumentBody
from gateway.documents.document_services import DocumentServices
from gateway.documents.document_update import require_editable, require_publisher
from gateway.errors import CommandError, refused_call
from gateway.http.event_stream import Event, EventSender, EventStream, run_while_connected
from gateway.http.page_stream import PageStream
from gateway.http.request_context import RequestContext, full_scope
from gateway.http.responses import (
    STRONG_HEADER,
    json_response,
    read_response,
    with_revision,
)
from gateway.http.route import ApiRoute, Parameter, Preference, body_limit
from gateway.mcp import results as mcp_results
from gateway.mcp.argument_parsing import parse as parse_arguments
from gateway.mcp.mcp_services import McpMethod
from gateway.mcp.resources import search_of
from gateway.mcp.tool import Headers, McpTool, tool_result
from gateway.monitoring.metric_registry import MetricRegistry
from gateway.monitoring.process_log import announce
from gateway.monitoring.search_metrics import LOW_CONFIDENCE_SUFFIX, Outcome
from gateway.rag import prompt_quoting
from gateway.rag.gates import gate_vocabulary
from gateway.rag.llm import read_prompt
from gateway.rag.metered_chat import BudgetedChat
from gateway.rag.passage import Passage, passage_from_answer
from gateway.rag.reranking import reranker
from gateway.rag.reranking.reranker import Order, Reranker, RerankerKind, RerankerUnavailable
from gateway.recording.answer_log import LoggedAnswer
from gateway.recording.read_log import ReadLog
from gateway.schemas import Body, Storable, with_example
from gateway.search import conversation
from gateway.search.answer_bytes import HeldAnswers
from gateway.search.batches.answers_headers import answers_headers
from gateway.search.batches.one_revision import (
    ConsistentSearches,
    SearchRound,
    search_consistently,
)
from gateway.search.embedders import CountTokens, EmbedderKind
from gateway.search.pipeline import AnsweredSearch, record_served, search_as_caller
from gateway.search.response_body import compute_answer
from gateway.search.response_headers import response_headers
from gateway.search.schemas.filter_schemas import FilterBody
from gateway.search.schemas.search_answer_schemas import CitationAnswer, HitAnswer, SearchAnswer
from gateway.search.schemas.search_schemas import MessageBody, Question, SearchBody
from gateway.search.search_request import (
    SearchRequest,
    freshness_of,
    require_received,
    require_within_limits,
)
from gateway.search.search_services import SearchServices
from gateway.services import Services
from gateway.settings.groups.limits import (
    BATCH_DOCUMENTS_MAX,
    BATCH_SEARCHES_MAX,
    SEARCH_BYTES_MAX,
)
from gateway.settings.groups.lists import listed
from gateway.settings.settings import Settings
from gateway.sources import read_options
from gateway.sources.source_kinds import SourceReader
from gateway.sources.source_schemas import (
    InnerPath,
    SourceConfiguration,
    SourceDocuments,
    SourceFiles,
)
from gateway.stores import Stores, default_quotas
from gateway.tracing import outgoing
from gateway.worker.repetition import repeat
from ingest.sources.kinds import PathKind

OwnServices = TypeVar("OwnServices")


@dataclass(frozen=True, slots=True)
class Dialect:
    """The form of problems that clients of another protocol read, for paths that no route has.

    concerns: whether a client of that protocol has sent the request.
    """

    concerns: Callable[[Request], bool]
    render: Callable[[Request, Exception], Awaitable[Response]]


@dataclass(frozen=True, slots=True)
class SourceKind:
    """A kind of sources that the worker reads.

    body:   the configuration of such a source.
    reader: makes what reads them, with the extension's settings.
    """

    body: type[SourceConfiguration]
    reader: Callable[[Services, Any], SourceReader]


class NoSettings(BaseModel):
    """Of an extension that has none."""


@asynccontextmanager
async def _open_nothing(_services: Services, _settings: BaseModel) -> AsyncIterator[Any]:
    """Of an extension whose commands or kinds of sources do the work."""
    yield None


@dataclass(frozen=True, slots=True)
class Extension(Generic[OwnServices]):
    """An extension, which the name of its folder or entry point names.

    summary: what it does, in one line for people.
    open:    makes what the handlers of its routes get as `context.services`; it is entered with its
        settings when a worker starts, and left when it ends.
    settings: a model whose fields are settings, prefixed with the extension's name.
    work: runs beside the jobs until the event is set, wherever these run; `open` is entered there.
    metrics: makes the metrics that `open` makes too, for the reference.
    mcp_methods, mcp_tools: by name, what it answers of the Model Context Protocol.
    path_kinds: of those in the module `path_kinds`, the ones that the worker reads as sources too.
    embedders, rerankers: what makes them, by the form of their names, such as `onnx:FOLDER`.
    preferences: by name, what a search may ask for by `Prefer`; `open` adds what makes the header
        to `services.search.preferred_headers`.
    """

    summary: str
    routes: Sequence[ApiRoute[OwnServices]] = ()
    open: Callable[[Services, Any], AbstractAsyncContextManager[OwnServices]] = _open_nothing
    settings: type[BaseModel] = NoSettings
    work: Callable[[OwnServices, asyncio.Event], Coroutine[None, None, None]] | None = None
    metrics: Callable[[MetricRegistry], object] | None = None
    dialect: Dialect | None = None
    mcp_methods: Mapping[str, McpMethod[OwnServices]] = field(default_factory=dict)
    mcp_tools: Mapping[str, McpTool[OwnServices]] = field(default_factory=dict)
    source_kinds: Sequence[SourceKind] = ()
    path_kinds: Sequence[PathKind] = ()
    embedders: Mapping[str, EmbedderKind] = field(default_factory=dict)
    rerankers: Mapping[str, RerankerKind] = field(default_factory=dict)
    preferences: Mapping[str, Preference] = field(default_factory=dict)


__all__ = [
    "BATCH_DOCUMENTS_MAX",
    "BATCH_SEARCHES_MAX",
    "LOW_CONFIDENCE_SUFFIX",
    "SEARCH_BYTES_MAX",
    "STRONG_HEADER",
    "Address",
    "AnsweredSearch",
    "ApiRoute",
    "AuthenticatedRequest",
    "Authenticator",
    "Body",
    "BudgetedChat",
    "ChangeLogFeed",
    "CitationAnswer",
    "CommandError",
    "ConsistentSearches",
    "CountTokens",
    "DeletionAnswer",
    "Dialect",
    "DocumentBody",
    "DocumentServices",
    "EmbedderKind",
    "Event",
    "EventSender",
    "EventStream",
    "Extension",
    "FilterBody",
    "FlushBuffer",
    "Headers",
    "HeldAnswers",
    "HitAnswer",
    "InnerPath",
    "KeyBody",
    "LoggedAnswer",
    "McpMethod",
    "McpTool",
    "MessageBody",
    "MetricRegistry",
    "Order",
    "Outcome",
    "PageStream",
    "Parameter",
    "Passage",
    "Preference",
    "Question",
    "ReadLog",
    "RequestContext",
    "Reranker",
    "RerankerKind",
    "RerankerUnavailable",
    "SearchAnswer",
    "SearchBody",
    "SearchRequest",
    "SearchRound",
    "SearchServices",
    "Services",
    "Settings",
    "SourceConfiguration",
    "SourceDocuments",
    "SourceFiles",
    "SourceKind",
    "Storable",
    "Stores",
    "TenantBody",
    "address_of",
    "address_of_hit",
    "announce",
    "answers_headers",
    "body_limit",
    "compute_answer",
    "conversation",
    "decode_json",
    "default_quotas",
    "document_update",
    "encode_json",
    "enqueue_write",
    "field_errors",
    "freshness_of",
    "full_scope",
    "gate_vocabulary",
    "json_response",
    "key_digest",
    "latest_revisions",
    "lines_of",
    "listed",
    "make_secret",
    "maker_for_admin",
    "maker_of",
    "mcp_results",
    "new_id",
    "outgoing",
    "parse_address",
    "parse_arguments",
    "passage_from_answer",
    "preconditions",
    "problems",
    "prompt_quoting",
    "read_options",
    "read_prompt",
    "read_response",
    "record_served",
    "refused_call",
    "remove_document",
    "repeat",
    "repeated_reading",
    "require_editable",
    "require_publisher",
    "require_received",
    "require_within_limits",
    "reranker",
    "response_headers",
    "revision_header",
    "run_while_connected",
    "schemas",
    "search_as_caller",
    "search_consistently",
    "search_of",
    "strictest",
    "thumbprint",
    "tool_result",
    "utc_now",
    "with_example",
    "with_revision",
    "written_response",
]
