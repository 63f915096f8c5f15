"""The comparison as a page: tables, how each was set up, and the bars."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from loadtests.bench.frame import Run
from loadtests.bench.section import Bar, Section, figure_table
from loadtests.bench.turns import Turns
from loadtests.bench_peers import side_by_side, world
from loadtests.bench_peers.side_by_side import OTHERS, PeerComparison, PeerResult
from loadtests.bench_peers.systems import nearhit
from loadtests.bench_peers.world import GROUPS

_WARDOWL, _CHROMA, _LANCE, _PGVECTOR = "wardowl", "Chroma", "LanceDB", "pgvector"
# The least of Nearhit's requests a second to another system's.
_MIX_TO = {_WARDOWL: 5.0, _CHROMA: 10.0}
_COLD_TO = {_WARDOWL: 3.0, _CHROMA: 5.0, _LANCE: 1.0}
_COLD_TO_PGVECTOR = {30_000: 1.0, 2_000: 0.7}  # by the rows of all tenants
_FOUND = {
    "ndcg": ("nDCG@10", ".3f"),
    "judged": ("recall@10", ".3f"),
    "nearest": ("nearest", ".3f"),
    "stale": ("stale", "s"),
    "leaked": ("leaked", "s"),
    "memory_mb": ("memory MB", ",.0f"),
}
_TIMES = {
    "per_second": ("requests/s", ",.0f"),
    "p50_ms": ("P50 ms", ".1f"),
    "p95_ms": ("P95 ms", ".1f"),
    "p99_ms": ("P99 ms", ".1f"),
    "hits": ("hits", ".0%"),
    "processor_us": ("processor µs", ",.0f"),
    "ratio": ("Nearhit's requests/s to it", ".2f"),
}
SMALL_PEERS = (_WARDOWL, _CHROMA, _PGVECTOR)  # those that targets name


# Between filling and the first question: a small index is merged and analysed sooner.
_SETTLE_S, _SMALL_SETTLE_S = 90.0, 30.0


def compare_all(run: Run) -> Section:
    """All systems, 30,000 passages."""
    rows, settle_s = run.sized((30_000, _SETTLE_S), (2_000, 0.0))
    compared = side_by_side.compare(run, rows, run.picked([*OTHERS]), settle_s)
    how = "\n".join(f"- *{row.peer.name}:* {row.peer.how}." for row in compared.rows)
    targets = list(bars(compared.rows, compared.rows_in_all))
    return _section("Side by side", run, compared, how, targets)


def compare_small(run: Run) -> Section:
    """Those that targets name, 2,000 passages."""
    rows, settle_s = run.sized((2_000, _SMALL_SETTLE_S), (500, 0.0))
    compared = side_by_side.compare(run, rows, run.picked(SMALL_PEERS), settle_s)
    how = "The systems are set up as above."
    targets = list(small_bars(compared.rows, compared.rows_in_all))
    return _section("A small index", run, compared, how, targets)


def bars(rows: Sequence[PeerResult], rows_in_all: int) -> Iterator[Bar]:
    """The targets that the line-up allows; the one to pgvector depends on the rows in all."""
    by_name = {row.peer.name: row for row in rows}
    own = by_name[nearhit.NAME]
    for name, times in _MIX_TO.items():
        if name in by_name:
            ratio = own.mix.ratio_to(by_name[name].mix)
            yield Bar(f"capacity on the mix, to that of {name}", ratio, at_least=times)
    for name, times in _COLD_TO.items():
        if name in by_name:
            yield _cold_bar(own, by_name[name], times)
    for name in (_CHROMA, _LANCE):
        if name in by_name:
            recall = own.quality.nearest - by_name[name].quality.nearest
            yield Bar(f"recall@10 of the nearest above {name}'s", recall, at_least=0.0)
    yield from small_bars(rows, rows_in_all)


def small_bars(rows: Sequence[PeerResult], rows_in_all: int) -> Iterator[Bar]:
    """The target to pgvector, if there is one for so many rows, and those that always hold."""
    by_name = {row.peer.name: row for row in rows}
    if _PGVECTOR in by_name and rows_in_all in _COLD_TO_PGVECTOR:
        times = _COLD_TO_PGVECTOR[rows_in_all]
        yield _cold_bar(by_name[nearhit.NAME], by_name[_PGVECTOR], times)
    hits = by_name[nearhit.NAME].cold.hits
    yield Bar("share of Nearhit's new questions that a cache answered", hits, at_most=0.0)
    rights = by_name[nearhit.NAME].rights
    yield Bar(f"{nearhit.NAME}: stale answers", float(rights.stale), at_most=0.0)
    yield Bar(f"{nearhit.NAME}: rows leaked", float(rights.leaked), at_most=0.0)


def _cold_bar(own: PeerResult, other: PeerResult, times: float) -> Bar:
    ratio = own.cold.ratio_to(other.cold)
    return Bar(f"new questions a second, to those of {other.peer.name}", ratio, at_least=times)


def _section(
    title: str, run: Run, compared: PeerComparison, how: str, targets: Sequence[Bar]
) -> Section:
    found = {row.peer.name: _found(row) for row in compared.rows}
    cold = _timed({row.peer.name: row.cold for row in compared.rows})
    mix = _timed({row.peer.name: row.mix for row in compared.rows})
    parts = [
        _notes(run, compared),
        f"**What is found, and what should not be**\n\n{figure_table('', found, _FOUND)}",
        f"**New questions alone**\n\n{figure_table('', cold, _TIMES)}",
        f"**The mix**\n\n{figure_table('', mix, _TIMES)}",
        how,
    ]
    figures = {name: {"found": found[name], "cold": cold[name], "mix": mix[name]} for name in found}
    return Section(title, "\n\n".join(parts), figures, targets)


def _notes(run: Run, compared: PeerComparison) -> str:
    built = compared.world
    rounds, seconds, connections = side_by_side.turn_sizes(run)
    sizes = [len(visible) for visible in built.visible]
    what = (
        "of public sets" if run.data_folder is not None else "generated from common English words"
    )
    return (
        f"{len(built.texts):,} passages {what}, {built.embedded.shape[1]} dimensions, of "
        f"{len(set(built.tenants))} tenants by Zipf's law, each passage for one or two of "
        f"{GROUPS} groups and three in ten for the whole tenant; {len(built.callers)} callers of "
        f"two groups each, who may read {min(sizes):,} to {max(sizes):,} passages and ask as much "
        f"as their tenants are large.\n"
        "All systems hold the same passages and vectors, are asked the same questions by the same "
        "callers in the same order, over HTTP on the same machine, and give ten hits with their "
        "texts.\n"
        f"{connections} connections send requests in a closed loop, in {rounds} rounds of turns of "
        f"{seconds:g} s; medians of the rounds, ratios within a round.\n"
        f"In the mix {world.REPEATS:.0%} of the requests are repeats by Zipf's law, by the caller "
        "that asked before; a new question is one that its caller has not asked.\n"
        "nDCG@10 and recall@10 count the passages that the judgements name and the caller may "
        "read; nearest is the recall@10 of the nearest vectors that it may read, by brute force.\n"
        f"{compared.checks} rows are edited and {compared.checks} others withdrawn from all "
        "readers; each was just found, and is searched for again as soon as the write is "
        "acknowledged.\n"
        "Processor time is that of a system's own processes and of the databases, a request.\n"
        "Memory is that of a system's own processes, Nearhit's with its Redis, and not that of "
        "PostgreSQL, which several share and which has "
        f"{compared.database_mb:,.0f} MB with what all of them keep in it."
    )


def _found(row: PeerResult) -> dict[str, Any]:
    return {
        **asdict(row.quality),
        "stale": f"{row.rights.stale} of {row.rights.edited}",
        "leaked": f"{row.rights.leaked} of {row.rights.revoked}",
        "memory_mb": row.memory_mb,
    }


def _timed(turns_by_name: Mapping[str, Turns]) -> dict[str, dict[str, float]]:
    own = turns_by_name[nearhit.NAME]
    return {
        name: {
            **turns.figures,
            **{f"p{each}_ms": turns.whole.percentile_ms(each) for each in (50, 95, 99)},
            "ratio": own.ratio_to(turns),
        }
        for name, turns in turns_by_name.items()
    }
