"""The steps around a search: what each needs is built at its first use.

A gateway that needs none of them does not load them.
"""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from gateway.extension import (
    InterpretedQuery,
    PostprocessedHits,
    RequestContext,
    SearchBody,
    StepParts,
    freshness_of,
    full_scope,
    problems,
)
from gateway.extensions._chat.prompt_quoting import history_of
from gateway.extensions._gates import query_gate
from gateway.extensions._gates.gate_vocabulary import gate_vocabulary
from gateway.extensions._gates.query_gate_store import QueryGateStore
from gateway.extensions.rag.postprocessor_names import postprocessor_names
from index.model.query import PostprocessorNames, Query
from index.model.scope import Scope
from index.search.hits import Hit

if TYPE_CHECKING:
    from gateway.extensions.rag.factory import RagTools


class LazySearchSteps:
    def __init__(self, parts: StepParts) -> None:
        self.names: PostprocessorNames = postprocessor_names(parts)
        self._parts = parts
        self._gates = QueryGateStore(parts.stores.database)
        self._building = asyncio.Lock()
        self._tools: RagTools | None = None

    async def load(self) -> "RagTools":
        """Raises `CommandError` if a prompt can't be read; `open_steps` checks that."""
        if self._tools is None:
            async with self._building:
                if self._tools is None:
                    self._tools = await asyncio.to_thread(self._build)
        return self._tools

    async def interpret(
        self, context: RequestContext[object], body: SearchBody
    ) -> InterpretedQuery:
        """A 422 `Problem` if the gate is unknown."""
        admitted = await context.authenticate(freshness=freshness_of(body, context.min_revision))
        headers = []
        if body.gate is not None:
            words = await gate_vocabulary(self._gates, admitted.principal.tenant, body.gate)
            if words is None:
                raise problems.invalid_field("gate", "There is no such gate.")
            decision = query_gate.classify(body.query, words)
            self._parts.metrics.rag_step("gate", decision.header.replace("; ", " "))
            headers.append((b"nearhit-gate", decision.header.encode()))
            if not decision.is_open:
                return InterpretedQuery(None, headers)
        if "history" not in body.model_fields_set:
            return InterpretedQuery(body, headers)
        rewriter = (await self.load()).rewriter
        rewritten = await rewriter.rewrite(full_scope(admitted), history_of(body), body.query)
        headers.append((b"nearhit-rewrite", rewritten.header.encode()))
        return InterpretedQuery(body.model_copy(update={"query": rewritten.query}), headers)

    async def rewrite(self, scope: Scope, query: str) -> str:
        rewriter = (await self.load()).rewriter
        return (await rewriter.rewrite(scope, (), query, without_history=True)).query

    async def postprocess(
        self, hits: Sequence[Hit], query: Query, tenant: str
    ) -> PostprocessedHits:
        return await (await self.load()).postprocessor.postprocess(hits, query, tenant)

    def postprocess_as_shown(
        self, hits: Sequence[Hit], query: Query, tenant: str, body: bytes
    ) -> PostprocessedHits:
        from gateway.extensions.rag import postprocessing

        return postprocessing.postprocess_as_shown(hits, query, tenant, body)

    async def close(self) -> None:
        if self._tools is not None:
            await self._tools.close()

    def _build(self) -> "RagTools":
        from gateway.extensions.rag import factory

        return factory.build(self._parts)


@asynccontextmanager
async def open_steps(parts: StepParts) -> AsyncIterator[LazySearchSteps]:
    """Raises `CommandError` if a configured prompt is invalid."""
    steps = LazySearchSteps(parts)
    if "rewrite" in parts.settings.chat_prompts:
        await steps.load()
    try:
        yield steps
    finally:
        await steps.close()
