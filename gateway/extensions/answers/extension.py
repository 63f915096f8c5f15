"""Answers that a language model writes from the hits of a search, and shorter conversations."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from importlib import resources

from pydantic import BaseModel

from gateway.extension import (
    ApiRoute,
    Extension,
    Services,
    body_limit,
)
from gateway.extensions._chat import models, prompt_quoting
from gateway.extensions._chat.models import OnClose
from gateway.extensions.answers import (
    answer_endpoint,
    answer_schemas,
    compress_endpoint,
    compress_schemas,
)
from gateway.extensions.answers.answer_generator import AnswerGenerator
from gateway.extensions.answers.answer_services import AnswerServices
from gateway.extensions.answers.conversation_compressor import compressor_pool

_ROUTES: tuple[ApiRoute[AnswerServices], ...] = (
    ApiRoute(
        "POST",
        "/v1/answer",
        answer_endpoint.post_answer,
        needs="reader",
        summary="Generate an answer from the hits of a search, with citations",
        body=answer_schemas.AnswerBody,
        answer=answer_schemas.GeneratedAnswer,
        stream_type="text/event-stream",
        is_generated=True,
        only_reads=True,
    ),
    ApiRoute(
        "POST",
        "/v1/compress",
        compress_endpoint.compress,
        needs="reader",
        summary="Shorten a conversation to a budget of tokens",
        body=compress_schemas.CompressBody,
        body_bytes_max=body_limit(262_144),
        answer=compress_schemas.CompressedAnswer,
        only_reads=True,
    ),
)


@asynccontextmanager
async def _open(services: Services, _: BaseModel) -> AsyncIterator[AnswerServices]:
    """Raises `CommandError` if the configured prompt is invalid."""
    texts = services.caches.new_answers("text")
    async with compressor_pool() as compressors, AsyncExitStack() as stack:
        generator, on_close = await asyncio.to_thread(_generator, services)
        for close in on_close:
            stack.push_async_callback(close)
        yield AnswerServices(
            generator,
            services.search,
            texts,
            compressors,
        )
        await texts.drain_background()


def _generator(services: Services) -> tuple[AnswerGenerator | None, OnClose]:
    """And what closes its client; None without a language model."""
    settings, check_budget = services.settings, services.usage_meter.check
    if settings.chat_model_of("answer") is None:
        return None, ()
    instruction = models.read_prompt(settings, "answer", prompt_quoting.MARK)
    if instruction is None:
        prompt = resources.files(__package__) / "answer_prompt.txt"
        instruction = prompt.read_text(encoding="utf-8")
    chats, on_close = models.budgeted(settings, services.http.metrics, check_budget, ("answer",))
    return AnswerGenerator(chats["answer"], instruction), on_close


EXTENSION = Extension(
    summary="a language model answers from the hits of a search; conversations are shortened",
    routes=_ROUTES,
    open=_open,
)
