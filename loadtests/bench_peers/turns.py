"""Time, in turns: a round is a turn of each system with new questions alone and one with the mix.

Other work on the machine affects all of them, so ratios are taken within a round.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import median

import uvloop
from rich.progress import Progress

from loadtests.bench_peers import trace
from loadtests.bench_peers.systems.peer import Peer, PeerQuestion
from loadtests.bench_peers.trace import TraceStep
from loadtests.load import closed_loop
from loadtests.load.closed_loop import ClosedLoopResult
from loadtests.load.latencies import Latencies

CONNECTIONS = 8  # as the bars say
_COLD_SEED, _MIX_SEED = 41, 43


@dataclass(frozen=True, slots=True)
class TurnResults:
    """The turns of one system with one kind of requests, the first round left out."""

    turns: Sequence[ClosedLoopResult]

    @property
    def per_second(self) -> float:
        return median(turn.per_second for turn in self.turns)

    @property
    def hits(self) -> float:
        return sum(turn.hits for turn in self.turns) / sum(turn.count for turn in self.turns)

    def percentile_ms(self, percentile: float) -> float:
        latencies = Latencies()
        for turn in self.turns:
            latencies.merge(turn.latencies)
        return latencies.percentile_ms(percentile)

    def capacity_to(self, other: "TurnResults") -> float:
        """The median over the rounds of this one's requests a second to the other's."""
        rounds = zip(self.turns, other.turns, strict=True)
        return median(own_turn.per_second / theirs.per_second for own_turn, theirs in rounds)


@dataclass(frozen=True, slots=True)
class PeerTimes:
    cold: TurnResults
    mix: TurnResults


def take(
    peers: Sequence[Peer],
    weights: Sequence[float],
    questions: Mapping[str, range],
    question_of: Callable[[TraceStep], PeerQuestion],
    *,
    rounds: int,
    seconds: float,
    progress: Progress,
) -> dict[str, PeerTimes]:
    """By system. questions: those that are asked when `cold`, and those of the `mix`."""
    requests = {
        peer.name: (
            _requests(peer, question_of, trace.fresh(weights, questions["cold"], _COLD_SEED)),
            _requests(peer, question_of, trace.mix(weights, questions["mix"], _MIX_SEED)),
        )
        for peer in peers
    }
    turns: dict[str, tuple[list[ClosedLoopResult], list[ClosedLoopResult]]] = {
        peer.name: ([], []) for peer in peers
    }
    for number in progress.track(range(rounds + 1), description="rounds"):
        for peer in peers:
            for bodies, outcomes in zip(requests[peer.name], turns[peer.name], strict=True):
                run = closed_loop.run(peer.url, bodies, connections=CONNECTIONS, seconds=seconds)
                outcome = uvloop.run(run)
                if number:  # the first round warms up
                    outcomes.append(outcome)
    return {
        name: PeerTimes(TurnResults(cold), TurnResults(mix)) for name, (cold, mix) in turns.items()
    }


def _requests(
    peer: Peer, question_of: Callable[[TraceStep], PeerQuestion], asks: Iterator[TraceStep]
) -> Iterator[bytes]:
    return (peer.request(question_of(ask)) for ask in asks)
