"""How good answers are under rights: by judgements, and by the nearest rows themselves."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

import uvloop

from loadtests.bench_index import measures
from loadtests.bench_peers.systems.peer import Peer, PeerQuestion
from loadtests.bench_peers.trace import TraceStep
from loadtests.bench_peers.world import PeerWorld
from loadtests.load import closed_loop

_CONNECTIONS = 4


@dataclass(frozen=True, slots=True)
class Quality:
    """ndcg, judged: nDCG@10 and recall@10 of what the judgements name and the caller may read.

    nearest: recall@10 of the visible rows whose vectors are nearest.
    """

    ndcg: float
    judged: float
    nearest: float


def measure(
    peer: Peer, world: PeerWorld, asks: Sequence[TraceStep], questions: Sequence[PeerQuestion]
) -> Quality:
    rows_found = _rows(peer, [peer.request(question) for question in questions])
    nearest = _rows(peer, [peer.nearest(question) for question in questions])
    judged = measures.of(
        ([str(row) for row in rows] for rows in rows_found),
        (world.relevant(ask.caller, ask.question) for ask in asks),
    )
    return Quality(
        ndcg=judged["ndcg"].mean,
        judged=judged["recall"].mean,
        nearest=fmean(
            world.recall(ask.caller, ask.question, rows)
            for ask, rows in zip(asks, nearest, strict=True)
        ),
    )


def _rows(peer: Peer, requests: Sequence[bytes]) -> list[list[int]]:
    answers = uvloop.run(closed_loop.send_all(peer.url, requests, connections=_CONNECTIONS))
    return [peer.rows(answer) for answer in answers]
