"""Hits put in order by a service or a language model; who fails is not waited for."""

import asyncio
import math
import re
from collections.abc import Sequence
from typing import Protocol, TypeAlias

import httpx2
from pydantic import BaseModel, Field, ValidationError

from gateway.circuit_breaker import CircuitBreaker
from gateway.rag import prompt_quoting
from gateway.rag.metered_chat import BudgetedChat
from gateway.rag.passage import Passage
from index.errors import BudgetSpent
from ingest.errors import ChatTooLate, ChatUnavailable

PASSAGE_CHARACTERS_MAX = 4_000  # of each that others are shown; a starting value, not measured
_REPLY_BYTES_MAX = 1_048_576
_ANSWER_TOKENS, _ANSWER_TOKENS_PASSAGE = 60, 6
_JSON = re.compile(r"\{.*\}", re.DOTALL)  # models like to put a fence or a word around it

# Places of passages in the order that they are put in, each with its score, if there is one.
Order: TypeAlias = list[tuple[int, float | None]]


class RerankerUnavailable(Exception):
    """It has put nothing in order. reason: deadline, error, garbage or budget."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class Reranker(Protocol):
    async def order(self, tenant: str, query: str, passages: Sequence[Passage], /) -> Order:
        """All of the passages, best first. Raises `RankerUnavailable`."""


class ServiceReranker:
    """A service of the shape that Cohere's `POST /rerank` has, and others' too."""

    def __init__(
        self,
        client: httpx2.AsyncClient,
        breaker: CircuitBreaker,
        *,
        url: str,
        model: str | None,
        deadline_s: float,
    ) -> None:
        self._client = client
        self._breaker = breaker
        self._url = url
        self._model = model
        self._deadline_s = deadline_s

    async def order(self, _tenant: str, query: str, passages: Sequence[Passage]) -> Order:
        admitted = self._breaker.admit()
        if admitted is None:
            raise RerankerUnavailable("error")
        try:
            order = _ordered(await self._ask(query, passages), len(passages))
        except RerankerUnavailable:
            self._breaker.failed(admitted)
            raise
        except BaseException:  # cancelled: nobody waits any more
            self._breaker.abandoned(admitted)
            raise
        self._breaker.succeeded(admitted)
        return order

    async def _ask(self, query: str, passages: Sequence[Passage]) -> bytes:
        body = {
            "query": query,
            "documents": [_shown(passage) for passage in passages],
            "top_n": len(passages),
            **({"model": self._model} if self._model else {}),
        }
        read = bytearray()
        try:
            async with (
                asyncio.timeout(self._deadline_s),
                self._client.stream("POST", self._url, json=body) as reply,
            ):
                reply.raise_for_status()
                async for piece in reply.aiter_bytes():
                    read += piece
                    if len(read) > _REPLY_BYTES_MAX:
                        raise RerankerUnavailable("garbage")
        except (TimeoutError, httpx2.TimeoutException):
            raise RerankerUnavailable("deadline") from None
        except (httpx2.HTTPError, httpx2.InvalidURL):
            raise RerankerUnavailable("error") from None  # its own words may hold the key
        return bytes(read)


class LlmReranker:
    def __init__(self, chat: BudgetedChat, *, instruction: str) -> None:
        self._chat = chat
        self._instruction = instruction

    async def order(self, tenant: str, query: str, passages: Sequence[Passage]) -> Order:
        mark = prompt_quoting.make_mark()
        told = [prompt_quoting.quote("QUESTION", query, mark)]
        for number, passage in enumerate(passages, start=1):
            told.append(prompt_quoting.quote("RESULT", _shown(passage), mark, number=number))
        tokens_max = _ANSWER_TOKENS + _ANSWER_TOKENS_PASSAGE * len(passages)
        try:
            said = await self._chat.answer(
                tenant,
                self._instruction.replace(prompt_quoting.MARK, mark),
                "\n\n".join(told),
                tokens_max=tokens_max,
            )
        except BudgetSpent:
            raise RerankerUnavailable("budget") from None
        except ChatTooLate:
            raise RerankerUnavailable("deadline") from None
        except ChatUnavailable:
            raise RerankerUnavailable("error") from None
        return _said(said, len(passages))


class _Result(BaseModel):
    index: int
    relevance_score: float


class _Results(BaseModel):
    results: list[_Result] = Field(min_length=1)


class _Said(BaseModel):
    order: list[int] = Field(min_length=1)


def _ordered(reply: bytes, count: int) -> Order:
    try:
        results = _Results.model_validate_json(reply).results
    except ValidationError:
        raise RerankerUnavailable("garbage") from None
    if not all(math.isfinite(each.relevance_score) for each in results):
        raise RerankerUnavailable("garbage")
    ranked = sorted(results, key=lambda each: (-each.relevance_score, each.index))
    return _complete([(each.index, each.relevance_score) for each in ranked], count)


def _said(answer: str, count: int) -> Order:
    match = _JSON.search(answer)
    try:
        numbers = _Said.model_validate_json(match[0] if match else "").order
    except ValidationError:
        raise RerankerUnavailable("garbage") from None
    return _complete([(number - 1, None) for number in numbers], count)


def _complete(order: Order, count: int) -> Order:
    """With those at the end that it leaves out, as they were found."""
    places = [place for place, _ in order]
    if len(set(places)) < len(places) or not all(0 <= place < count for place in places):
        raise RerankerUnavailable("garbage")
    return [*order, *((place, None) for place in range(count) if place not in set(places))]


def _shown(passage: Passage) -> str:
    return f"{passage.heading}\n\n{passage.text}"[:PASSAGE_CHARACTERS_MAX]
