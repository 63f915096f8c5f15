"""The figures of shards as a page: what they take to load, and what questions and edits cost."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from loadtests.bench.section import table
from loadtests.bench_growth.probe import RequestCost
from loadtests.bench_growth.shards.edits import EditCost, EditDifference

# The servers, as the page and the JSON name them.
SHARDS, WITHOUT, BARE = "with shards", "without", "bare app"

_LOADS = (
    "A [shard](../design/answering.md#from-memory) is a tenant in a gateway's "
    "memory. For each size, a new gateway loads one tenant with so many chunks. The time is from "
    "the third search, which begins the loading, until the tenant is in memory; it is read every "
    "20 ms. The bytes of a shard are those that count against `NEARHIT_SHARD_BYTES_MAX`. Those of "
    "the process are the growth of its memory, including what the allocator keeps after loading."
)
_LOADS_HEAD = ("chunks", "seconds to load", "bytes a chunk, shard", "bytes a chunk, process")
_NEW = (
    "**New questions.** One connection in a closed loop asks in {turns} turns each: the gateway "
    "with the shard, a gateway without shards on the same database (`NEARHIT_SHARD_BYTES_MAX=0`), "
    "and a bare Starlette app that parses the body and returns the bytes of such an answer."
)
_NEW_HEAD = (
    "chunks, server",
    "requests/s",
    "P50 ms",
    "P99 ms",
    "P50 to the bare app's",
    "gateway µs",
    "PostgreSQL µs",
)
_EDITS = (
    "**Edits.** {edits} times through each of the two gateways, in turns, a caller on one "
    "connection searches, edits a sentence of a document of one chunk, and searches again. All "
    "questions are new, and the first search is at a revision that the gateway has searched "
    "before. Medians. *More* is the median over the turns of how much longer the edit and the "
    "search after it take with shards."
)
_EDITS_HEAD = (
    "chunks, gateway",
    "search before ms",
    "edit ms",
    "search after ms",
    "edit and search after ms",
    "more ms",
    "SQL statements",
    "Redis commands",
)
_STATEMENTS = (
    "The SQL statements are those of the edit and of the search after it, without those that begin "
    "and end transactions; `resident.changes` runs in a transaction of four commands. The Redis "
    "commands include those of scripts. The statements that are not the same, of {chunks:,} chunks:"
)


@dataclass(frozen=True, slots=True)
class ShardFigures:
    """Of one size of tenant.

    load_s: from the third search until the tenant is in memory.
    shard_bytes: for each chunk, as the gateway counts them. process_bytes: for each chunk, what the
    gateway's process grew by.
    new: the cost of a new question by server.
    """

    load_s: float
    shard_bytes: float
    process_bytes: float
    new: Mapping[str, RequestCost]
    edit: EditDifference


def text(by_size: Mapping[int, ShardFigures], *, turns: int, edits: int) -> str:
    loaded, asked = table(_LOADS_HEAD, _loads(by_size)), table(_NEW_HEAD, [*_new(by_size)])
    edited = table(_EDITS_HEAD, [*_edits(by_size)])
    smallest = min(by_size)
    statements = "\n".join(_statements(by_size[smallest].edit))
    return "\n\n".join(
        [
            _LOADS,
            loaded,
            _NEW.format(turns=turns),
            asked,
            _EDITS.format(edits=edits),
            edited,
            _STATEMENTS.format(chunks=smallest),
            statements,
        ]
    )


def _loads(by_size: Mapping[int, ShardFigures]) -> list[Sequence[str]]:
    return [
        (
            f"{size:,}",
            f"{figures.load_s:.2f}",
            f"{figures.shard_bytes:,.0f}",
            f"{figures.process_bytes:,.0f}",
        )
        for size, figures in by_size.items()
    ]


def _new(by_size: Mapping[int, ShardFigures]) -> Iterator[Sequence[str]]:
    for size, figures in by_size.items():
        bare = figures.new[BARE]
        for name, cost in figures.new.items():
            yield (
                f"{size:,}, {name}",
                f"{cost.per_second:,.0f}",
                f"{cost.p50_ms:.2f}",
                f"{cost.p99_ms:.2f}",
                f"{cost.p50_ms / bare.p50_ms:.1f}",
                f"{cost.gateway_us:,.0f}",
                f"{cost.database_us:,.0f}",
            )


def _edits(by_size: Mapping[int, ShardFigures]) -> Iterator[Sequence[str]]:
    for size, figures in by_size.items():
        yield _edit(f"{size:,}, {SHARDS}", figures.edit.shards, f"{figures.edit.more_ms:+.2f}")
        yield _edit(f"{size:,}, {WITHOUT}", figures.edit.without, "")


def _edit(label: str, cost: EditCost, more: str) -> Sequence[str]:
    return (
        label,
        f"{cost.before_ms:.2f}",
        f"{cost.write_ms:.2f}",
        f"{cost.search_ms:.2f}",
        f"{cost.total_ms:.2f}",
        more,
        f"{sum(cost.statements.values()):g}",
        f"{cost.redis_commands:g}",
    )


def _statements(edit: EditDifference) -> Iterator[str]:
    same = edit.shards.statements.items() & edit.without.statements.items()
    for name, cost in ((SHARDS, edit.shards), (WITHOUT, edit.without)):
        others = sorted(cost.statements.items() - same)
        counted = ", ".join(f"{times:g} `{statement}`" for statement, times in others)
        yield f"- *{name}:* {counted or 'none'}."
