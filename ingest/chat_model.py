"""A language model behind any service that speaks OpenAI's `POST /chat/completions`."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Any, TypeAlias, TypeVar

import openai
from openai.types.chat import ChatCompletionChunk
from pydantic import BaseModel, Field, ValidationError

from index.embedders.openai_embedder import CircuitBreaker
from ingest.errors import ChatTooLate, ChatUnavailable

DEADLINE_S = 60.0  # of a call with all its retries; a starting value, not measured

# What a model may write at most is asked for by either name: OpenAI's newer models refuse the older
# one, and other services know only that.
_LIMIT_NAMES = ("max_tokens", "max_completion_tokens")
_TOKEN_CHARACTERS_MAX = 32  # of a stream: one that is longer does not keep to what it was asked for

T = TypeVar("T")
_Begin: TypeAlias = Callable[[list[Any], dict[str, int]], Awaitable[T]]


class ChatModel:
    """count_tokens: told what the service says that each call read, and what it wrote.

    After three failures in a row the service is left alone for a while.
    """

    def __init__(
        self,
        client: openai.AsyncOpenAI,
        *,
        model: str,
        breaker: CircuitBreaker,
        count_tokens: Callable[[int, int], None],
        deadline_s: float = DEADLINE_S,
    ) -> None:
        self._client = client
        self._model = model
        self._count_tokens = count_tokens
        self._deadline_s = deadline_s
        self._breaker = breaker
        self._limit_name = _LIMIT_NAMES[0]

    async def answer(self, instruction: str, text: str, *, tokens_max: int) -> str:
        """What the model writes about the text. Raises `ChatUnavailable`, also for half an answer.

        tokens_max: of the answer.
        """
        async with self._admitted():
            reply = await self._create(self._whole, instruction, text, tokens_max)
            choice = self._read(reply)
        if choice.finish_reason == "length" or choice.message.content is None:
            raise ChatUnavailable("the chat service sent half an answer")
        return choice.message.content

    async def stream(
        self,
        instruction: str,
        text: str,
        *,
        tokens_max: int,
        on_text: Callable[[str], Awaitable[None]],
    ) -> str:
        """Why the model has ended: `stop`, `length`, … on_text: told what it writes, bit by bit.

        Raises `ChatUnavailable`, also in the middle.
        """
        ended, left = "", tokens_max * _TOKEN_CHARACTERS_MAX
        async with self._admitted():
            async with await self._create(self._begun, instruction, text, tokens_max) as written:
                while (piece := await _next(written)) is not None:
                    self._count(piece.usage)
                    for choice in piece.choices[:1]:
                        ended = choice.finish_reason or ended
                        if said := choice.delta.content:
                            left -= len(said)
                            await on_text(said)
                    if left < 0:
                        raise ChatUnavailable("the chat service does not end")
            if not ended:
                raise ChatUnavailable("the chat service sent half an answer")
        return ended

    @asynccontextmanager
    async def _admitted(self) -> AsyncIterator[None]:
        """A call, within its deadline, of which the breaker learns how it ended."""
        admitted = self._breaker.admit()
        if admitted is None:
            raise ChatUnavailable("the chat service keeps failing; left alone for now")
        try:
            with _unavailable():
                async with asyncio.timeout(self._deadline_s):
                    yield
        except ChatUnavailable:
            self._breaker.failed(admitted)
            raise
        except BaseException:  # cancelled: nobody waits any more
            self._breaker.abandoned(admitted)
            raise
        self._breaker.succeeded(admitted)

    async def _create(self, begin: "_Begin[T]", instruction: str, text: str, tokens_max: int) -> T:
        messages: list[Any] = [
            {"role": "system", "content": instruction},
            {"role": "user", "content": text},
        ]
        try:
            return await begin(messages, {self._limit_name: tokens_max})
        except openai.BadRequestError as error:
            other = _LIMIT_NAMES[self._limit_name == _LIMIT_NAMES[0]]
            if self._limit_name not in str(error):
                raise
            self._limit_name = other
            return await begin(messages, {other: tokens_max})

    async def _whole(self, messages: list[Any], limit: dict[str, int]) -> bytes:
        reply = await self._client.chat.completions.with_raw_response.create(
            model=self._model, messages=messages, extra_body=limit
        )
        return reply.content

    async def _begun(
        self, messages: list[Any], limit: dict[str, int]
    ) -> "openai.AsyncStream[ChatCompletionChunk]":
        return await self._client.chat.completions.create(
            model=self._model,
            messages=messages,
            extra_body=limit,
            stream=True,
            stream_options={"include_usage": True},
        )

    def _read(self, body: bytes) -> "_Choice":
        try:
            reply = _Reply.model_validate_json(body)
        except ValidationError:
            raise ChatUnavailable("the chat service sent no answer") from None
        self._count(reply.usage)
        return reply.choices[0]

    def _count(self, usage: "_Usage | None") -> None:
        if usage is not None:
            self._count_tokens(usage.prompt_tokens, usage.completion_tokens)


@contextmanager
def _unavailable() -> Iterator[None]:
    # Not chained: the client's errors quote the service, which may quote the key.
    try:
        yield
    except openai.APIStatusError as error:
        raise ChatUnavailable(f"the chat service answered {error.status_code}") from None
    except (openai.APITimeoutError, TimeoutError):
        raise ChatTooLate("the chat service did not answer in time") from None
    except openai.OpenAIError as error:
        reason = type(error).__name__
        raise ChatUnavailable(f"the chat service did not answer: {reason}") from None


async def _next(written: "openai.AsyncStream[ChatCompletionChunk]") -> "_Piece | None":
    """Judged here: the client takes pieces as they come, whatever they are."""
    try:
        piece = await anext(written, None)
        return None if piece is None else _Piece.model_validate(piece.model_dump(warnings=False))
    except (ValueError, TypeError, AttributeError):
        raise ChatUnavailable("the chat service sent no answer") from None


class _Message(BaseModel):
    content: str | None = None


class _Choice(BaseModel):
    message: _Message
    finish_reason: str | None = None


class _Usage(BaseModel):
    prompt_tokens: int = 0
    completion_tokens: int = 0


class _Reply(BaseModel):
    choices: list[_Choice] = Field(min_length=1)
    usage: _Usage | None = None


class _Written(BaseModel):
    delta: _Message
    finish_reason: str | None = None


class _Piece(BaseModel):
    """Of a stream; the last one brings the usage, and nothing else."""

    choices: list[_Written] = Field(default_factory=list)
    usage: _Usage | None = None
