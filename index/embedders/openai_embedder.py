"""Embeds with any service that has OpenAI's `POST /embeddings`."""

import asyncio
from collections.abc import Callable, Sequence
from typing import Protocol

import numpy as np
import openai
from numpy.typing import NDArray
from pydantic import BaseModel, ValidationError

from index.embedders.vectors import unit
from index.errors import EmbeddingUnavailable

BATCH_TEXTS_MAX = 32  # of a call: the limit of some services, and its reply is parsed in 8 ms
TOKENS_MAX = 8_191  # the limit of OpenAI's models; others document their own
DEADLINE_S = 30.0  # of a call with all its retries; a starting value, not measured
# A call that is cancelled after this time counts as a failure of the service, not as the caller's
# decision; half of the time that a search waits.
PATIENCE_S = 1.0


class ServiceBreaker(Protocol):
    """Skips calls to a service that has just failed."""

    def admit(self) -> int | None:
        """The number of a call that may be made, or None while none may."""

    def succeeded(self, admitted: int, /) -> None: ...
    def failed(self, admitted: int, /) -> None: ...
    def abandoned(self, admitted: int, /) -> None: ...


class OpenAIEmbedder:
    """Unit vectors from a service that may be slow, wrong or unavailable.

    count_tokens: receives `query` or `batch`, and the tokens that the service reports for a call.
    shorten:      request vectors of `dimensions`, which few models support; otherwise `dimensions`
                  must be the model's own.
    alpha:        not measured; 0.4 is the best value of a small sentence model.

    The client retries after 429, 408, 409, 5xx and lost connections: after `Retry-After`, else
    after a pause that doubles, shortened at random by up to a quarter.

    Queries and passages have separate breakers: a service too slow for one may do for the other.
    """

    def __init__(
        self,
        client: openai.AsyncOpenAI,
        *,
        model: str,
        dimensions: int,
        clock_s: Callable[[], float],
        new_breaker: Callable[[], ServiceBreaker],
        count_tokens: Callable[[str, int], None],
        shorten: bool = False,
        alpha: float = 0.4,
        batch_texts_max: int = BATCH_TEXTS_MAX,
        deadline_s: float = DEADLINE_S,
    ) -> None:
        self.space = f"openai-{model}-{dimensions}"
        self.dimensions = dimensions
        self.alpha = alpha
        self.languages = None
        self.confident_score = None
        self.tokens_max = TOKENS_MAX
        self.batch_texts_max = batch_texts_max
        self._client = client
        self._model = model
        self._requested_dimensions = dimensions if shorten else openai.omit
        self._clock_s = clock_s
        self._count_tokens = count_tokens
        self._deadline_s = deadline_s
        self._breakers = {"query": new_breaker(), "batch": new_breaker()}

    async def embed_query(self, text: str) -> NDArray[np.float32]:
        """The text's unit vector. Raises `EmbeddingUnavailable`."""
        vector: NDArray[np.float32] = (await self._embed("query", [text]))[0]
        return vector

    async def embed_passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """One unit vector a text, shape (texts, dimensions). Raises `EmbeddingUnavailable`."""
        vectors = np.empty((len(texts), self.dimensions), np.float32)
        for start in range(0, len(texts), self.batch_texts_max):
            batch = texts[start : start + self.batch_texts_max]
            vectors[start : start + len(batch)] = await self._embed("batch", batch)
        return vectors

    async def _embed(self, kind: str, texts: Sequence[str]) -> NDArray[np.float32]:
        """The vectors of one call; fails at once while the breaker is open."""
        breaker = self._breakers[kind]
        admitted = breaker.admit()
        if admitted is None:
            raise EmbeddingUnavailable(
                "the embedding service keeps failing; it is not called for now"
            )
        started_s = self._clock_s()
        try:
            vectors = self._parse(kind, await self._call(texts), len(texts))
        except _Refused:
            breaker.succeeded(admitted)
            raise
        except EmbeddingUnavailable:
            breaker.failed(admitted)
            raise
        except BaseException:  # cancelled by a time limit, or because the caller has gone
            waited_s = self._clock_s() - started_s
            (breaker.failed if waited_s >= PATIENCE_S else breaker.abandoned)(admitted)
            raise
        breaker.succeeded(admitted)
        return vectors

    async def _call(self, texts: Sequence[str]) -> bytes:
        # Not chained: the client's errors quote the reply, which may quote the key.
        try:
            async with asyncio.timeout(self._deadline_s):
                reply = await self._client.embeddings.with_raw_response.create(
                    model=self._model,
                    input=list(texts),
                    dimensions=self._requested_dimensions,
                    encoding_format="float",  # base64 is smaller, but not all services support it
                )
        except openai.APIStatusError as error:
            raise self._status_error(error.status_code) from None
        except (openai.OpenAIError, TimeoutError) as error:
            raise EmbeddingUnavailable(
                f"the embedding service did not answer: {type(error).__name__}"
            ) from None
        return reply.content

    def _status_error(self, status: int) -> EmbeddingUnavailable:
        message = f"the embedding service answered {status}"
        match status:
            case 401 | 403:
                return EmbeddingUnavailable(f"{message}: it does not accept the key")
            case 404:
                return EmbeddingUnavailable(f"{message}: no model {self._model} at this URL")
            case 400 | 413 | 422:
                return _Refused(f"{message}: it refuses the texts or the model {self._model}")
        return EmbeddingUnavailable(message)

    def _parse(self, kind: str, body: bytes, texts: int) -> NDArray[np.float32]:
        try:
            reply = _EmbeddingReply.model_validate_json(body)
        except ValidationError:
            raise EmbeddingUnavailable("the embedding service sent no embeddings") from None
        if used := _tokens(reply.usage):
            self._count_tokens(kind, used)  # counted even if the vectors are invalid
        return _vectors(reply.data, (texts, self.dimensions))


class _Refused(EmbeddingUnavailable):
    """The service works but refuses these texts, which does not count as a failure."""


class _Embedding(BaseModel):
    index: int
    embedding: list[float]


class _EmbeddingReply(BaseModel):
    data: list[_Embedding]
    usage: object = None  # an invalid value is ignored


def _tokens(usage: object) -> int:
    """The tokens of a call; 0 if the service does not report them."""
    used = usage.get("total_tokens") if isinstance(usage, dict) else None
    return used if isinstance(used, int) and used > 0 else 0


def _vectors(data: Sequence[_Embedding], shape: tuple[int, int]) -> NDArray[np.float32]:
    """The unit vectors of a reply, in the order of the texts."""
    rows = {item.index: item.embedding for item in data}
    if len(data) != shape[0] or rows.keys() != set(range(shape[0])):
        raise EmbeddingUnavailable("the embedding service omitted texts")
    if any(len(row) != shape[1] for row in rows.values()):
        raise EmbeddingUnavailable(
            f"the embedding service's vectors do not have {shape[1]} dimensions"
        )
    vectors = np.array([rows[index] for index in range(shape[0])])
    return unit(vectors, source="the embedding service")
