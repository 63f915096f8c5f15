"""The latency of searches without a cache, beside systems with the same vectors and filter.

The systems take turns; in a round each gets the same questions, so that other work on the machine
affects all of them.
"""

import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean, median
from typing import Any

import numpy as np
from chromadb.api import ClientAPI
from rich.progress import Progress

from loadtests.bench.section import Bar, Section, table
from loadtests.bench_index import world
from loadtests.bench_index.measures import DEPTH
from loadtests.bench_index.options import IndexRun
from loadtests.bench_index.systems import chroma, lance
from loadtests.bench_index.world import TenantWorld
from loadtests.servers import service
from loadtests.workload.tenant_client import new_tenant

_TURN_QUESTIONS = 100
_WARM_UP_QUESTIONS = 100
_RECALL_QUESTIONS = 100
_SETTLE_S = 90.0  # what has just been filled is still being vacuumed, which looks each minute

Search = Callable[[str, int], Sequence[int]]  # a tenant and a question's number to rows


@dataclass(frozen=True, slots=True)
class System:
    """search: what is timed. nearest: what its recall is of; None if no part of it is exact."""

    search: Search
    nearest: Search | None


@dataclass(frozen=True, slots=True)
class SystemLatencies:
    """turns_ms: what each search took, turn by turn."""

    turns_ms: Sequence[Sequence[float]]
    recall: float | None

    def percentile_ms(self, percent: float) -> float:
        return float(np.percentile(np.concatenate(self.turns_ms), percent))

    def ratio_to(self, other: "SystemLatencies") -> float:
        """The median over the rounds of this one's P99 to the other's in the same round."""
        rounds = zip(self.turns_ms, other.turns_ms, strict=True)
        return median(
            float(np.percentile(own_turn, 99) / np.percentile(theirs, 99))
            for own_turn, theirs in rounds
        )


Results = Mapping[int, Mapping[str, SystemLatencies]]  # by visible passages, then by system


def measure(run: IndexRun) -> Section:
    questions = _WARM_UP_QUESTIONS + run.options.rounds * _TURN_QUESTIONS
    run.console.print("embedding the passages")
    # Each size has questions of its own: a process may keep what it learnt from the other's.
    built = world.build(run.data, len(world.ASKED) * questions)
    with run.progress() as progress, _systems(built, progress) as systems:
        results: dict[int, Mapping[str, SystemLatencies]] = {}
        for position, (visible, tenant) in enumerate(world.ASKED.items()):
            numbers = range(position * questions, (position + 1) * questions)
            turns_ms = _turns(systems, tenant, numbers, progress)
            results[visible] = {
                name: SystemLatencies(turns_ms[name], _recall(built, tenant, system, numbers))
                for name, system in systems.items()
            }
    return Section(
        title="Time beside others",
        text=_text(built, results),
        figures={
            str(visible): {name: _figures(outcome) for name, outcome in by_system.items()}
            for visible, by_system in results.items()
        },
        bars=list(_bars(results)),
    )


@contextmanager
def _systems(built: TenantWorld, progress: Progress) -> Iterator[Mapping[str, System]]:
    """All of them, filled; they run side by side, and are asked in turns."""
    with ExitStack() as stack:
        nearhit_system = stack.enter_context(_nearhit(built, progress))
        task = progress.add_task("filling the others", total=2)
        chroma_system = _chroma(built, stack.enter_context(chroma.server()).client)
        progress.advance(task)
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="bench-lance-"))
        rows = lance.filled(Path(folder), built.tenants, built.texts, built.embedded)
        progress.advance(task)
        time.sleep(_SETTLE_S)
        yield {
            "Nearhit": nearhit_system,
            "Chroma, dense": chroma_system,
            "LanceDB, dense": _lance_dense(built, rows),
            "LanceDB, hybrid": System(
                lambda tenant, number: rows.hybrid(
                    tenant, built.questions[number], built.embedded_questions[number]
                ),
                None,
            ),
        }


@contextmanager
def _nearhit(built: TenantWorld, progress: Progress) -> Iterator[System]:
    task = progress.add_task("filling Nearhit", total=len(built.texts))
    with ExitStack() as stack:
        gateway = stack.enter_context(service.nearhit())
        tenants = {}
        for name in dict.fromkeys(built.tenants):
            tenants[name] = stack.enter_context(new_tenant(gateway, name))
            rows = built.rows_of(name)
            documents = [
                {"document_id": str(row), "text": built.texts[row], "language": "en"}
                for row in rows
            ]
            chunks = tenants[name].put(documents, lambda count: progress.advance(task, count))
            assert chunks == len(rows), "each passage is one chunk"

        def search(tenant: str, number: int, **options: Any) -> list[int]:
            question = built.questions[number]
            hits = tenants[tenant].search_uncached(question, top_k=DEPTH, **options)
            return [int(hit["document_id"]) for hit in hits]

        yield System(search, lambda tenant, number: search(tenant, number, alpha=1))


def _chroma(built: TenantWorld, client: ClientAPI) -> System:
    metadata = [{"tenant": tenant} for tenant in built.tenants]
    collection = chroma.filled(client, built.embedded, metadata)

    def search(tenant: str, number: int) -> list[int]:
        answer = collection.query(
            query_embeddings=built.embedded_questions[number],
            n_results=DEPTH,
            where={"tenant": tenant},
            include=["distances"],
        )
        return [int(row) for row in answer["ids"][0]]

    return System(search, search)


def _lance_dense(built: TenantWorld, rows: lance.Table) -> System:
    def search(tenant: str, number: int) -> list[int]:
        return rows.dense(tenant, built.embedded_questions[number])

    return System(search, search)


def _turns(
    systems: Mapping[str, System], tenant: str, numbers: range, progress: Progress
) -> dict[str, list[list[float]]]:
    """What each search took in milliseconds, by system and by turn, the warm-up left out."""
    turns_ms: dict[str, list[list[float]]] = {name: [] for name in systems}
    warm_up, timed_numbers = numbers[:_WARM_UP_QUESTIONS], numbers[_WARM_UP_QUESTIONS:]
    for system in systems.values():
        _turn(system, tenant, warm_up)
    starts = range(0, len(timed_numbers), _TURN_QUESTIONS)
    for start in progress.track(starts, description=f"asking {tenant}"):
        for name, system in systems.items():
            turns_ms[name].append(
                _turn(system, tenant, timed_numbers[start : start + _TURN_QUESTIONS])
            )
    return turns_ms


def _turn(system: System, tenant: str, numbers: range) -> list[float]:
    took_ms = []
    for number in numbers:
        started_s = time.perf_counter()
        system.search(tenant, number)
        took_ms.append((time.perf_counter() - started_s) * 1000)
    return took_ms


def _recall(built: TenantWorld, tenant: str, system: System, numbers: range) -> float | None:
    if system.nearest is None:
        return None
    return fmean(
        built.recall(tenant, number, system.nearest(tenant, number))
        for number in numbers[:_RECALL_QUESTIONS]
    )


def _text(built: TenantWorld, results: Results) -> str:
    tables = [
        f"**{visible:,} passages visible**\n\n{_table(by_system)}"
        for visible, by_system in results.items()
    ]
    notes = (
        f"{len(built.texts):,} passages of {len(set(built.tenants))} tenants by Zipf's law, each "
        f"passage one chunk, the ten best asked for by one caller at a time, in turns of "
        f"{_TURN_QUESTIONS} questions.\n"
        "No question is asked twice, and no answer of Nearhit's comes from a cache "
        "(`Cache-Status` is looked at).\n"
        "Nearhit's time holds all of a request: HTTP, the key, the revision, embedding the "
        "question, both legs, fusion and the texts of the hits.\n"
        f"Filled systems are left alone for {_SETTLE_S:.0f} s before the first question.\n"
        "The others are handed the finished vector, check no caller, and give no texts back but "
        "LanceDB in hybrid search.\n"
        "Recall@10 is the dense leg's, against brute force; a passage within 0.001 of the tenth "
        "counts."
    )
    how = (
        f"- *Nearhit:* one worker, one tenant each, `POST /v1/search` at its defaults; recall with "
        f"`alpha` 1.\n- *Chroma:* {chroma.HOW_TIMED}.\n- *LanceDB:* {lance.HOW}."
    )
    return "\n\n".join([notes, *tables, how])


def _table(by_system: Mapping[str, SystemLatencies]) -> str:
    ours = by_system["Nearhit"]
    rows = [
        (
            name,
            f"{outcome.percentile_ms(50):.1f}",
            f"{outcome.percentile_ms(99):.1f}",
            f"{ours.ratio_to(outcome):.2f}",
            "" if outcome.recall is None else f"{outcome.recall:.3f}",
        )
        for name, outcome in by_system.items()
    ]
    return table(("", "P50 ms", "P99 ms", "Nearhit's P99 to it", "recall@10"), rows)


def _figures(outcome: SystemLatencies) -> dict[str, float | None]:
    return {
        "p50_ms": outcome.percentile_ms(50),
        "p99_ms": outcome.percentile_ms(99),
        "recall": outcome.recall,
    }


def _bars(results: Results) -> Iterator[Bar]:
    for visible, by_system in results.items():
        ours = by_system["Nearhit"]
        for name, outcome in by_system.items():
            if outcome is ours:
                continue
            what = f"{visible:,} visible: Nearhit's P99 to that of {name} (median of rounds)"
            yield Bar(what, ours.ratio_to(outcome), at_most=1.0)
            if outcome.recall is not None:
                assert ours.recall is not None
                what = f"{visible:,} visible: recall@10 above that of {name}"
                yield Bar(what, ours.recall - outcome.recall, at_least=0.0)
