"""Kinds of embedders, and how settings name one: `KIND` or `KIND:REST`.

static        built in
static:FOLDER a table of word pieces in a local folder
test          for tests alone: its vectors know words, not meaning

Extensions bring others; `gateway.configured_embedders` makes those that the settings name.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from gateway.settings.settings import Settings
from index.search.query_embedder import Embedder

# Receives `query` or `batch` and the tokens that a service reports for each call.
CountTokens: TypeAlias = Callable[[str, int], None]


@dataclass(frozen=True, slots=True)
class EmbedderKind:
    """forms: how its name is written, such as `onnx:FOLDER`.

    make:  gets what follows the colon; empty without one. Imports here what takes long to load.
    check: refuses what `make` would refuse, as far as that needs no loaded model.

    Both raise `CommandError` and `EmbedderRefused`.
    """

    forms: tuple[str, ...]
    make: Callable[[Settings, str, CountTokens], Embedder]
    check: Callable[[str], None] = lambda _rest: None

    def takes(self, rest: str) -> bool:
        """Whether a name may have this rest."""
        return any((":" in form) == bool(rest) for form in self.forms)


def names(settings: Settings) -> list[str]:
    """Of the embedder of new tenants, and of the one that tenants move to, if any."""
    return [settings.embedder, *filter(None, [settings.embedder_next])]


def kind(name: str) -> str:
    """The name without its folder or model."""
    return name.partition(":")[0]


def _check_static(folder: str) -> None:
    if folder:
        from index.embedders import static_folder_embedder

        static_folder_embedder.find(Path(folder).expanduser())


def _static(_settings: Settings, folder: str, _count_tokens: CountTokens) -> Embedder:
    if folder:
        from index.embedders.static_folder_embedder import StaticFolderEmbedder

        return StaticFolderEmbedder(Path(folder).expanduser())
    from index.embedders.static_embedder import StaticEmbedder

    return StaticEmbedder()


def _hashing(_settings: Settings, _rest: str, _count_tokens: CountTokens) -> Embedder:
    from index.embedders.hashing_embedder import HashingEmbedder

    return HashingEmbedder()


KINDS: dict[str, EmbedderKind] = {
    "static": EmbedderKind(("static", "static:FOLDER"), _static, _check_static),
    "test": EmbedderKind(("test",), _hashing),
}
