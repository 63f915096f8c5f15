"""An embedder that asks any service that speaks OpenAI's `POST /embeddings`."""

import time

from gateway.extension import CountTokens, EmbedderKind, Extension, Settings, outgoing
from index.search.query_embedder import Embedder

BATCH_TEXTS_MAX = 32  # what servers of one's own take by default; others take more
_MODEL = "text-embedding-3-small"
_RETRIES_MAX = 2  # of a call; a starting value, not measured


def _make(settings: Settings, model: str, count_tokens: CountTokens) -> Embedder:
    from openai import AsyncOpenAI

    from gateway.extensions.embedders_openai.openai_embedder import OpenAIEmbedder

    key = settings.openai_api_key
    client = AsyncOpenAI(
        api_key=key.get_secret_value() if key else "none",
        base_url=settings.openai_base_url,
        max_retries=_RETRIES_MAX,
        http_client=outgoing.http_client(settings),
    )
    return OpenAIEmbedder(
        client,
        model=model or _MODEL,
        dimensions=settings.openai_dimensions,
        batch_texts_max=BATCH_TEXTS_MAX,
        shorten=settings.openai_send_dimensions,
        clock_s=time.monotonic,
        count_tokens=count_tokens,
    )


EXTENSION: Extension[None] = Extension(
    "a service with OpenAI's API embeds texts",
    embedders={"openai": EmbedderKind(("openai", "openai:MODEL"), _make)},
)
