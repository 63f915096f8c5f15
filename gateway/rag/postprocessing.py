"""What is made of the hits that were found: put in order, cut, and joined into one text.

What services and models say of them is asked for here, and is a value from then on.
"""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import orjson
import structlog

from gateway.rag import context, heuristic_reranker, prompt_quoting
from gateway.rag.metered_chat import BudgetedChat
from gateway.rag.passage import passage_of_hit
from gateway.rag.rerankers import Order, Reranker, RerankerUnavailable
from index.errors import BudgetSpent
from index.model.query import Postprocessing, Query
from index.search.hits import Hit
from ingest.errors import ChatTooLate, ChatUnavailable

HEURISTIC, EXTRACT = "heuristic", "extract"
_COMPRESSED_MAX = 8  # hits that a model shortens for one answer; a starting value, not measured
_COMPRESSED_TOKENS = 300

log = structlog.get_logger()


class Observe(Protocol):
    def __call__(self, assist: str, by: str, /) -> None: ...


@dataclass(frozen=True, slots=True)
class LlmOutput:
    """What others said of the hits.

    order: of the hits as they were found; None if nobody was asked, or nobody answered.
    shortened: by chunk, the text that is to stand for the hit's.
    lacks: by what was wanted and is not there, why.
    """

    order: Order | None = None
    shortened: Mapping[int, str] = field(default_factory=dict)
    lacks: Mapping[str, str] = field(default_factory=dict)


NOTHING = LlmOutput()


@dataclass(frozen=True, slots=True)
class PostprocessedHits:
    """The hits that are shown, each with the score that put it in its place, if there is one."""

    hits: Sequence[tuple[Hit, float | None]]
    context: dict[str, Any] | None


def postprocess(hits: Sequence[Hit], query: Query, said: LlmOutput = NOTHING) -> PostprocessedHits:
    """Pure: what a service or a model did not do, the heuristic does or nothing changes."""
    finish = query.postprocessing
    assert finish is not None, "else the hits are the answer"
    shown = _ordered(hits, query, finish, said)[: finish.top_k]
    if finish.token_budget is None:
        return PostprocessedHits(shown, None)
    return PostprocessedHits(shown, _context([hit for hit, _ in shown], query, finish, said))


def parse_postprocessing(body: bytes, hits: Sequence[Hit]) -> LlmOutput:
    """What must have been said for the hits to become this answer, as far as that is possible.

    What an answer does not show comes last.
    """
    places = {hit.chunk_id: place for place, hit in enumerate(hits)}
    shown = [
        (places.pop(hit["chunk_id"]), hit["rerank_score"])
        for hit in orjson.loads(body)["hits"]
        if hit["chunk_id"] in places
    ]
    return LlmOutput(order=[*shown, *((place, None) for place in places.values())])


def _ordered(
    hits: Sequence[Hit], query: Query, finish: Postprocessing, said: LlmOutput
) -> list[tuple[Hit, float | None]]:
    if finish.ranker == HEURISTIC:
        scored = zip(hits, heuristic_reranker.scores(query, hits), strict=True)
        return [*sorted(scored, key=lambda one: -one[1])]  # ties stay as they were found
    if said.order is None:
        return [(hit, None) for hit in hits]
    return [(hits[place], score) for place, score in said.order]


def _context(
    hits: Sequence[Hit], query: Query, finish: Postprocessing, said: LlmOutput
) -> dict[str, Any]:
    assert finish.token_budget is not None
    passages = [passage_of_hit(hit) for hit in hits]
    if finish.compressor is not None and not context.fits(passages, finish.token_budget):
        if said.shortened:
            passages = [
                passage.with_text(said.shortened.get(passage.chunk_id)) for passage in passages
            ]
        else:
            passages = context.extracted(passages, query.text, finish.token_budget)
    made = context.markdown(passages, finish.token_budget)
    return {
        "text": made.text,
        "tokens": made.tokens,
        "citations": [
            {
                "mark": made.text[one.start : one.end],
                "start": one.start,
                "end": one.end,
                "chunk_id": hits[one.passage].chunk_id,
                "document_id": hits[one.passage].document_id,
            }
            for one in made.citations
        ],
    }


class Postprocessor:
    """ranker, chat: None without a service or a model for it. observe: told who did what."""

    def __init__(
        self,
        ranker: Reranker | None,
        chat: BudgetedChat | None,
        observe: Observe,
        *,
        instruction: str,
    ) -> None:
        self._ranker = ranker
        self._chat = chat
        self._observe = observe
        self._instruction = instruction

    async def consult(self, tenant: str, hits: Sequence[Hit], query: Query) -> LlmOutput:
        """What services and models say, at the tenant's expense."""
        finish = query.postprocessing
        assert finish is not None, "else there is nothing to ask"
        order, lacks = await self._order(tenant, hits, query, finish)
        shown = _ordered(hits, query, finish, LlmOutput(order))[: finish.top_k]
        shortened: Mapping[int, str] = {}
        if finish.compressor not in (None, EXTRACT) and finish.token_budget is not None:
            chosen = [hit for hit, _ in shown]
            if not context.fits([passage_of_hit(hit) for hit in chosen], finish.token_budget):
                shortened, reason = await self._shortened(tenant, chosen, query)
                lacks |= {"compress": reason} if reason else {}
                self._observe("compress", f"extract {reason}" if reason else "model")
        return LlmOutput(order, shortened, lacks)

    async def _order(
        self, tenant: str, hits: Sequence[Hit], query: Query, finish: Postprocessing
    ) -> tuple[Order | None, dict[str, str]]:
        if finish.ranker is None:
            return None, {}
        kind = finish.ranker.partition(":")[0]
        if finish.ranker == HEURISTIC or self._ranker is None or len(hits) < 2:
            self._observe("rerank", kind)
            return None, {}
        try:
            order = await self._ranker.order(
                tenant, query.text, [passage_of_hit(hit) for hit in hits]
            )
        except RerankerUnavailable as away:
            self._observe("rerank", f"failed {away.reason}")
            log.warning("rerank", tenant=tenant, by=kind, state="failed", detail=away.reason)
            return None, {"rerank": away.reason}
        self._observe("rerank", kind)
        return order, {}

    async def _shortened(
        self, tenant: str, hits: Sequence[Hit], query: Query
    ) -> tuple[Mapping[int, str], str]:
        """By chunk; or nothing at all, and why."""
        assert self._chat is not None, "a model is named only where there is one"
        mark = prompt_quoting.make_mark()
        instruction = self._instruction.replace(prompt_quoting.MARK, mark)
        question = prompt_quoting.quote("QUESTION", query.text, mark)
        told = [
            f"{question}\n\n{prompt_quoting.quote('TEXT', hit.text, mark)}"
            for hit in hits[:_COMPRESSED_MAX]
        ]
        asking = [
            asyncio.ensure_future(
                self._chat.answer(tenant, instruction, each, tokens_max=_COMPRESSED_TOKENS)
            )
            for each in told
        ]
        try:
            said = await asyncio.gather(*asking)
        except BudgetSpent:
            return {}, "budget"
        except ChatTooLate:
            return {}, "deadline"
        except ChatUnavailable:
            return {}, "error"
        finally:
            for each in asking:  # one that fails is enough
                each.cancel()
        return {hit.chunk_id: text for hit, text in zip(hits, said, strict=False)}, ""
