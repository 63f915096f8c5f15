"""The comparison: quality, time in turns, edits, revocations, processes."""

import os
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from itertools import islice
from pathlib import Path

from rich.progress import Progress

from loadtests.bench import turns
from loadtests.bench.frame import Run
from loadtests.bench.turns import Case, Turns, TurnSizes
from loadtests.bench_peers import checks, world
from loadtests.bench_peers.checks import Quality, RightsCheck
from loadtests.bench_peers.systems import nearhit
from loadtests.bench_peers.systems.peer import Peer, PeerQuestion, PeerSetup, vector
from loadtests.bench_peers.world import PeerWorld, TraceStep
from loadtests.servers import processes, service
from loadtests.servers.processes import Processes
from loadtests.servers.service import Service

_CONNECTIONS = 8  # as the bars say
_QUALITY_SEED, _COLD_SEED, _MIX_SEED = 47, 41, 43
_RIGHTS_SEED = 101  # of the first system; each has rows of its own, some share their documents
# Of each ten questions: which are asked for quality, when cold, and in the mix.
_SHARES = {"quality": (0, 2), "cold": (2, 5), "mix": (5, 9)}
# The module of each, which is imported if the system is chosen.
OTHERS: Mapping[str, str] = {
    "wardowl": "wardowl_server",
    "Chroma": "chroma",
    "LanceDB": "lance",
    "pgvector": "naive_pgvector",
}


@dataclass(frozen=True, slots=True)
class PeerResult:
    """One system's figures. cold: with new questions alone."""

    peer: Peer
    quality: Quality
    cold: Turns
    mix: Turns
    rights: RightsCheck
    memory_mb: float


@dataclass(frozen=True, slots=True)
class PeerComparison:
    """rows_in_all: that were wanted. database_mb: of PostgreSQL, with all that is kept in it.

    checks: rows that each system edited, and rows that it withdrew.
    """

    world: PeerWorld
    rows_in_all: int
    checks: int
    rows: Sequence[PeerResult]
    database_mb: float


def turn_sizes(run: Run) -> TurnSizes:
    return TurnSizes(run.sized(5, 1), 3.0, _CONNECTIONS)


def compare(run: Run, rows: int, names: Sequence[str], settle_s: float) -> PeerComparison:
    """rows: of all tenants together. names: of the systems beside Nearhit.

    settle_s: how long the filled systems are left alone before the first question.
    """
    run.console.print("embedding the passages")
    built = world.build(run.data_folder, rows)
    with (
        run.progress() as progress,
        service.nearhit(service.COMPARE_ALL) as gateway,
        _started(built, gateway, names, progress) as peers,
    ):
        time.sleep(settle_s)
        return _compared(run, built, rows, gateway, peers, progress)


@contextmanager
def _started(
    built: PeerWorld, gateway: Service, names: Sequence[str], progress: Progress
) -> Iterator[Sequence[Peer]]:
    """The systems, filled; Nearhit first."""
    os.environ.setdefault("LANCE_LOG", "error")  # LanceDB warns at every search
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="bench-peers-")))
        setup = PeerSetup(built, gateway.database_url, folder)
        peers = [stack.enter_context(nearhit.filled(built, gateway))]
        for name in progress.track(names, description="filling the others"):
            system = import_module(f"loadtests.bench_peers.systems.{OTHERS[name]}")
            peers.append(stack.enter_context(system.started(setup)))
        yield peers


def _compared(
    run: Run,
    built: PeerWorld,
    rows_in_all: int,
    gateway: Service,
    peers: Sequence[Peer],
    progress: Progress,
) -> PeerComparison:
    vectors = [vector(embedded) for embedded in built.embedded_questions]

    def asked(ask: TraceStep) -> PeerQuestion:
        return PeerQuestion(ask.caller, built.questions[ask.question].text, vectors[ask.question])

    whole = len(built.questions) // 10
    parts = {name: range(at * whole, to * whole) for name, (at, to) in _SHARES.items()}
    sizes = Counter(built.tenants)
    weights = [float(sizes[caller.tenant]) for caller in built.callers]
    questions, checked_rows = run.sized((400, 50), (100, 10))
    answered = list(islice(_answerable(built, weights, parts["quality"]), questions))
    task = progress.add_task("asking for quality", total=len(peers))
    good = {}
    for peer in peers:
        good[peer.name] = checks.quality(peer, built, answered, list(map(asked, answered)))
        progress.advance(task)
    cases = _cases(peers, gateway, weights, parts, asked)
    times = turns.take(cases, progress, turn_sizes(run))
    task = progress.add_task("edits, revocations", total=len(peers))
    rows = []
    for seed, peer in enumerate(peers, start=_RIGHTS_SEED):
        taken_mb = processes.megabytes(_processes(peer, gateway))
        checked = checks.rights(peer, built, checked_rows, seed=seed)
        cold, mix = times["cold", peer.name], times["mix", peer.name]
        rows.append(PeerResult(peer, good[peer.name], cold, mix, checked, taken_mb))
        progress.advance(task)
    database_mb = processes.megabytes(processes.database(gateway))
    return PeerComparison(built, rows_in_all, checked_rows, rows, database_mb)


def _cases(
    peers: Sequence[Peer],
    gateway: Service,
    weights: Sequence[float],
    parts: Mapping[str, range],
    asked: Callable[[TraceStep], PeerQuestion],
) -> dict[tuple[str, str], Case]:
    """By kind and system; the processor time is its own and that of the databases."""
    cases: dict[tuple[str, str], Case] = {}
    databases = partial(processes.database, gateway)
    for peer in peers:
        groups: list[Processes] = [partial(_processes, peer, gateway), databases]
        traces = {
            "cold": world.fresh(weights, parts["cold"], _COLD_SEED),
            "mix": world.mix(weights, parts["mix"], _MIX_SEED),
        }
        for kind, asks in traces.items():
            cases[kind, peer.name] = Case(peer.url, map(peer.request, map(asked, asks)), groups)
    return cases


def _answerable(
    built: PeerWorld, weights: Sequence[float], questions: range
) -> Iterator[TraceStep]:
    """What a caller asks that something which it may read answers."""
    asks = world.fresh(weights, questions, _QUALITY_SEED)
    return (ask for ask in asks if built.relevant(ask.caller, ask.question))


def _processes(peer: Peer, gateway: Service) -> list[int]:
    """With Nearhit counts the Redis that it alone uses."""
    if gateway.pid in peer.pids:
        return [*peer.pids, *processes.redis(gateway)]
    return list(peer.pids)
