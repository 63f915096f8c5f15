"""Rerankers that call a rerank service or a language model."""

import asyncio
import re
from collections.abc import Sequence
from typing import Protocol, TypeAlias

import httpx2
import structlog
from pydantic import BaseModel, Field, ValidationError

from common.circuit_breaker import CircuitBreaker
from gateway.rag import prompt_quoting
from gateway.rag.metered_chat import BudgetedChat
from gateway.rag.passage import Passage
from gateway.rag.reranking import rerank_protocol
from gateway.rag.reranking.rerank_protocol import Request, RerankReply, UnknownReply
from index.errors import BudgetSpent
from ingest.errors import ChatTooLate, ChatUnavailable

PASSAGE_CHARACTERS_MAX = 4_000  # sent of each passage; a starting value, not measured
_REPLY_BYTES_MAX = 1_048_576
_REFUSALS = (400, 422)  # of a request with a field that the service lacks or does not know
_ANSWER_TOKENS, _ANSWER_TOKENS_PASSAGE = 60, 6
_JSON = re.compile(r"\{.*\}", re.DOTALL)  # models often put a fence or words around it

log = structlog.get_logger()

# Indexes of the passages, best first, each with its new score, if the reranker gives one.
Order: TypeAlias = list[tuple[int, float | None]]


class RerankerUnavailable(Exception):
    """The reranker returned no order. reason: deadline, error, garbage or budget."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class Reranker(Protocol):
    async def order(self, tenant: str, query: str, passages: Sequence[Passage], /) -> Order:
        """All passages, best first. Raises `RerankerUnavailable`."""


class ServiceReranker:
    """Calls a rerank service with any of the known APIs; see `rerank_protocol`."""

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
        self._request_forms = rerank_protocol.REQUEST_FORMS  # the accepted one first
        self._reply_form = ""

    async def order(self, _tenant: str, query: str, passages: Sequence[Passage]) -> Order:
        admitted = self._breaker.admit()
        if admitted is None:
            raise RerankerUnavailable("error")
        try:
            reply = self._parse(await self._request(query, passages), len(passages))
        except RerankerUnavailable:
            self._breaker.failed(admitted)
            raise
        except BaseException:  # cancelled: the caller has gone
            self._breaker.abandoned(admitted)
            raise
        self._breaker.succeeded(admitted)
        ranked = sorted(reply.scores.items(), key=lambda result: (-result[1], result[0]))
        return _complete([*ranked], len(passages))

    def _parse(self, body: bytes, count: int) -> RerankReply:
        """The reply, whose form is logged if it is another than the last one's."""
        try:
            reply = rerank_protocol.parse_reply(body, count)
        except UnknownReply as error:
            log.warning("rerank_reply", state="unknown", detail=str(error))
            raise RerankerUnavailable("garbage") from None
        if reply.form != self._reply_form:
            log.info("rerank_reply", state="understood", detail=reply.form)
            self._reply_form = reply.form
        return reply

    async def _request(self, query: str, passages: Sequence[Passage]) -> bytes:
        """The reply to the first form of the request that the service accepts."""
        texts = [_passage_text(passage) for passage in passages]
        model = {"model": self._model} if self._model else {}
        try:
            async with asyncio.timeout(self._deadline_s):
                for form in self._request_forms:
                    reply = await self._send({**form(query, texts), **model})
                    if reply is not None:
                        others = (other for other in self._request_forms if other is not form)
                        self._request_forms = (form, *others)
                        return reply
        except (TimeoutError, httpx2.TimeoutException):
            raise RerankerUnavailable("deadline") from None
        except (httpx2.HTTPError, httpx2.InvalidURL):
            pass  # its message may contain the key
        raise RerankerUnavailable("error")

    async def _send(self, body: Request) -> bytes | None:
        """The reply; None if the service refuses the form of the request."""
        received = bytearray()
        async with self._client.stream("POST", self._url, json=body) as reply:
            if reply.status_code in _REFUSALS:
                return None
            reply.raise_for_status()
            async for piece in reply.aiter_bytes():
                received += piece
                if len(received) > _REPLY_BYTES_MAX:
                    raise RerankerUnavailable("garbage")
        return bytes(received)


class LlmReranker:
    """Asks a language model for the numbers of the passages, best first."""

    def __init__(self, chat: BudgetedChat, *, instruction: str) -> None:
        self._chat = chat
        self._instruction = instruction

    async def order(self, tenant: str, query: str, passages: Sequence[Passage]) -> Order:
        mark = prompt_quoting.make_mark()
        quotes = [prompt_quoting.quote("QUESTION", query, mark)]
        for number, passage in enumerate(passages, start=1):
            quotes.append(
                prompt_quoting.quote("RESULT", _passage_text(passage), mark, number=number)
            )
        tokens_max = _ANSWER_TOKENS + _ANSWER_TOKENS_PASSAGE * len(passages)
        try:
            output = await self._chat.answer(
                tenant,
                self._instruction.replace(prompt_quoting.MARK, mark),
                "\n\n".join(quotes),
                tokens_max=tokens_max,
            )
        except BudgetSpent:
            raise RerankerUnavailable("budget") from None
        except ChatTooLate:
            raise RerankerUnavailable("deadline") from None
        except ChatUnavailable:
            raise RerankerUnavailable("error") from None
        return _parse_output(output, len(passages))


class _LlmOrder(BaseModel):
    order: list[int] = Field(min_length=1)


def _parse_output(output: str, count: int) -> Order:
    match = _JSON.search(output)
    try:
        numbers = _LlmOrder.model_validate_json(match[0] if match else "").order
    except ValidationError:
        raise RerankerUnavailable("garbage") from None
    return _complete([(number - 1, None) for number in numbers], count)


def _complete(order: Order, count: int) -> Order:
    """The order with the missing passages at its end. Raises `RerankerUnavailable` if invalid."""
    indexes = {index for index, _ in order}
    if len(indexes) < len(order) or not all(0 <= index < count for index in indexes):
        raise RerankerUnavailable("garbage")
    return [*order, *((index, None) for index in range(count) if index not in indexes)]


def _passage_text(passage: Passage) -> str:
    return f"{passage.heading}\n\n{passage.text}"[:PASSAGE_CHARACTERS_MAX]
