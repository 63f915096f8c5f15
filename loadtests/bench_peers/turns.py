"""Time, in turns: a round is a turn of each system with new questions alone and one with the mix.

Other work on the machine affects all of them, so ratios are taken within a round.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from rich.progress import Progress

from loadtests.bench import turns
from loadtests.bench.turns import Case, Turns
from loadtests.bench_peers import trace
from loadtests.bench_peers.systems.peer import Peer, PeerQuestion
from loadtests.bench_peers.trace import TraceStep

CONNECTIONS = 8  # as the bars say
_COLD_SEED, _MIX_SEED = 41, 43


@dataclass(frozen=True, slots=True)
class PeerTimes:
    cold: Turns
    mix: Turns


def take(
    peers: Sequence[Peer],
    weights: Sequence[float],
    questions: Mapping[str, range],
    question_of: Callable[[TraceStep], PeerQuestion],
    processes: Callable[[Peer], Iterable[int]],
    *,
    rounds: int,
    seconds: float,
    progress: Progress,
) -> dict[str, PeerTimes]:
    """By system. questions: those that are asked when `cold`, and those of the `mix`.

    processes: of a system and of the databases that it uses.
    """
    cases: dict[str, Case] = {}
    for peer in peers:
        cold = trace.fresh(weights, questions["cold"], _COLD_SEED)
        mix = trace.mix(weights, questions["mix"], _MIX_SEED)
        for kind, asks in (("cold", cold), ("mix", mix)):
            cases[f"{kind} {peer.name}"] = _case(peer, question_of, asks, processes)
    taken = turns.take(cases, progress, rounds=rounds, seconds=seconds, connections=CONNECTIONS)
    return {
        peer.name: PeerTimes(taken[f"cold {peer.name}"], taken[f"mix {peer.name}"])
        for peer in peers
    }


def _case(
    peer: Peer,
    question_of: Callable[[TraceStep], PeerQuestion],
    asks: Iterator[TraceStep],
    processes: Callable[[Peer], Iterable[int]],
) -> Case:
    """Its requests go on from turn to turn."""
    requests = (peer.request(question_of(ask)) for ask in asks)
    return Case(peer.url, lambda: requests, lambda: processes(peer))
