"""What makes embedders, by how settings name them: `KIND`, or `KIND:REST` as in `onnx:FOLDER`.

static  built in
test    for tests alone: its vectors know words, not meaning

Extensions bring others; `gateway.configured` makes those that the settings name.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from gateway.settings.settings import Settings
from index.search.query_embedder import Embedder

# Receives `query` or `batch` and the tokens that a service reports for each call.
CountTokens: TypeAlias = Callable[[str, int], None]


@dataclass(frozen=True, slots=True)
class EmbedderKind:
    """make: gets what follows the colon, empty without one. It imports what takes long to load.

    check: refuses what `make` would refuse, as far as that needs no loaded model.

    Both raise `CommandError` and `EmbedderRefused`.
    """

    make: Callable[[Settings, str, CountTokens], Embedder]
    check: Callable[[str], None] = lambda _rest: None


def names(settings: Settings) -> list[str]:
    """Of the embedder of new tenants, and of the one that tenants move to, if any."""
    return [settings.embedder, *filter(None, [settings.embedder_next])]


def kind(name: str) -> str:
    """The name without its folder or model."""
    return name.partition(":")[0]


def _static(_settings: Settings, _rest: str, _count_tokens: CountTokens) -> Embedder:
    from index.embedders.static_embedder import StaticEmbedder

    return StaticEmbedder()


def _hashing(_settings: Settings, _rest: str, _count_tokens: CountTokens) -> Embedder:
    from index.embedders.hashing_embedder import HashingEmbedder

    return HashingEmbedder()


KINDS = {"static": EmbedderKind(_static), "test": EmbedderKind(_hashing)}
