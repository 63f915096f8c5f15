"""Embeds with any service that has OpenAI's `POST /embeddings`."""

import asyncio
import base64
from collections.abc import Callable, Sequence
from typing import Annotated

import numpy as np
import openai
from numpy.typing import NDArray
from pydantic import (
    AliasChoices,
    BaseModel,
    BeforeValidator,
    Field,
    ValidationError,
    ValidatorFunctionWrapHandler,
    field_validator,
    model_validator,
)

from common.circuit_breaker import MODEL, CircuitBreaker
from index.embedders.vectors import unit
from index.errors import EmbeddingUnavailable

TOKENS_MAX = 8_191  # the limit of OpenAI's models; others document their own
DEADLINE_S = 30.0  # of a call with all its retries; a starting value, not measured
# A call that is cancelled after this time counts as a failure of the service, not as the caller's
# decision; half of the time that a search waits.
PATIENCE_S = 1.0
_PROBE = "text"  # which every service embeds: if it does, a failure is due to the texts


class OpenAIEmbedder:
    """Unit vectors from a service that may be slow, wrong or unavailable.

    count_tokens: receives `query` or `batch`, and the tokens that the service reports for a call.
    shorten:      request vectors of `dimensions`, which few models support; otherwise `dimensions`
                  must be the model's own.
    alpha:        not measured; 0.4 is the best value of a small sentence model.

    The client retries after 429, 408, 409, 5xx and lost connections: after `Retry-After`, else
    after a pause that doubles, shortened at random by up to a quarter.

    Queries and passages have separate breakers: a service too slow for one may do for the other.

    A batch that fails is halved, down to the texts that fail alone: services limit the texts and
    the tokens of a call, and one text that they refuse fails all the others of its call.
    """

    def __init__(
        self,
        client: openai.AsyncOpenAI,
        *,
        model: str,
        dimensions: int,
        clock_s: Callable[[], float],
        count_tokens: Callable[[str, int], None],
        batch_texts_max: int,
        shorten: bool = False,
        alpha: float = 0.4,
        deadline_s: float = DEADLINE_S,
    ) -> None:
        self.space = f"openai-{model}-{dimensions}"
        self.dimensions = dimensions
        self.alpha = alpha
        self.confident_score = None
        self.tokens_max = TOKENS_MAX
        self.batch_texts_max = batch_texts_max
        self._client = client
        self._model = model
        self._requested_dimensions = dimensions if shorten else openai.omit
        self._clock_s = clock_s
        self._count_tokens = count_tokens
        self._deadline_s = deadline_s
        self._breakers = {kind: CircuitBreaker(clock_s, MODEL) for kind in ("query", "batch")}

    async def embed_query(self, text: str) -> NDArray[np.float32]:
        """The text's unit vector. Raises `EmbeddingUnavailable`."""
        vector: NDArray[np.float32] = (await self._embed("query", [text]))[0]
        return vector

    async def embed_passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """One unit vector a text, shape (texts, dimensions). Raises `EmbeddingUnavailable`.

        The vector of a text that the service does not embed, although it embeds others, is zero.
        """
        vectors = np.empty((len(texts), self.dimensions), np.float32)
        for start in range(0, len(texts), self.batch_texts_max):
            batch = texts[start : start + self.batch_texts_max]
            vectors[start : start + len(batch)] = await self._embed_batch(batch)
        return vectors

    async def _embed_batch(self, texts: Sequence[str]) -> NDArray[np.float32]:
        try:
            return await self._embed("batch", texts)
        except _BatchFailed as error:
            try:
                await self._embed("batch", [_PROBE])
            except EmbeddingUnavailable:
                raise error from None
            return await self._embed_halves(texts)

    async def _embed_halves(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """The vectors of texts of which a call has failed, while the service embeds others."""
        if len(texts) == 1:
            return np.zeros((1, self.dimensions), np.float32)
        middle, vectors = len(texts) // 2, []
        for half in (texts[:middle], texts[middle:]):
            try:
                vectors.append(await self._embed("batch", half, is_service_well=True))
            except _BatchFailed:
                vectors.append(await self._embed_halves(half))
        return np.concatenate(vectors)

    async def _embed(
        self, kind: str, texts: Sequence[str], *, is_service_well: bool = False
    ) -> NDArray[np.float32]:
        """The vectors of one call; fails at once while the breaker is open.

        is_service_well: a failure is due to the texts and does not count as one of the service.
        """
        breaker = self._breakers[kind]
        admitted = breaker.admit()
        if admitted is None:
            raise EmbeddingUnavailable(
                "the embedding service keeps failing; it is not called for now"
            )
        started_s = self._clock_s()
        try:
            vectors = self._parse(kind, await self._call(texts), len(texts))
        except _BatchFailed as error:
            is_failure = not (is_service_well or error.is_refusal)
            (breaker.failed if is_failure else breaker.succeeded)(admitted)
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
            failure = f"the embedding service did not answer: {type(error).__name__}"
            is_late = isinstance(error, openai.APITimeoutError | TimeoutError)
            raise (EmbeddingUnavailable if is_late else _BatchFailed)(failure) from None
        return reply.content

    def _status_error(self, status: int) -> EmbeddingUnavailable:
        message = f"the embedding service answered {status}"
        match status:
            case 401 | 403:
                return EmbeddingUnavailable(f"{message}: it does not accept the key")
            case 404:
                return EmbeddingUnavailable(f"{message}: no model {self._model} at this URL")
            case 400 | 413 | 422:
                detail = f"{message}: it refuses the texts or the model {self._model}"
                return _BatchFailed(detail, is_refusal=True)
            case _ if (
                status >= 500 and status != 503
            ):  # of many services also for a text that they can't embed
                return _BatchFailed(message)
        return EmbeddingUnavailable(message)

    def _parse(self, kind: str, body: bytes, texts: int) -> NDArray[np.float32]:
        try:
            reply = _EmbeddingReply.model_validate_json(body)
        except ValidationError:
            raise _BatchFailed("the embedding service sent no embeddings") from None
        if used := _tokens(reply.usage):
            self._count_tokens(kind, used)  # counted even if the vectors are invalid
        return _vectors(reply.data, (texts, self.dimensions))


class _BatchFailed(EmbeddingUnavailable):
    """A call failed, perhaps because of its texts: their number, their size or one of them.

    is_refusal: the service says so; this does not count as a failure of the service.
    """

    def __init__(self, detail: str, *, is_refusal: bool = False) -> None:
        super().__init__(detail)
        self.is_refusal = is_refusal


def _numbers(value: object) -> object:
    """Those of a text in base64, as OpenAI sends floats of 32 bits. Raises `ValueError`."""
    if not isinstance(value, str):
        return value
    return np.frombuffer(base64.b64decode(value, validate=True), "<f4").tolist()


class _Embedding(BaseModel):
    """index: of the text; some services omit it, and some send 0 for each.

    embedding: some services send base64 although they are asked for numbers, or the vector alone.
    """

    index: int | None = None
    embedding: Annotated[list[float], BeforeValidator(_numbers)] | None = None

    @model_validator(mode="before")
    @classmethod
    def _of_vector(cls, value: object) -> object:
        return {"embedding": value} if isinstance(value, list | str) else value

    @field_validator("index", "embedding", mode="wrap")
    @classmethod
    def _none_if_invalid(cls, value: object, parse: ValidatorFunctionWrapHandler) -> object:
        try:
            return parse(value)
        except ValidationError:
            return None


class _EmbeddingReply(BaseModel):
    """Some services send the list alone, or call it `embeddings`."""

    data: list[_Embedding] = Field(validation_alias=AliasChoices("data", "embeddings"))
    usage: object = None  # an invalid value is ignored

    @model_validator(mode="before")
    @classmethod
    def _of_list(cls, value: object) -> object:
        return {"data": value} if isinstance(value, list) else value


def _tokens(usage: object) -> int:
    """The tokens of a call; 0 if the service does not report them."""
    used = usage.get("total_tokens") if isinstance(usage, dict) else None
    return used if isinstance(used, int) and used > 0 else 0


def _vectors(data: Sequence[_Embedding], shape: tuple[int, int]) -> NDArray[np.float32]:
    """The unit vectors of a reply, in the order of the texts; zero for a text without a vector.

    A vector of another length than the others is none. The order of the reply counts if its indexes
    are not those of the texts, each once. Raises `_BatchFailed` if no text has a vector.
    """
    if len(data) != shape[0]:
        raise _BatchFailed("the embedding service omitted texts")
    lengths = {len(item.embedding) for item in data if item.embedding}
    if lengths and shape[1] not in lengths:
        raise _BatchFailed(f"the embedding service's vectors do not have {shape[1]} dimensions")
    by_index = {item.index: item for item in data if item.index is not None}
    if by_index.keys() == set(range(shape[0])):
        data = [by_index[index] for index in range(shape[0])]
    without_vector = [0.0] * shape[1]
    embeddings = [item.embedding or without_vector for item in data]
    vectors = unit(
        np.array([each if len(each) == shape[1] else without_vector for each in embeddings])
    )
    if not vectors.any():
        raise _BatchFailed("the embedding service gave vectors without a direction")
    return vectors
