"""Embeds by any service that speaks OpenAI's `POST /embeddings`."""

import asyncio
from collections.abc import Sequence

import numpy as np
import openai
from numpy.typing import NDArray
from pydantic import BaseModel, ValidationError

from index.errors import EmbeddingUnavailable

BATCH_TEXTS_MAX = 32  # a call: some services take no more, and its reply is read in 8 ms
TOKENS_MAX = 8_191  # of OpenAI's models, which refuse more; others state their own
TIMEOUT_S = 30.0  # a call with all its retries; a starting value, not measured


class OpenAIEmbedder:
    """Unit vectors from a service that may be slow, wrong or away.

    shorten: ask the service for vectors of `dimensions`, which few models can give; without it
             the model's own width must be that.
    alpha:   0.5 is a starting value, not measured.

    Retries and the time-out of one try are the client's own.
    """

    def __init__(
        self,
        client: openai.AsyncOpenAI,
        *,
        model: str,
        dimensions: int,
        shorten: bool = False,
        alpha: float = 0.5,
        tokens_max: int = TOKENS_MAX,
        batch_texts_max: int = BATCH_TEXTS_MAX,
        timeout_s: float = TIMEOUT_S,
    ) -> None:
        self.space = f"openai-{model}-{dimensions}"
        self.dimensions = dimensions
        self.alpha = alpha
        self.tokens_max = tokens_max
        self.batch_texts_max = batch_texts_max
        self._client = client
        self._model = model
        self._asked_dimensions = dimensions if shorten else openai.omit
        self._timeout_s = timeout_s

    async def embed_query(self, text: str) -> NDArray[np.float32]:
        """The text's unit vector. Raises `EmbeddingUnavailable`."""
        vector: NDArray[np.float32] = (await self.embed_passages([text]))[0]
        return vector

    async def embed_passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """One unit vector a text, shape (texts, dimensions). Raises `EmbeddingUnavailable`."""
        vectors = np.empty((len(texts), self.dimensions), np.float32)
        for at in range(0, len(texts), self.batch_texts_max):
            batch = texts[at : at + self.batch_texts_max]
            body = await self._ask(batch)
            vectors[at : at + len(batch)] = _vectors(body, (len(batch), self.dimensions))
        return vectors

    async def _ask(self, texts: Sequence[str]) -> bytes:
        # Not chained: the client's errors quote the service, which may quote the key.
        try:
            async with asyncio.timeout(self._timeout_s):
                reply = await self._client.embeddings.with_raw_response.create(
                    model=self._model,
                    input=list(texts),
                    dimensions=self._asked_dimensions,
                    encoding_format="float",  # base64 is smaller, and not all services know it
                )
        except openai.APIStatusError as error:
            raise EmbeddingUnavailable(
                f"the embedding service answered {error.status_code}"
            ) from None
        except (openai.OpenAIError, TimeoutError) as error:
            raise EmbeddingUnavailable(
                f"the embedding service did not answer: {type(error).__name__}"
            ) from None
        return reply.content


class _Embedding(BaseModel):
    index: int
    embedding: list[float]


class _Reply(BaseModel):
    data: list[_Embedding]


def _vectors(body: bytes, shape: tuple[int, int]) -> NDArray[np.float32]:
    """The unit vectors of a reply, in the order of the texts, whatever its own order is."""
    try:
        reply = _Reply.model_validate_json(body)
    except ValidationError:
        raise EmbeddingUnavailable("the embedding service sent no embeddings") from None
    rows = {item.index: item.embedding for item in reply.data}
    if len(reply.data) != shape[0] or rows.keys() != set(range(shape[0])):
        raise EmbeddingUnavailable("the embedding service left texts out")
    if any(len(row) != shape[1] for row in rows.values()):
        raise EmbeddingUnavailable(f"the embedding service's vectors are not {shape[1]} wide")
    vectors = np.array([rows[index] for index in range(shape[0])])
    with np.errstate(over="ignore"):  # what overflows is refused
        norms = np.linalg.norm(vectors, axis=1, keepdims=True)
    if not (np.isfinite(norms) & (norms > 0)).all():
        raise EmbeddingUnavailable("the embedding service sent vectors without a direction")
    vectors /= norms
    return vectors.astype(np.float32)
