"""A language model behind any service with OpenAI's `POST /chat/completions`."""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Any, TypeAlias, TypeVar

import openai
from openai.types.chat import ChatCompletionChunk
from pydantic import BaseModel, Field, ValidationError

from common.circuit_breaker import MODEL, CircuitBreaker
from gateway.extensions._chat.errors import ChatTooLate, ChatUnavailable

DEADLINE_S = 60.0  # of a call with all its retries; a starting value, not measured

# The limit of an answer has two names: OpenAI's newer models refuse the older name, and other
# services know only the older one.
_LIMIT_NAMES = ("max_tokens", "max_completion_tokens")
_TOKEN_CHARACTERS_MAX = 32  # in a stream; a longer stream exceeds the requested tokens

T = TypeVar("T")
_Begin: TypeAlias = Callable[[list[Any], dict[str, int]], Awaitable[T]]


class ChatModel:
    """count_tokens: receives the tokens that each call has read and written.

    After three consecutive failures, calls fail at once for a while.
    """

    def __init__(
        self,
        client: openai.AsyncOpenAI,
        *,
        model: str,
        count_tokens: Callable[[int, int], None],
        deadline_s: float = DEADLINE_S,
    ) -> None:
        self._client = client
        self._model = model
        self._count_tokens = count_tokens
        self._deadline_s = deadline_s
        self._breaker = CircuitBreaker(time.monotonic, MODEL)
        self._limit_name = _LIMIT_NAMES[0]

    async def answer(self, instruction: str, text: str, *, tokens_max: int) -> str:
        """The model's answer to the text, of at most `tokens_max` tokens.

        Raises `ChatUnavailable`, also for an incomplete answer.
        """
        async with self._admit():
            reply = await self._create(self._complete, instruction, text, tokens_max)
            choice = self._parse(reply)
        if choice.finish_reason == "length" or choice.message.content is None:
            raise ChatUnavailable("the chat service sent an incomplete answer")
        return choice.message.content

    async def stream(
        self,
        instruction: str,
        text: str,
        *,
        tokens_max: int,
        on_text: Callable[[str], Awaitable[None]],
    ) -> str:
        """The finish reason of the answer: `stop`, `length`, … on_text: receives its pieces.

        Raises `ChatUnavailable`, also after some pieces.
        """
        finish_reason, characters_left = "", tokens_max * _TOKEN_CHARACTERS_MAX
        async with self._admit():
            async with await self._create(self._start, instruction, text, tokens_max) as stream:
                while (chunk := await _next(stream)) is not None:
                    self._count(chunk.usage)
                    for choice in chunk.choices[:1]:
                        finish_reason = choice.finish_reason or finish_reason
                        if piece := choice.delta.content:
                            characters_left -= len(piece)
                            await on_text(piece)
                    if characters_left < 0:
                        raise ChatUnavailable("the chat service sent more than the limit")
            if not finish_reason:
                raise ChatUnavailable("the chat service sent an incomplete answer")
        return finish_reason

    @asynccontextmanager
    async def _admit(self) -> AsyncIterator[None]:
        """Run a call within its deadline, and report its result to the breaker."""
        admitted = self._breaker.admit()
        if admitted is None:
            raise ChatUnavailable("the chat service keeps failing; it is not called for now")
        try:
            with _unavailable():
                async with asyncio.timeout(self._deadline_s):
                    yield
        except ChatUnavailable:
            self._breaker.failed(admitted)
            raise
        except BaseException:  # cancelled: the caller has gone
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
            other_name = _LIMIT_NAMES[self._limit_name == _LIMIT_NAMES[0]]
            if self._limit_name not in str(error):
                raise
            self._limit_name = other_name
            return await begin(messages, {other_name: tokens_max})

    async def _complete(self, messages: list[Any], limit: dict[str, int]) -> bytes:
        reply = await self._client.chat.completions.with_raw_response.create(
            model=self._model, messages=messages, extra_body=limit
        )
        return reply.content

    async def _start(
        self, messages: list[Any], limit: dict[str, int]
    ) -> "openai.AsyncStream[ChatCompletionChunk]":
        return await self._client.chat.completions.create(
            model=self._model,
            messages=messages,
            extra_body=limit,
            stream=True,
            stream_options={"include_usage": True},
        )

    def _parse(self, body: bytes) -> "_Choice":
        try:
            reply = _ChatReply.model_validate_json(body)
        except ValidationError:
            raise ChatUnavailable("the chat service sent no answer") from None
        self._count(reply.usage)
        return reply.choices[0]

    def _count(self, usage: "_Usage | None") -> None:
        if usage is not None:
            self._count_tokens(usage.prompt_tokens, usage.completion_tokens)


@contextmanager
def _unavailable() -> Iterator[None]:
    # Not chained: the client's errors quote the reply, which may quote the key.
    try:
        yield
    except openai.APIStatusError as error:
        raise ChatUnavailable(f"the chat service answered {error.status_code}") from None
    except (openai.APITimeoutError, TimeoutError):
        raise ChatTooLate("the chat service did not answer in time") from None
    except openai.OpenAIError as error:
        reason = type(error).__name__
        raise ChatUnavailable(f"the chat service did not answer: {reason}") from None


async def _next(stream: "openai.AsyncStream[ChatCompletionChunk]") -> "_StreamChunk | None":
    """The next chunk, validated: the client does not validate chunks."""
    try:
        chunk = await anext(stream, None)
        if chunk is None:
            return None
        return _StreamChunk.model_validate(chunk.model_dump(warnings=False))
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


class _ChatReply(BaseModel):
    choices: list[_Choice] = Field(min_length=1)
    usage: _Usage | None = None


class _StreamChoice(BaseModel):
    delta: _Message
    finish_reason: str | None = None


class _StreamChunk(BaseModel):
    """One chunk of a stream; the last one has the usage only."""

    choices: list[_StreamChoice] = Field(default_factory=list)
    usage: _Usage | None = None
