"""One run of `POST /v1/answer`: interpret, search, generate; as one body or as a stream.

Each piece of the text, and the hits, are confirmed before they are sent; see `Revalidation`.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeAlias

import orjson
from starlette.requests import ClientDisconnect
from starlette.responses import Response

from common import background_tasks
from gateway.extension import (
    CONFIRMED_S_MAX,
    AnsweredSearch,
    Event,
    EventSender,
    EventStream,
    RequestContext,
    Revalidation,
    decode_in_steps,
    problems,
    response_headers,
    run_while_connected,
    search_as_caller,
)
from gateway.extensions._chat.errors import ChatTooLate, ChatUnavailable
from gateway.extensions._chat.prompt_quoting import history_of
from gateway.extensions._passages.passage import Passage
from gateway.extensions.answers.answer_generator import AnswerGenerator
from gateway.extensions.answers.answer_schemas import AnswerBody
from gateway.extensions.answers.answer_services import AnswerServices
from gateway.extensions.answers.citations import CitationParser
from gateway.extensions.answers.text_cache import GeneratedText, Material, OnText, TextCache
from index.errors import BudgetSpent

_PASSAGE_FIELDS = ("chunk_id", "document_id", "title", "text", "language")  # of a hit too
# If no hit is good enough, and the tenant has no text of its own.
_FALLBACK = "I can't answer that from the documents that you may read."

SendEvent: TypeAlias = Callable[[Event], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class _RetrievedHits:
    """The hits to answer from.

    answered: the search; None if the gate is closed.
    fallback: the answer without a model, if no hit is good enough.
    """

    answered: AnsweredSearch | None
    query: str
    hits: Sequence[Mapping[str, Any]]
    headers: Mapping[str, str]
    gate: str | None = None
    fallback: str | None = None

    def fields(self) -> dict[str, Any]:
        return {
            "hits": self.hits,
            "query": self.query,
            "low_confidence": self.fallback is not None,
            **({"gate": self.gate} if self.gate else {}),
        }


async def write_response(context: RequestContext[AnswerServices], body: AnswerBody) -> Response:
    """Search within the server's deadline, then generate within the model's own."""
    generator, search = context.services.generator, context.services.search
    assert generator is not None, "the endpoint has checked that a model is configured"
    with context.http.deadlines.timeout(search.settings.deadline_s):
        retrieved = await _retrieve(context, body)
    run = _AnswerRun(context, generator, body, retrieved)
    if body.stream:
        return EventStream(run.stream_events, retrieved.headers)
    return await run.respond()


async def _retrieve(context: RequestContext[AnswerServices], body: AnswerBody) -> _RetrievedHits:
    services = context.services.search
    interpreted = await services.interpret(context, body)
    if interpreted.body is None:
        headers = _headers(interpreted.headers)
        return _RetrievedHits(None, body.query, (), headers, gate="closed")
    answered = await search_as_caller(context, services, interpreted.body)
    request, served = answered.request, answered.answer
    answer = await decode_in_steps(served.body)
    fallback = None
    if not answer["hits"] or answer.get("low_confidence"):
        confidence = await services.stores.confidences.read(request.scope.tenant)
        fallback = confidence.fallback or _FALLBACK
    return _RetrievedHits(
        answered,
        request.query.text,
        answer["hits"],
        _headers(
            [
                *response_headers(services.settings, request, served, answered.consistency),
                *interpreted.headers,
            ]
        ),
        fallback=fallback,
    )


def _headers(headers: Sequence[tuple[bytes, bytes]]) -> dict[str, str]:
    return {name.decode(): value.decode() for name, value in headers}


class _AnswerRun:
    """The generation of one answer."""

    def __init__(
        self,
        context: RequestContext[AnswerServices],
        generator: AnswerGenerator,
        body: AnswerBody,
        retrieved: _RetrievedHits,
    ) -> None:
        self._context = context
        self._generator = generator
        self._body = body
        self._retrieved = retrieved
        found = [_passage(hit) for hit in retrieved.hits]
        self._passages: list[Passage] = generator.select_passages(found)
        self._limits = _left_out(found, self._passages)
        self._parser = CitationParser(self._passages)
        self._revalidation = Revalidation.of_text(context)

    async def respond(self) -> Response:
        """The whole answer in one body. Raises a `Problem` if the model fails, or rights end."""
        written = None

        async def write() -> None:
            nonlocal written
            written = await self._write(self._ignore_event)

        if not await run_while_connected(self._context.request.receive, write()):
            raise ClientDisconnect
        assert written is not None, "the work has ended"
        body = {"answer": written.text, **self._summary(written), **self._retrieved.fields()}
        response = Response(
            orjson.dumps(body), media_type="application/json", headers=self._retrieved.headers
        )
        await self._revalidation.require_valid(now=True)
        return response

    async def stream_events(self, send: EventSender) -> None:
        """Send the answer as events; the last one is `done` or `error`."""

        async def send_valid(event: Event) -> None:
            async def make_event() -> Event:
                await self._revalidation.require_valid()
                return event

            await send.send_made(make_event)

        try:
            await send_valid(Event("retrieved", self._retrieved.fields()))
            written = await self._write(send_valid)
            await send_valid(Event("done", self._summary(written)))
        except Exception as error:
            problem = problems.from_exception(error, self._context.trace.request_id)
            await send(Event("error", problem.body()))

    def _summary(self, written: GeneratedText) -> dict[str, Any]:
        return {
            "finish_reason": written.finish_reason,
            "citations": self._parser.citations,
            "rests_on_claims": any(
                citation.get("trust") == "claim" for citation in self._parser.citations
            ),
            "cached": written.cached,
            **self._limits,
        }

    async def _write(self, send_event: SendEvent) -> GeneratedText:
        """Get the text from the cache or the model, and send its pieces and citations.

        The text ends when it can't be confirmed, whether a piece of it waits or not. Others who
        wait for the same text do not notice.
        """
        pieces: asyncio.Queue[str | None] = asyncio.Queue()
        text = asyncio.create_task(self._get_text(pieces.put))
        text.add_done_callback(lambda _: pieces.put_nowait(None))
        try:
            while (piece := await _next_piece(pieces)) is not None:
                await self._revalidation.require_valid()
                if piece:
                    await self._send_piece(piece, send_event)
            return await text
        finally:
            await background_tasks.end(text)

    async def _send_piece(self, piece: str, send_event: SendEvent) -> None:
        citations = list(self._parser.feed(piece))
        await send_event(Event("delta", {"text": piece}))
        for citation in citations:
            await send_event(Event("citation", citation))

    async def _get_text(self, on_text: OnText) -> GeneratedText:
        """The text from the cache or the model; `on_text` receives its pieces."""
        retrieved = self._retrieved
        if retrieved.answered is None:
            return GeneratedText("", "gate", cached=False)
        count_step = self._context.services.search.metrics.rag_step
        if retrieved.fallback is not None:
            count_step("answer", "fallback")
            await on_text(retrieved.fallback)
            return GeneratedText(retrieved.fallback, "fallback", cached=False)
        material = Material(retrieved.query, history_of(self._body), self._passages)
        services = self._context.services
        texts = TextCache(services.texts, services.search.searcher)
        written = await texts.get_or_generate(
            retrieved.answered,
            material,
            self._generator.edition,
            partial(self._generate, retrieved.answered.request.scope.tenant, material),
            on_text,
            is_new=self._body.regenerate,
        )
        if written.cached:
            count_step("answer", "cached")
        return written

    async def _generate(self, tenant: str, material: Material, on_text: OnText) -> str:
        """Let the model write, and return its finish reason. Raises a `Problem` if it fails."""
        count_step = self._context.services.search.metrics.rag_step
        try:
            finish_reason = await self._generator.generate(
                tenant, material.question, material.history, material.passages, on_text
            )
        except BudgetSpent:
            count_step("answer", "budget")
            raise problems.budget_exceeded() from None
        except ChatTooLate:
            count_step("answer", "deadline")
            raise problems.model_unavailable(
                "The language model has exceeded its deadline.", 504
            ) from None
        except ChatUnavailable:
            count_step("answer", "error")
            raise problems.model_unavailable("The language model is unavailable.", 503) from None
        count_step("answer", "model")
        return finish_reason

    async def _ignore_event(self, _event: Event) -> None:
        """Drop an event: an answer in one body has none."""


async def _next_piece(pieces: "asyncio.Queue[str | None]") -> str | None:
    """The next piece; empty if none comes for some time, None after the last one."""
    try:
        async with asyncio.timeout(CONFIRMED_S_MAX):
            return await pieces.get()
    except TimeoutError:
        return ""


def _passage(hit: Mapping[str, Any]) -> Passage:
    fields: dict[str, Any] = {name: hit[name] for name in _PASSAGE_FIELDS}
    return Passage(**fields, tenant=hit.get("tenant"), trust=hit.get("trust"))


def _left_out(found: Sequence[Passage], selected: Sequence[Passage]) -> dict[str, list[int]]:
    """The chunks that the model gets in part or not at all; `selected` are the first ones."""
    return {
        "truncated": [
            whole.chunk_id
            for whole, shown in zip(found, selected, strict=False)
            if len(shown.text) < len(whole.text.strip())
        ],
        "omitted": [passage.chunk_id for passage in found[len(selected) :]],
    }
