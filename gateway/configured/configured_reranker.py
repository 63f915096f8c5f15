"""The reranker that the settings name, of extensions' kinds."""

from gateway.configured import configured_kinds
from gateway.installed_extensions import switched_on
from gateway.rag.postprocessor_names import HEURISTIC
from gateway.rag.reranking.reranker import ConfiguredReranker, RerankerKind
from gateway.settings.settings import Settings


def find(settings: Settings) -> ConfiguredReranker | None:
    """None for the heuristic. Raises `CommandError` if there is no such kind, or it refuses."""
    if settings.reranker == HEURISTIC:
        return None
    kinds: dict[str, RerankerKind] = {}
    for extension in switched_on(settings.extensions_off).values():
        kinds |= extension.rerankers
    kind, rest = configured_kinds.find(settings.reranker, kinds, HEURISTIC, subject="reranker")
    kind.check(settings, rest)
    model = settings.chat_models.get("rerank")
    if kind.asks_model:
        model = f"{settings.chat_base_url} {settings.chat_model_of('rerank')}"
    form = settings.reranker.partition(":")[0]
    return ConfiguredReranker(kind, form, rest, model)
