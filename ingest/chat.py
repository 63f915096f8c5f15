"""A language model behind any service that speaks OpenAI's `POST /chat/completions`."""

import asyncio
from collections.abc import Callable

import openai
from pydantic import BaseModel, Field, ValidationError

from index.breaker import Breaker
from ingest.errors import ChatUnavailable

DEADLINE_S = 60.0  # of a call with all its retries; a starting value, not measured

# What a model may write at most is asked for by either name: OpenAI's newer models refuse the older
# one, and other services know only that.
_LIMIT_NAMES = ("max_tokens", "max_completion_tokens")


class ChatModel:
    """count_tokens: told what the service says that each call read, and what it wrote.

    After three failures in a row the service is left alone for a while.
    """

    def __init__(
        self,
        client: openai.AsyncOpenAI,
        *,
        model: str,
        clock_s: Callable[[], float],
        count_tokens: Callable[[int, int], None],
        deadline_s: float = DEADLINE_S,
    ) -> None:
        self._client = client
        self._model = model
        self._count_tokens = count_tokens
        self._deadline_s = deadline_s
        self._breaker = Breaker(clock_s)
        self._limit_name = _LIMIT_NAMES[0]

    async def answer(self, instruction: str, text: str, *, tokens_max: int) -> str:
        """What the model writes about the text. Raises `ChatUnavailable`, also for half an answer.

        tokens_max: of the answer.
        """
        admitted = self._breaker.admit()
        if admitted is None:
            raise ChatUnavailable("the chat service keeps failing; left alone for now")
        try:
            reply = self._read(await self._ask(instruction, text, tokens_max))
        except ChatUnavailable:
            self._breaker.failed(admitted)
            raise
        except BaseException:  # cancelled: nobody waits any more
            self._breaker.abandoned(admitted)
            raise
        self._breaker.succeeded(admitted)
        if reply.finish_reason == "length" or reply.message.content is None:
            raise ChatUnavailable("the chat service sent half an answer")
        return reply.message.content

    async def _ask(self, instruction: str, text: str, tokens_max: int) -> bytes:
        # Not chained: the client's errors quote the service, which may quote the key.
        try:
            async with asyncio.timeout(self._deadline_s):
                return await self._create(instruction, text, tokens_max)
        except openai.APIStatusError as error:
            raise ChatUnavailable(f"the chat service answered {error.status_code}") from None
        except (openai.OpenAIError, TimeoutError) as error:
            raise ChatUnavailable(
                f"the chat service did not answer: {type(error).__name__}"
            ) from None

    async def _create(self, instruction: str, text: str, tokens_max: int) -> bytes:
        try:
            return await self._create_limited(self._limit_name, instruction, text, tokens_max)
        except openai.BadRequestError as error:
            other = _LIMIT_NAMES[self._limit_name == _LIMIT_NAMES[0]]
            if self._limit_name not in str(error):
                raise
            self._limit_name = other
            return await self._create_limited(other, instruction, text, tokens_max)

    async def _create_limited(
        self, limit_name: str, instruction: str, text: str, tokens_max: int
    ) -> bytes:
        reply = await self._client.chat.completions.with_raw_response.create(
            model=self._model,
            messages=[
                {"role": "system", "content": instruction},
                {"role": "user", "content": text},
            ],
            extra_body={limit_name: tokens_max},
        )
        return reply.content

    def _read(self, body: bytes) -> "_Choice":
        try:
            reply = _Reply.model_validate_json(body)
        except ValidationError:
            raise ChatUnavailable("the chat service sent no answer") from None
        if reply.usage is not None:
            self._count_tokens(reply.usage.prompt_tokens, reply.usage.completion_tokens)
        return reply.choices[0]


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
