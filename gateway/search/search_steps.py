"""What an extension does around a search whose body asks for it: before it, and with its hits."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeAlias

from cache.embedding_cache import EmbeddingCache
from common.shares.threads import FairThreads
from gateway.http.request.request_context import RequestContext
from gateway.monitoring.metrics import Metrics
from gateway.search.reranker_kinds import ConfiguredReranker
from gateway.search.response_headers import Header
from gateway.search.schemas.search_schemas import SearchBody
from gateway.settings.settings import Settings
from gateway.stores import Stores
from index.model.query import PostprocessorNames, Query
from index.model.scope import Scope
from index.search.hits import Hit


@dataclass(frozen=True, slots=True)
class InterpretedQuery:
    """The search that a message asks for; None if it is no question for the documents.

    headers: of the response, on how the message was understood.
    """

    body: SearchBody | None
    headers: Sequence[Header] = ()


@dataclass(frozen=True, slots=True)
class PostprocessedHits:
    """The hits of the answer, best first, each with its rerank score, if there is one.

    failures: the reason of each failed step, by step: `rerank` or `compress`.
    """

    hits: Sequence[tuple[Hit, float | None]]
    context: dict[str, Any] | None
    failures: Mapping[str, str] = field(default_factory=dict)


class SearchSteps(Protocol):
    """The steps of one worker process."""

    @property
    def names(self) -> PostprocessorNames:
        """What answers' cache keys name; the same at all times."""

    async def load(self) -> object:
        """Load what the steps use, before any search needs it."""

    async def interpret(
        self, context: RequestContext[object], body: SearchBody
    ) -> InterpretedQuery:
        """The search that a body with `history` or `gate` asks for; a 422 `Problem`."""

    async def rewrite(self, scope: Scope, query: str, /) -> str:
        """The question as a language model would put it to a search, or as it is."""

    async def postprocess(
        self, hits: Sequence[Hit], query: Query, tenant: str, /
    ) -> PostprocessedHits:
        """The hits of the answer for a caller of this tenant. Raises `Saturated`."""

    def postprocess_as_shown(
        self, hits: Sequence[Hit], query: Query, tenant: str, body: bytes, /
    ) -> PostprocessedHits:
        """The same without a service or a model: in the order that the answer's body shows."""


@dataclass(frozen=True, slots=True)
class StepParts:
    """What steps are made of.

    reranker: None for the heuristic. rewrites: of questions, by all that they were written from.
    check_budget: raises `BudgetSpent` if the billed tenant's budget is spent.
    threads: for what reads all texts of the hits.
    """

    settings: Settings
    reranker: ConfiguredReranker | None
    metrics: Metrics
    stores: Stores
    rewrites: EmbeddingCache
    check_budget: Callable[[], Awaitable[None]]
    threads: FairThreads


OpenSearchSteps: TypeAlias = Callable[[StepParts], AbstractAsyncContextManager[SearchSteps]]
