"""An embedder that runs a model in a local folder; needs the extra `onnx`."""

from importlib.util import find_spec
from pathlib import Path

from gateway.extension import CommandError, CountTokens, EmbedderKind, Extension, Settings
from gateway.extensions.embedders_onnx import onnx_model
from index.search.query_embedder import Embedder

THREADS = 2  # of a worker; a starting value, not measured


def _check(folder: str) -> None:
    if find_spec("onnxruntime") is None:
        raise CommandError("onnx:FOLDER needs the extra: pip install '.[onnx]' in a checkout")
    onnx_model.read(Path(folder).expanduser())


def _make(_settings: Settings, folder: str, _count_tokens: CountTokens) -> Embedder:
    from gateway.extensions.embedders_onnx.onnx_embedder import OnnxEmbedder, load

    model = onnx_model.read(Path(folder).expanduser())
    return OnnxEmbedder(model, load(model.path, threads=THREADS))


EXTENSION: Extension[None] = Extension(
    "an ONNX model in a local folder embeds texts",
    embedders={"onnx": EmbedderKind(("onnx:FOLDER",), _make, _check)},
)
