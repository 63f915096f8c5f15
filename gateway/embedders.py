"""The embedders by their names, each made of the settings that concern it.

static        built in
openai        any service that speaks OpenAI's `POST /embeddings`
hashing       for tests alone: refused in production

What only one of them needs is imported only for whom it serves: some of it takes a second.
"""

import time
from collections.abc import Callable

from gateway.errors import NotPossible
from gateway.settings import Settings
from index.search import Embedder

_RETRIES_MAX = 2  # of a call to a service; a starting value, not measured


def check(settings: Settings, name: str) -> None:
    """Refuse what `make` would refuse, before anything slow is begun. Raises `NotPossible`."""
    match name:
        case "static" | "openai":
            pass
        case "hashing":
            if settings.mode != "test":
                raise NotPossible(
                    "the hashing embedder is for tests: its vectors know words, not meaning. Set "
                    "NEARHIT_EMBEDDER to static or openai; where this is a test, "
                    "set NEARHIT_MODE=test"
                )
        case _:
            raise NotPossible(f"there is no embedder {name!r}: choose static, openai or hashing")


def make(settings: Settings, name: str, count_tokens: Callable[[str, int], None]) -> Embedder:
    """The embedder of this name. Raises `NotPossible`.

    count_tokens: told, by `query` or `batch`, what a service says that each call used.
    """
    check(settings, name)
    match name:
        case "openai":
            return _openai(settings, count_tokens)
        case "hashing":
            from index.hashing_embedder import HashingEmbedder

            return HashingEmbedder()
        case _:
            from index.static_embedder import StaticEmbedder

            return StaticEmbedder()


def _openai(settings: Settings, count_tokens: Callable[[str, int], None]) -> Embedder:
    from openai import AsyncOpenAI

    from index.openai_embedder import OpenAIEmbedder

    client = AsyncOpenAI(
        api_key=settings.openai_api_key.get_secret_value() if settings.openai_api_key else "none",
        base_url=settings.openai_base_url,
        max_retries=_RETRIES_MAX,
    )
    return OpenAIEmbedder(
        client,
        model=settings.openai_model,
        dimensions=settings.openai_dimensions,
        shorten=settings.openai_shorten,
        clock_s=time.monotonic,
        count_tokens=count_tokens,
    )
