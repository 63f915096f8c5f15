"""Turns hits into the answer's hits and context: reranks, selects, compresses and joins them.

`Postprocessor` calls services and models; `postprocess` is pure and uses what they returned.
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import structlog

from common.shares.threads import FairThreads
from gateway.extension import (
    Order,
    PostprocessedHits,
    Reranker,
    RerankerUnavailable,
    decode_answer,
)
from gateway.extensions._chat import prompt_quoting
from gateway.extensions._chat.budgeted_chat import BudgetedChat
from gateway.extensions._chat.errors import ChatTooLate, ChatUnavailable
from gateway.extensions._passages.passage import Passage, passage_from_hit
from gateway.extensions.rag import context, heuristic_reranker
from gateway.extensions.rag.postprocessor_names import (
    EXTRACT,
    HEURISTIC,
    HEURISTIC_RANKER,
    WORDS,
)
from gateway.extensions.rag.word_reranker import WordReranker
from index.errors import BudgetSpent
from index.model.query import Postprocessing, Query
from index.search.hits import Hit

_COMPRESSED_MAX = 8  # hits that a model compresses for one answer; a starting value, not measured
_COMPRESSED_TOKENS = 300

log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class LlmOutput:
    """What services and models returned for the hits.

    order: of the hits; None if no reranker was called, or it failed.
    compressed_texts: texts that replace those of hits in the context, by chunk id.
    failures: the reason of each failed step, by step: `rerank` or `compress`.
    """

    order: Order | None = None
    compressed_texts: Mapping[int, str] = field(default_factory=dict)
    failures: Mapping[str, str] = field(default_factory=dict)


NO_OUTPUT = LlmOutput()


def postprocess(
    hits: Sequence[Hit], query: Query, tenant: str, llm_output: LlmOutput = NO_OUTPUT
) -> PostprocessedHits:
    """The hits of the answer and their context, for a caller of this tenant. Pure.

    Without an order the hits keep theirs; without compressed texts sentences are extracted.
    """
    postprocessing = query.postprocessing
    assert postprocessing is not None, "otherwise the hits are the answer"
    ranked = _rank(hits, query, postprocessing, llm_output)[: postprocessing.top_k]
    built = None
    if postprocessing.token_budget is not None:
        passages = [passage_from_hit(hit, tenant) for hit, _ in ranked]
        built = _context(passages, query, postprocessing, llm_output)
    return PostprocessedHits(ranked, built, llm_output.failures)


def postprocess_as_shown(
    hits: Sequence[Hit], query: Query, tenant: str, body: bytes
) -> PostprocessedHits:
    """The same, in the order that the body shows, unless this process finds it again. Pure."""
    assert query.postprocessing is not None, "otherwise the hits are the answer"
    if query.postprocessing.ranker in (None, HEURISTIC_RANKER):
        return postprocess(hits, query, tenant)
    return postprocess(hits, query, tenant, parse_postprocessing(body, hits))


def parse_postprocessing(body: bytes, hits: Sequence[Hit]) -> LlmOutput:
    """The order that makes this answer's body of the hits, as far as the body shows it.

    Hits that the body does not contain come last.
    """
    indexes = {hit.chunk_id: index for index, hit in enumerate(hits)}
    order = [
        (indexes.pop(hit["chunk_id"]), hit["rerank_score"])
        for hit in decode_answer(body)["hits"]
        if hit["chunk_id"] in indexes
    ]
    return LlmOutput(order=[*order, *((index, None) for index in indexes.values())])


def _hits_to_compress(
    hits: Sequence[Hit], query: Query, tenant: str, llm_output: LlmOutput
) -> list[Hit]:
    """The hits that a model shortens: those of the answer, if their texts exceed the budget."""
    postprocessing = query.postprocessing
    assert postprocessing is not None, "otherwise there is nothing to compress"
    ranked = _rank(hits, query, postprocessing, llm_output)[: postprocessing.top_k]
    selected, budget = [hit for hit, _ in ranked], postprocessing.token_budget
    passages = [passage_from_hit(hit, tenant) for hit in selected]
    return [] if budget is None or context.fits(passages, budget) else selected


def _rank(
    hits: Sequence[Hit], query: Query, postprocessing: Postprocessing, llm_output: LlmOutput
) -> list[tuple[Hit, float | None]]:
    if postprocessing.ranker == HEURISTIC_RANKER:
        scored = zip(hits, heuristic_reranker.scores(query, hits), strict=True)
        return [*sorted(scored, key=lambda scored_hit: -scored_hit[1])]  # ties keep their order
    if llm_output.order is None:
        return [(hit, None) for hit in hits]
    return [(hits[index], score) for index, score in llm_output.order]


def _context(
    selected: Sequence[Passage],
    query: Query,
    postprocessing: Postprocessing,
    llm_output: LlmOutput,
) -> dict[str, Any]:
    budget, passages = postprocessing.token_budget, [*selected]
    assert budget is not None
    if postprocessing.compressor is not None and not context.fits(passages, budget):
        if texts := llm_output.compressed_texts:
            passages = [passage.with_text(texts.get(passage.chunk_id)) for passage in passages]
        else:
            passages = context.extract_sentences(passages, query.text, budget)
    built = context.build_context(passages, budget)
    shown = {citation.passage for citation in built.citations}
    return {
        "text": built.text,
        "tokens": built.tokens,
        "citations": [
            {
                "mark": built.text[citation.start : citation.end],
                "start": citation.start,
                "end": citation.end,
                **selected[citation.passage].cited_fields,
            }
            for citation in built.citations
        ],
        "truncated": [selected[index].chunk_id for index in built.truncated],
        "omitted": [
            passage.chunk_id for index, passage in enumerate(selected) if index not in shown
        ],
    }


class Postprocessor:
    """Calls the reranker and the model that compresses texts.

    reranker, chat: None if none is configured. observe: counts who did each step. threads: for what
        reads all texts of the hits.
    """

    def __init__(
        self,
        reranker: Reranker | None,
        chat: BudgetedChat | None,
        observe: Callable[[str, str], None],
        threads: FairThreads,
        *,
        instruction: str,
    ) -> None:
        self._reranker = reranker
        self._word_reranker = WordReranker()
        self._chat = chat
        self._observe = observe
        self._threads = threads
        self._instruction = instruction

    async def postprocess(
        self, hits: Sequence[Hit], query: Query, tenant: str
    ) -> PostprocessedHits:
        """The hits of the answer and their context. Raises `Saturated`."""
        llm_output = await self._call_models(tenant, hits, query)
        return await self._threads.run(tenant, postprocess, hits, query, tenant, llm_output)

    async def _call_models(self, tenant: str, hits: Sequence[Hit], query: Query) -> LlmOutput:
        """The output of the services and models that the query needs, billed to the tenant."""
        postprocessing = query.postprocessing
        assert postprocessing is not None, "otherwise there is nothing to call"
        order, failures = await self._order(tenant, hits, query, postprocessing)
        texts: Mapping[int, str] = {}
        if postprocessing.compressor not in (None, EXTRACT):
            selected = await self._threads.run(
                tenant, _hits_to_compress, hits, query, tenant, LlmOutput(order)
            )
            if selected:
                texts, reason = await self._compress(tenant, selected, query)
                failures |= {"compress": reason} if reason else {}
                self._observe("compress", f"extract {reason}" if reason else "model")
        return LlmOutput(order, texts, failures)

    async def _order(
        self, tenant: str, hits: Sequence[Hit], query: Query, postprocessing: Postprocessing
    ) -> tuple[Order | None, dict[str, str]]:
        if postprocessing.ranker is None:
            return None, {}
        kind = postprocessing.ranker.partition(":")[0]
        try:
            order = await self._ordered(kind, tenant, query, hits)
        except RerankerUnavailable as error:
            self._observe("rerank", f"failed {error.reason}")
            log.warning("rerank", tenant=tenant, by=kind, state="failed", detail=error.reason)
            return None, {"rerank": error.reason}
        self._observe("rerank", kind)
        return order, {}

    async def _ordered(
        self, kind: str, tenant: str, query: Query, hits: Sequence[Hit]
    ) -> Order | None:
        """None if `postprocess` finds the order by itself, or there is none to find."""
        if kind == WORDS:
            return await self._word_reranker.order(tenant, query, hits)
        if kind == HEURISTIC or self._reranker is None or len(hits) < 2:
            return None
        return await self._reranker.order(tenant, query.text, hits)

    async def _compress(
        self, tenant: str, hits: Sequence[Hit], query: Query
    ) -> tuple[Mapping[int, str], str]:
        """The compressed texts by chunk id, or none and the reason."""
        assert self._chat is not None, "a query names a model only if one is configured"
        mark = prompt_quoting.make_mark()
        instruction = self._instruction.replace(prompt_quoting.MARK, mark)
        question = prompt_quoting.quote("QUESTION", query.text, mark)
        calls = [
            asyncio.ensure_future(
                self._chat.answer(
                    tenant,
                    instruction,
                    f"{question}\n\n{prompt_quoting.quote('TEXT', hit.text, mark)}",
                    tokens_max=_COMPRESSED_TOKENS,
                )
            )
            for hit in hits[:_COMPRESSED_MAX]
        ]
        try:
            texts = await asyncio.gather(*calls)
        except BudgetSpent:
            return {}, "budget"
        except ChatTooLate:
            return {}, "deadline"
        except ChatUnavailable:
            return {}, "error"
        finally:
            for call in calls:  # after one failure the others are not needed
                call.cancel()
        return {hit.chunk_id: text for hit, text in zip(hits, texts, strict=False)}, ""
