"""Rerankers beside the heuristic: a service, the language model, and models on this machine."""

import time
from importlib import resources
from pathlib import Path
from urllib.parse import urlsplit

from gateway.extension import (
    Chat,
    CommandError,
    Extension,
    Reranker,
    RerankerKind,
    RerankerSettings,
)
from gateway.extensions._onnx import onnx_model
from index.errors import EmbedderRefused


def _service(settings: RerankerSettings, _chat: Chat | None) -> Reranker:
    import httpx2

    from common.circuit_breaker import MODEL, CircuitBreaker
    from gateway.extensions._web import tls
    from gateway.extensions.rerankers.service_reranker import ServiceReranker

    key = settings.api_key
    headers = {"Authorization": f"Bearer {key.get_secret_value()}"} if key else {}
    return ServiceReranker(
        httpx2.AsyncClient(headers=headers, timeout=None, verify=tls.verifying()),
        CircuitBreaker(time.monotonic, MODEL),
        url=settings.rest,
        model=settings.model,
        deadline_s=settings.deadline_s,
    )


def _check_service(settings: RerankerSettings) -> None:
    parts = urlsplit(settings.rest)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise CommandError("NEARHIT_RERANKER: service:URL needs the URL of the service's /rerank")


def _model(_settings: RerankerSettings, chat: Chat | None) -> Reranker:
    from gateway.extensions.rerankers.model_reranker import ModelReranker

    assert chat is not None, "it asks a model"
    prompt = resources.files(__package__) / "rerank_prompt.txt"
    return ModelReranker(chat, instruction=prompt.read_text(encoding="utf-8"))


def _check_model(settings: RerankerSettings) -> None:
    if settings.model is None:
        raise CommandError("NEARHIT_RERANKER: model needs NEARHIT_CHAT_MODEL")


def _onnx(settings: RerankerSettings, _chat: Chat | None) -> Reranker:
    from gateway.extensions._onnx import onnx_session
    from gateway.extensions.rerankers.onnx_reranker import OnnxReranker

    model = onnx_model.read(Path(settings.rest).expanduser())
    session = onnx_session.load(model.path, threads=onnx_session.THREADS)
    return OnnxReranker(model, session, deadline_s=settings.deadline_s)


def _check_onnx(settings: RerankerSettings) -> None:
    """Loads the model: what can't be used is refused at the start, and not at the first search."""
    onnx_model.require_runtime("NEARHIT_RERANKER: onnx:FOLDER")
    try:
        _onnx(settings, None)
    except EmbedderRefused as error:
        raise CommandError(f"NEARHIT_RERANKER: {error}") from None


EXTENSION: Extension[None] = Extension(
    "hits are reranked by a service, a language model, or a model on this machine",
    rerankers={
        "service:URL": RerankerKind(_service, _check_service),
        "onnx:FOLDER": RerankerKind(_onnx, _check_onnx),
        "model": RerankerKind(_model, _check_model, asks_model=True),
    },
)
