"""The embedders that the settings name, of the core's kinds and of extensions'."""

from gateway.configured import configured_kinds
from gateway.configured.installed_extensions import switched_on
from gateway.search.embedders import KINDS, CountTokens, EmbedderKind, names
from gateway.settings.settings import Settings
from index.embedders import static_model
from index.search.query_embedder import Embedder


def make_all(settings: Settings, count_tokens: CountTokens) -> list[Embedder]:
    """The embedder of new tenants, and the one that tenants move to, if any."""
    return [make(settings, name, count_tokens) for name in names(settings)]


def check(settings: Settings, name: str) -> None:
    """Refuse what `make` would refuse, as far as that needs no loaded model.

    Raises `CommandError` and `EmbedderRefused`.
    """
    static_model.check()  # the chunker by tokens uses it, with every embedder
    kind, rest = _find(settings, name)
    kind.check(rest)


def make(settings: Settings, name: str, count_tokens: CountTokens) -> Embedder:
    """The embedder of this name. Raises `CommandError` and `EmbedderRefused`."""
    check(settings, name)
    kind, rest = _find(settings, name)
    return kind.make(settings, rest, count_tokens)


def _find(settings: Settings, name: str) -> tuple[EmbedderKind, str]:
    """What makes the embedder, and what follows the colon of its name."""
    kinds = dict(KINDS)
    if name not in kinds:
        for extension in switched_on(settings.extensions_off).values():
            kinds |= extension.embedders
    return configured_kinds.find(name, kinds, subject="embedder")
