"""The way of `POST /v1/answer`: understand, search, and write what is told, whole or bit by bit."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import orjson
from starlette.requests import ClientDisconnect
from starlette.responses import Response

from gateway import problems
from gateway.answer.answer_schemas import AnswerBody
from gateway.answer.event_stream import EventStream, Tell, while_read
from gateway.http.request_context import RequestContext
from gateway.rag import conversation
from gateway.rag.answer_generator import AnswerGenerator
from gateway.rag.citations import Citations
from gateway.rag.passage import Passage, passages_of_answer
from gateway.search.search_endpoint import response_headers
from index.errors import BudgetSpent
from index.tenants.principals import Principal
from ingest.errors import ChatTooLate, ChatUnavailable


@dataclass(frozen=True, slots=True)
class _RetrievedHits:
    """What there is to write from. fallback: what is said instead, if it is not enough."""

    tenant: str
    query: str
    hits: Sequence[Mapping[str, Any]]
    headers: Mapping[str, str]
    gate: str | None = None
    fallback: str | None = None

    def shown(self) -> dict[str, Any]:
        return {
            "hits": self.hits,
            "query": self.query,
            "low_confidence": self.fallback is not None,
            **({"gate": self.gate} if self.gate else {}),
        }


async def write_response(
    context: RequestContext, principal: Principal, asked: AnswerBody
) -> Response:
    """The search has the server's deadline, the model its own."""
    with context.services.deadlines.timeout(context.services.settings.deadline_s):
        found = await _found(context, principal, asked)
        answerer = (await context.services.rag_tools.tools()).answerer
    assert answerer is not None, "a model is set"
    writing = _AnswerRun(context, answerer, asked, found)
    if asked.stream:
        return EventStream(writing.stream_events, found.headers)
    return await writing.whole()


async def _found(
    context: RequestContext, principal: Principal, asked: AnswerBody
) -> _RetrievedHits:
    understood = await conversation.interpret(context, principal, asked)
    if understood.body is None:
        headers = _headers(understood.headers)
        return _RetrievedHits(principal.tenant, asked.query, (), headers, gate="closed")
    wanted, served = await conversation.search_interpreted(context, understood.body)
    body = orjson.loads(served.body)
    fallback = None
    if not body["hits"] or body.get("low_confidence"):
        fallback = await _fallback(context, wanted.scope.tenant)
    return _RetrievedHits(
        wanted.scope.tenant,
        wanted.query.text,
        body["hits"],
        _headers([*response_headers(context, wanted, served), *understood.headers]),
        fallback=fallback,
    )


async def _fallback(context: RequestContext, tenant: str) -> str:
    own = (await context.services.confidences.read(tenant)).fallback
    return own or context.services.settings.answer_fallback


def _headers(headers: Sequence[tuple[bytes, bytes]]) -> dict[str, str]:
    return {name.decode(): value.decode() for name, value in headers}


class _AnswerRun:
    """One answer, as it is written."""

    def __init__(
        self,
        context: RequestContext,
        answerer: AnswerGenerator,
        asked: AnswerBody,
        found: _RetrievedHits,
    ) -> None:
        self._context = context
        self._answerer = answerer
        self._asked = asked
        self._found = found
        self._passages: list[Passage] = answerer.select_passages(
            [passages_of_answer(hit) for hit in found.hits]
        )
        self._citations = Citations(self._passages)

    async def whole(self) -> Response:
        """A `Problem` if the model does not write it to its end."""
        finish = ""

        async def write() -> None:
            nonlocal finish
            finish = await self._write(self._nobody)

        if not await while_read(self._context.request.receive, write()):
            raise ClientDisconnect
        body = {
            "answer": self._citations.text,
            "citations": self._citations.found,
            "finish": finish,
            **self._found.shown(),
        }
        return Response(
            orjson.dumps(body), media_type="application/json", headers=self._found.headers
        )

    async def stream_events(self, tell: Tell) -> None:
        """Events, the last of which is `done` or `error`."""
        await tell("retrieved", self._found.shown())
        try:
            finish = await self._write(tell)
        except Exception as error:
            problem = problems.from_exception(error, self._context.trace.request_id)
            await tell("error", problem.body())
            return
        await tell("done", {"finish": finish, "citations": self._citations.found})

    async def _write(self, tell: Tell) -> str:
        """Why it ends."""

        async def more(text: str) -> None:
            citations = list(self._citations.more(text))
            await tell("delta", {"text": text})
            for citation in citations:
                await tell("citation", citation)

        found = self._found
        if found.gate is not None:
            return "gate"
        if found.fallback is not None:
            self._context.services.metrics.assist("answer", "fallback")
            await tell("delta", {"text": found.fallback})
            self._citations.text = found.fallback
            return "fallback"
        return await self._asked_of_model(more)

    async def _asked_of_model(self, more: Callable[[str], Awaitable[None]]) -> str:
        history = conversation.history_of(self._asked)
        assist = self._context.services.metrics.assist
        try:
            finish = await self._answerer.write(
                self._found.tenant, self._found.query, history, self._passages, more
            )
        except BudgetSpent:
            assist("answer", "budget")
            raise problems.budget_spent() from None
        except ChatTooLate:
            assist("answer", "deadline")
            raise problems.model_away("The language model takes too long.", 504) from None
        except ChatUnavailable:
            assist("answer", "error")
            raise problems.model_away("The language model does not answer.", 503) from None
        assist("answer", "model")
        return finish

    async def _nobody(self, _event: str, _data: Mapping[str, Any]) -> None:
        """Nobody is told bit by bit."""
