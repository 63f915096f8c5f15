"""Rerankers beside the heuristic: a service, and the language model."""

import time
from importlib import resources
from urllib.parse import urlsplit

from gateway.extension import (
    BudgetedChat,
    CommandError,
    Extension,
    Reranker,
    RerankerKind,
    Settings,
)


def _service(settings: Settings, url: str, _chat: BudgetedChat | None) -> Reranker:
    import httpx2

    from common import tls
    from common.circuit_breaker import MODEL, CircuitBreaker
    from gateway.extensions.rerankers.service_reranker import ServiceReranker

    key = settings.rerank_api_key
    headers = {"Authorization": f"Bearer {key.get_secret_value()}"} if key else {}
    return ServiceReranker(
        httpx2.AsyncClient(headers=headers, timeout=None, verify=tls.verifying()),
        CircuitBreaker(time.monotonic, MODEL),
        url=url,
        model=settings.chat_models.get("rerank"),
        deadline_s=settings.deadline_s_of("rerank"),
    )


def _check_service(_settings: Settings, url: str) -> None:
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise CommandError("NEARHIT_RERANKER: service:URL needs the URL of the service's /rerank")


def _model(_settings: Settings, _rest: str, chat: BudgetedChat | None) -> Reranker:
    from gateway.extensions.rerankers.model_reranker import ModelReranker

    assert chat is not None, "it asks a model"
    prompt = resources.files(__package__) / "rerank_prompt.txt"
    return ModelReranker(chat, instruction=prompt.read_text(encoding="utf-8"))


def _check_model(settings: Settings, _rest: str) -> None:
    if settings.chat_model_of("rerank") is None:
        raise CommandError("NEARHIT_RERANKER: model needs NEARHIT_CHAT_MODEL")


EXTENSION: Extension[None] = Extension(
    "hits are reranked by a service or a language model",
    rerankers={
        "service:URL": RerankerKind(_service, _check_service),
        "model": RerankerKind(_model, _check_model, asks_model=True),
    },
)
