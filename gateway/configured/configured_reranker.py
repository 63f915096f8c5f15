"""The reranker that the settings name, of extensions' kinds."""

from collections.abc import Mapping

from pydantic import BaseModel

from gateway.configured import configured_kinds
from gateway.configured.installed_extensions import switched_on
from gateway.search.reranker_kinds import ConfiguredReranker, RerankerSettings
from gateway.settings.settings import Settings

_HEURISTIC = "heuristic"


def find(settings: Settings, own: Mapping[str, BaseModel]) -> ConfiguredReranker | None:
    """None for the heuristic. Raises `CommandError` if there is no such kind, or it refuses.

    own: the settings of each extension that is on.
    """
    if settings.reranker == _HEURISTIC:
        return None
    kinds = {
        form: (kind, own[name])
        for name, extension in switched_on(settings.extensions_off).items()
        for form, kind in extension.rerankers.items()
    }
    found, rest = configured_kinds.find(settings.reranker, kinds, _HEURISTIC, subject="reranker")
    kind, values = found
    model, service = settings.chat_models.get("rerank"), None
    if kind.asks_model:
        model, service = settings.chat_model_of("rerank"), settings.chat_base_url
    reranker_settings = RerankerSettings(
        rest=rest,
        model=model,
        chat_base_url=service,
        deadline_s=settings.deadline_s_of("rerank"),
        api_key=settings.rerank_api_key,
        own=values,
    )
    kind.check(reranker_settings)
    return ConfiguredReranker(kind, settings.reranker.partition(":")[0], reranker_settings)
