"""The statements of one of Nearhit's own hybrid searches, to a bare scan of the same rows.

The bare scan orders the tenant's chunks by distance and returns their identifiers: it knows no
readers, no filter, no words and no texts. Both run in turn on one server, on warm pages; the time
of a turn is what the client waits.
"""

import asyncio
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from statistics import median

import asyncpg
from pgvector import HalfVector
from pgvector.asyncpg import register_vector

from index.embedders.static_embedder import StaticEmbedder
from index.model.query import Query
from index.model.scope import SCOPE_NAMES, resolve
from index.search.preparation import AskedSearch
from index.search.query_embedder import EmbeddedQuery, QueryEmbedder
from index.search.search_executor import SearchExecutor
from index.search.tables import strategy
from index.search.tables.strategy import MEASURED
from loadtests.bench.section import Bar, Section, figure_table
from loadtests.bench_index import corpus
from loadtests.bench_index.corpus import Passages
from loadtests.bench_index.options import IndexRun
from loadtests.servers import service

SIZES = (1_000, 10_000, 100_000)
BAR = 2.2

_PASSAGES, _QUESTIONS, _SEED = 20_000, 30, 1
_HOW = (
    "All statements of one hybrid search (readers, both scores, the hits' texts), as a ratio to a "
    "bare scan of the same rows: the tenant's chunks ordered by distance, identifiers only. The "
    "three tenants share one index; the largest has its own partition. "
    "Both run in turn on the same machine, on warm pages, with at least one round trip each."
)

_BARE = """
SELECT chunk_id FROM chunks
WHERE partition_no = (SELECT partition_no FROM tenants WHERE tenant = $1) AND tenant = $1
ORDER BY dense <=> $2 LIMIT 50"""
_COLUMNS = {
    "ways": ("strategy", "s"),
    "statements": ("statements", ".1f"),
    "bare_p50_ms": ("bare P50 ms", ".2f"),
    "hybrid_p50_ms": ("P50 ms", ".2f"),
    "hybrid_p99_ms": ("P99 ms", ".2f"),
    "ratio": ("ratio", ".2f"),
}
_SETTINGS = {"max_parallel_workers_per_gather": "0", "jit": "off"}


@dataclass(frozen=True, slots=True)
class StatementTimes:
    """Of one size, in visible chunks. ratio: the median of the turns' ratios."""

    visible: int
    ways: Sequence[str]
    statements: float
    bare_p50_ms: float
    hybrid_p50_ms: float
    hybrid_p99_ms: float
    ratio: float


def measure(run: IndexRun) -> Section:
    with service.nearhit() as gateway:
        timed = asyncio.run(_measured(gateway.database_url, run))
    rows = {
        f"{times.visible:,}": {**asdict(times), "ways": " + ".join(times.ways)} for times in timed
    }
    return Section(
        title="Time of the statements",
        text=f"{_HOW}\n\n{figure_table('visible chunks', rows, _COLUMNS)}",
        figures={"timed": [asdict(times) for times in timed]},
        bars=[
            Bar(f"ratio to the bare scan at {times.visible:,}", times.ratio, at_most=BAR)
            for times in timed
        ],
    )


async def _measured(url: str, run: IndexRun) -> list[StatementTimes]:
    source = await corpus.passages(run.data, _PASSAGES, _SEED)
    questions = corpus.questions(run.data, _QUESTIONS, _SEED)
    with run.console.status("statements"):
        return await _each_size(url, source, questions, rounds=run.options.rounds, seed=_SEED)


async def _each_size(
    url: str, source: Passages, questions: Sequence[str], *, rounds: int, seed: int
) -> list[StatementTimes]:
    tenants = {visible: f"of-{visible}" for visible in SIZES}
    for visible, tenant in tenants.items():
        await corpus.fill(url, source, {tenant: visible}, seed=seed)
    return [
        await _measure(url, tenant, visible, questions, rounds)
        for visible, tenant in tenants.items()
    ]


async def _measure(
    url: str, tenant: str, visible: int, questions: Sequence[str], rounds: int
) -> StatementTimes:
    spent: list[float] = []
    bare = await asyncpg.connect(url, server_settings=_SETTINGS)
    await register_vector(bare)
    await bare.execute("VACUUM ANALYZE")
    turns: list[tuple[float, float]] = []
    counts: list[int] = []
    async with corpus.opened(url, lambda _name, seconds: spent.append(seconds)) as database:
        executor = SearchExecutor(database, QueryEmbedder(StaticEmbedder()), limits=MEASURED)
        embedded = await _embedded(questions)
        scope = resolve(tenant, "agent", ["readers"], SCOPE_NAMES, receives_public=True)
        for number in range(rounds + 1):
            for text, one in zip(questions, embedded, strict=True):
                started_s = time.perf_counter()
                await bare.fetch(_BARE, tenant, one.dense)
                bare_s = time.perf_counter() - started_s
                spent.clear()
                query = Query(text)
                await executor.execute(AskedSearch(scope, query, one), query.likely_depth)
                if number:  # the first round warms up
                    turns.append((bare_s, sum(spent)))
                    counts.append(len(spent))
        survey = await executor.tables.estimate_visibility(scope, query)
    await bare.close()
    chosen = strategy.choose(survey, MEASURED, others=True, width=StaticEmbedder.dimensions)
    hybrid = sorted(ours for _, ours in turns)
    return StatementTimes(
        visible=visible,
        ways=sorted({query.way for query in chosen}),
        statements=sum(counts) / len(counts),
        bare_p50_ms=median(bare_s for bare_s, _ in turns) * 1000,
        hybrid_p50_ms=median(hybrid) * 1000,
        hybrid_p99_ms=hybrid[int(0.99 * len(hybrid))] * 1000,
        ratio=median(ours / bare_s for bare_s, ours in turns),
    )


async def _embedded(questions: Sequence[str]) -> list[EmbeddedQuery]:
    vectors = await StaticEmbedder().embed_passages(questions)
    return [
        EmbeddedQuery(StaticEmbedder.space, HalfVector(vector), StaticEmbedder.alpha)
        for vector in vectors
    ]
