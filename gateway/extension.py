"""What an extension brings to the gateway, and all that it may use of it.

An extension is a package with a module `extension` that holds `EXTENSION`: a folder of
`gateway/extensions`, or an entry point in the group `nearhit.extensions` of any distribution. Its
modules import nothing else of `gateway`, but `settings.server_provider` where that is loaded alone,
and commands `cli.common` and `cli.operations`; of `cache`, `index`, `ingest` and `common` they
import what they need. See `docs/how-to/extend.md`.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, Generic, TypeAlias, TypeVar

from pydantic import BaseModel
from starlette.requests import Request
from starlette.responses import Response

from common.command_errors import CommandError as CommandError
from common.command_errors import refused_call as refused_call
from gateway.admin.tenant_schemas import TenantAnswer as TenantAnswer
from gateway.admin.tenant_schemas import TenantBody as TenantBody
from gateway.auth import protected_resource as protected_resource
from gateway.auth.authenticated_request import AuthenticatedRequest as AuthenticatedRequest
from gateway.auth.authenticator import Authenticator as Authenticator
from gateway.auth.authenticator import utc_now as utc_now
from gateway.auth.credentials import key_digest as key_digest
from gateway.auth.credentials import make_key as make_key
from gateway.auth.credentials import make_secret as make_secret
from gateway.auth.credentials import narrow_token as narrow_token
from gateway.auth.credentials import new_id as new_id
from gateway.auth.freshness import MIN_REVISION as MIN_REVISION
from gateway.auth.freshness import MIN_REVISION_PATTERN as MIN_REVISION_PATTERN
from gateway.auth.freshness import latest_revisions as latest_revisions
from gateway.auth.freshness import parse_min_revision as parse_min_revision
from gateway.auth.freshness import revision_header as revision_header
from gateway.auth.freshness import strictest as strictest
from gateway.auth.makers import maker_for_admin as maker_for_admin
from gateway.auth.makers import maker_of as maker_of
from gateway.auth.roles import ROLES as ROLES
from gateway.auth.roles import Role as Role
from gateway.auth.web_token_kind import WebTokens as WebTokens
from gateway.background.background_flush import BackgroundFlush as BackgroundFlush
from gateway.background.background_flush import FlushBuffer as FlushBuffer
from gateway.background.repeated_reading import repeated_reading as repeated_reading
from gateway.bodies import content as content
from gateway.bodies import schemas as schemas
from gateway.bodies.answer_codec import chunk_ids as chunk_ids
from gateway.bodies.answer_codec import decode_answer as decode_answer
from gateway.bodies.answer_codec import decode_in_steps as decode_in_steps
from gateway.bodies.answer_codec import encode_answer as encode_answer
from gateway.bodies.answer_codec import split_answer as split_answer
from gateway.bodies.content import decode_json as decode_json
from gateway.bodies.content import encode_json as encode_json
from gateway.bodies.document_address import PUBLIC_PREFIX as PUBLIC_PREFIX
from gateway.bodies.document_address import Address as Address
from gateway.bodies.document_address import address_of as address_of
from gateway.bodies.document_address import address_of_hit as address_of_hit
from gateway.bodies.document_address import parse_address as parse_address
from gateway.bodies.schemas import Body as Body
from gateway.bodies.schemas import Storable as Storable
from gateway.bodies.schemas import with_example as with_example
from gateway.caching.change_feed import ChangeLogFeed as ChangeLogFeed
from gateway.caching.question_tier import QuestionTierKind as QuestionTierKind
from gateway.caching.question_tier import TierParts as TierParts
from gateway.caching.redis_cache import open_redis as open_redis
from gateway.caching.region import OpenRegion as OpenRegion
from gateway.caching.region import Region as Region
from gateway.documents import document_update as document_update
from gateway.documents import preconditions as preconditions
from gateway.documents.deletion import TENANT_VISIBLE_KINDS as TENANT_VISIBLE_KINDS
from gateway.documents.deletion import remove_document as remove_document
from gateway.documents.deletion_schemas import DeletionAnswer as DeletionAnswer
from gateway.documents.document_endpoints import document_id_of as document_id_of
from gateway.documents.document_endpoints import enqueue_write as enqueue_write
from gateway.documents.document_endpoints import write_answer as write_answer
from gateway.documents.document_endpoints import written_response as written_response
from gateway.documents.document_schemas import DocumentBody as DocumentBody
from gateway.documents.document_schemas import RevisionAnswer as RevisionAnswer
from gateway.documents.document_schemas import WrittenAnswer as WrittenAnswer
from gateway.documents.document_services import DocumentServices as DocumentServices
from gateway.documents.document_services import MakePreprocessor as MakePreprocessor
from gateway.documents.document_services import ReadingWatcher as ReadingWatcher
from gateway.documents.document_update import may_publish as may_publish
from gateway.documents.document_update import require_editable as require_editable
from gateway.documents.document_update import require_publisher as require_publisher
from gateway.http.admission import Slot as Slot
from gateway.http.event_stream import Event as Event
from gateway.http.event_stream import EventSender as EventSender
from gateway.http.event_stream import EventStream as EventStream
from gateway.http.event_stream import run_while_connected as run_while_connected
from gateway.http.mcp_declarations import Headers as Headers
from gateway.http.mcp_declarations import McpArguments as McpArguments
from gateway.http.mcp_declarations import McpMethod as McpMethod
from gateway.http.mcp_declarations import McpTool as McpTool
from gateway.http.mcp_declarations import tool_result as tool_result
from gateway.http.request import parameters as parameters
from gateway.http.request.request_context import RequestContext as RequestContext
from gateway.http.request.request_context import full_scope as full_scope
from gateway.http.request.request_context import full_scope_of as full_scope_of
from gateway.http.responses import STRONG_HEADER as STRONG_HEADER
from gateway.http.responses import RawResponse as RawResponse
from gateway.http.responses import cache_headers as cache_headers
from gateway.http.responses import encoded_page as encoded_page
from gateway.http.responses import json_response as json_response
from gateway.http.responses import queued_body as queued_body
from gateway.http.responses import queued_response as queued_response
from gateway.http.responses import read_response as read_response
from gateway.http.responses import with_revision as with_revision
from gateway.http.revalidation import CONFIRMED_S_MAX as CONFIRMED_S_MAX
from gateway.http.revalidation import Revalidation as Revalidation
from gateway.http.revalidation import make_confirmed as make_confirmed
from gateway.http.route import ApiRoute as ApiRoute
from gateway.http.route import Parameter as Parameter
from gateway.http.route import Preference as Preference
from gateway.http.route import body_limit as body_limit
from gateway.http.static_content import StaticContent as StaticContent
from gateway.http.transport.connection import Connection as Connection
from gateway.monitoring import server_warnings as server_warnings
from gateway.monitoring.metrics import Metrics as Metrics
from gateway.monitoring.process_log import announce as announce
from gateway.monitoring.search_metrics import LOW_CONFIDENCE_SUFFIX as LOW_CONFIDENCE_SUFFIX
from gateway.monitoring.search_metrics import Outcome as Outcome
from gateway.monitoring.tracing import CheckTracing
from gateway.monitoring.tracing import MakeTracing as MakeTracing
from gateway.monitoring.tracing import Service as Service
from gateway.monitoring.tracing import TracedRequest as TracedRequest
from gateway.monitoring.tracing import Tracing as Tracing
from gateway.problems import field_errors as field_errors
from gateway.problems import problem_catalog as problem_catalog
from gateway.problems import problems as problems
from gateway.recording import shown as shown
from gateway.recording.answer_log import AnswerLog as AnswerLog
from gateway.recording.answer_log import AuditWatcher as AuditWatcher
from gateway.recording.answer_log import LoggedAnswer as LoggedAnswer
from gateway.recording.read_log import AccessRecorders as AccessRecorders
from gateway.recording.read_log import OpenAccessLog
from gateway.recording.read_log import Reader as Reader
from gateway.recording.read_log import ReadLog as ReadLog
from gateway.recording.read_log import ShownChunks as ShownChunks
from gateway.recording.usage_meter import OpenUsageMeter
from gateway.search import embedders as embedders
from gateway.search.answer_bytes import ANSWER_BYTES_MAX as ANSWER_BYTES_MAX
from gateway.search.embedders import CountTokens as CountTokens
from gateway.search.embedders import EmbedderKind as EmbedderKind
from gateway.search.pipeline import AnsweredSearch as AnsweredSearch
from gateway.search.pipeline import get_or_compute as get_or_compute
from gateway.search.pipeline import is_recallable as is_recallable
from gateway.search.pipeline import record_served as record_served
from gateway.search.pipeline import record_shown as record_shown
from gateway.search.pipeline import search_as_caller as search_as_caller
from gateway.search.pipeline import serve as serve
from gateway.search.reranker_kinds import PASSAGE_CHARACTERS_MAX as PASSAGE_CHARACTERS_MAX
from gateway.search.reranker_kinds import Chat as Chat
from gateway.search.reranker_kinds import Order as Order
from gateway.search.reranker_kinds import Reranker as Reranker
from gateway.search.reranker_kinds import RerankerKind as RerankerKind
from gateway.search.reranker_kinds import RerankerSettings as RerankerSettings
from gateway.search.reranker_kinds import RerankerUnavailable as RerankerUnavailable
from gateway.search.response_body import AnswerBuilder as AnswerBuilder
from gateway.search.response_headers import Header as Header
from gateway.search.response_headers import cache_status as cache_status
from gateway.search.response_headers import degraded_header as degraded_header
from gateway.search.response_headers import response_headers as response_headers
from gateway.search.schemas.boost_schemas import BoostBody as BoostBody
from gateway.search.schemas.facet_schemas import FacetNames as FacetNames
from gateway.search.schemas.filter_schemas import FilterBody as FilterBody
from gateway.search.schemas.search_answer_schemas import CitationAnswer as CitationAnswer
from gateway.search.schemas.search_answer_schemas import HitAnswer as HitAnswer
from gateway.search.schemas.search_answer_schemas import SearchAnswer as SearchAnswer
from gateway.search.schemas.search_schemas import MessageBody as MessageBody
from gateway.search.schemas.search_schemas import Question as Question
from gateway.search.schemas.search_schemas import SearchBody as SearchBody
from gateway.search.search_endpoint import build_response as build_response
from gateway.search.search_request import SearchRequest as SearchRequest
from gateway.search.search_request import freshness_of as freshness_of
from gateway.search.search_request import require_within_limits as require_within_limits
from gateway.search.search_services import SearchServices as SearchServices
from gateway.search.search_steps import InterpretedQuery as InterpretedQuery
from gateway.search.search_steps import OpenSearchSteps
from gateway.search.search_steps import PostprocessedHits as PostprocessedHits
from gateway.search.search_steps import StepParts as StepParts
from gateway.services import Services as Services
from gateway.services import model_caches as model_caches
from gateway.settings import setting_sources as setting_sources
from gateway.settings.found_extensions import names_on as names_on
from gateway.settings.found_extensions import rows as rows
from gateway.settings.groups.jobs import NEVER as NEVER
from gateway.settings.groups.limits import BATCH_DOCUMENTS_MAX as BATCH_DOCUMENTS_MAX
from gateway.settings.groups.limits import BATCH_SEARCHES_MAX as BATCH_SEARCHES_MAX
from gateway.settings.groups.limits import QUERY_CHARACTERS_MAX as QUERY_CHARACTERS_MAX
from gateway.settings.groups.limits import SEARCH_BYTES_MAX as SEARCH_BYTES_MAX
from gateway.settings.groups.limits import TOP_K_MAX as TOP_K_MAX
from gateway.settings.groups.lists import listed as listed
from gateway.settings.groups.models import ChatOperation as ChatOperation
from gateway.settings.groups.models import PromptOperation as PromptOperation
from gateway.settings.settings import Settings as Settings
from gateway.stores import Stores as Stores
from gateway.stores import default_quotas as default_quotas
from gateway.worker.index_problem import IndexProblem as IndexProblem
from gateway.worker.job_kind import JobKind as JobKind
from gateway.worker.repetition import repeat as repeat
from gateway.worker.worker_services import WorkerServices as WorkerServices

OwnServices = TypeVar("OwnServices")
MakeRoutes: TypeAlias = Callable[[Sequence[object]], Sequence[ApiRoute[OwnServices]]]


@dataclass(frozen=True, slots=True)
class Dialect:
    """The form of problems that clients of another protocol read, for paths that no route has.

    concerns: whether a client of that protocol has sent the request.
    """

    concerns: Callable[[Request], bool]
    render: Callable[[Request, Exception], Awaitable[Response]]


class NoSettings(BaseModel):
    """Of an extension that has none."""


@asynccontextmanager
async def _open_nothing(_services: Services, _settings: BaseModel) -> AsyncIterator[Any]:
    """Of an extension whose commands or contributions do the work."""
    yield None


def _check_nothing(_settings: Settings) -> None:
    """Of an extension that the settings of the core can't keep from working."""


@dataclass(frozen=True, slots=True)
class Extension(Generic[OwnServices]):
    """An extension, which the name of its folder or entry point names.

    summary: what it does, in one line for people.
    routes: its calls, or what makes them with the contributions of all extensions that are on.
    open:    makes what the handlers of its routes get as `context.services`; it is entered with its
        settings when a worker starts, and left when it ends.
    settings: a model whose fields are settings, prefixed with the extension's name.
    work: runs beside the jobs until the event is set, wherever these run; `open` is entered there.
    jobs: by name, kinds of jobs that it runs; two extensions may run one kind in one way.
    audit: yields what is wrong with a tenant, and repairs it if the argument says so.
    check: raises `CommandError` if it can't work with the settings of the core.
    metrics: makes the metrics that `open` makes too, for the reference.
    mcp_methods, mcp_tools: by name, what it answers of the Model Context Protocol.
    root: by name, the type and the `Field` of what `GET /` tells of it.
    home: the page that it leads browsers to.
    contributes: what other extensions take of it, each by its type.
    embedders, rerankers: what makes them, by the form of their names, such as `onnx:FOLDER`.
    search_steps: serves the fields of searches that its module `search_fields` names; of the
        extensions that are on, one may bring it.
    preprocessor: makes what chunks and summarises documents with a language model before they are
        planned; of one extension as well.
    tracing: makes spans of requests and jobs, if a collector is named; of one extension as well.
    web_tokens: verifies those of another issuer, if its keys are named; of one extension as well.
    access_log: records reads and refused requests; of one extension as well.
    usage_meter: counts what model services are used for, and checks budgets; of one as well.
    question_tier: answers searches with `semantic: bounded` with what other questions were
        answered; of one extension as well.
    region: what a process of a region writes and answers by; of one extension as well.
    preferences: by name, what a search may ask for by `Prefer`; `open` adds what makes the header
        to `services.search.preferred_headers`.
    """

    summary: str
    routes: Sequence[ApiRoute[OwnServices]] | MakeRoutes[OwnServices] = ()
    open: Callable[[Services, Any], AbstractAsyncContextManager[OwnServices]] = _open_nothing
    settings: type[BaseModel] = NoSettings
    work: Callable[[OwnServices, asyncio.Event], Coroutine[None, None, None]] | None = None
    jobs: Mapping[str, JobKind[OwnServices]] = field(default_factory=dict)
    audit: Callable[[OwnServices, str, bool], AsyncIterator[IndexProblem]] | None = None
    check: Callable[[Settings], object] = _check_nothing
    metrics: Callable[[Metrics], object] | None = None
    dialect: Dialect | None = None
    mcp_methods: Mapping[str, McpMethod[OwnServices]] = field(default_factory=dict)
    mcp_tools: Mapping[str, McpTool[OwnServices]] = field(default_factory=dict)
    root: Mapping[str, Any] = field(default_factory=dict)
    home: str = ""
    contributes: Sequence[object] = ()
    embedders: Mapping[str, EmbedderKind] = field(default_factory=dict)
    rerankers: Mapping[str, RerankerKind] = field(default_factory=dict)
    search_steps: OpenSearchSteps | None = None
    preprocessor: MakePreprocessor | None = None
    tracing: CheckTracing | None = None
    web_tokens: WebTokens | None = None
    access_log: OpenAccessLog | None = None
    usage_meter: OpenUsageMeter | None = None
    question_tier: QuestionTierKind | None = None
    region: OpenRegion | None = None
    preferences: Mapping[str, Preference] = field(default_factory=dict)

    @property
    def is_at_work(self) -> bool:
        """Whether it is opened where jobs run."""
        return bool(self.work or self.jobs or self.audit)

    def routes_with(self, contributions: Sequence[object]) -> Sequence[ApiRoute[OwnServices]]:
        """Raises `CommandError` if the contributions are at odds."""
        return self.routes(contributions) if callable(self.routes) else self.routes
