"""What a system finds under rights: how good it is, whether it is stale, and whether it leaks."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from random import Random
from statistics import fmean

import numpy as np
import uvloop

from loadtests.bench_index import measures
from loadtests.bench_index.systems import vectors
from loadtests.bench_peers.systems.peer import Peer, PeerHit, PeerQuestion, vector
from loadtests.bench_peers.world import PeerWorld, TraceStep
from loadtests.load import closed_loop

_CONNECTIONS = 4
_QUESTION_WORDS = 12  # the first of a passage, which find it
_NOBODY = ("group:nobody",)


@dataclass(frozen=True, slots=True)
class Quality:
    """ndcg, judged: nDCG@10 and recall@10 of what the judgements name and the caller may read.

    nearest: recall@10 of the visible rows whose vectors are nearest.
    """

    ndcg: float
    judged: float
    nearest: float


@dataclass(frozen=True, slots=True)
class RightsCheck:
    """stale, leaked: of so many checked, whose row was in the answer before the write."""

    edited: int
    stale: int
    revoked: int
    leaked: int


@dataclass(frozen=True, slots=True)
class _Case:
    row: int
    asked: PeerQuestion


def quality(
    peer: Peer, world: PeerWorld, asks: Sequence[TraceStep], questions: Sequence[PeerQuestion]
) -> Quality:
    rows_found = _rows(peer, [peer.request(question) for question in questions])
    nearest = _rows(peer, [peer.nearest(question) for question in questions])
    judged = measures.of(
        ([str(row) for row in rows] for rows in rows_found),
        (world.relevant(ask.caller, ask.question) for ask in asks),
    )
    recalled = zip(asks, nearest, strict=True)
    return Quality(
        ndcg=judged["ndcg"].mean,
        judged=judged["recall"].mean,
        nearest=fmean(world.recall(ask.caller, ask.question, rows) for ask, rows in recalled),
    )


def rights(peer: Peer, world: PeerWorld, count: int, *, seed: int) -> RightsCheck:
    """So many rows edited and as many others withdrawn; each is asked for twice, then once more."""
    cases = _cases(world, seed)
    edits = [_still_old(peer, world, case) for case in islice(cases, count)]
    withdrawals = [_still_there(peer, case) for case in islice(cases, count)]
    edited = [old for old in edits if old is not None]
    revoked = [is_there for is_there in withdrawals if is_there is not None]
    assert edited, f"{peer.name} finds no row by its own words"
    assert revoked, f"{peer.name} finds no row by its own words"
    return RightsCheck(len(edited), sum(edited), len(revoked), sum(revoked))


def _rows(peer: Peer, requests: Sequence[bytes]) -> list[list[int]]:
    answers = uvloop.run(closed_loop.send_all(peer.url, requests, connections=_CONNECTIONS))
    return [peer.rows(answer) for answer in answers]


def _cases(world: PeerWorld, seed: int) -> Iterator[_Case]:
    random = Random(seed)  # noqa: S311  no secret
    met: set[int] = set()
    while True:
        caller = random.randrange(len(world.callers))
        row = int(random.choice(world.visible[caller]))
        if row not in met:
            met.add(row)
            text = " ".join(world.texts[row].split()[:_QUESTION_WORDS])
            embedded = vector(np.asarray(vectors.embed([text])[0]))
            yield _Case(row, PeerQuestion(caller, text, embedded))


def _still_old(peer: Peer, world: PeerWorld, case: _Case) -> bool | None:
    """None if the row is not among the hits to begin with."""
    if _hit(peer, case) is None or _hit(peer, case) is None:
        return None
    marker = f"edited for {peer.name}"
    peer.edit(case.row, f"{world.texts[case.row]} {marker}")
    hit = _hit(peer, case)
    return hit is not None and marker not in hit.text


def _still_there(peer: Peer, case: _Case) -> bool | None:
    if _hit(peer, case) is None or _hit(peer, case) is None:
        return None
    peer.restrict(case.row, _NOBODY)
    return _hit(peer, case) is not None


def _hit(peer: Peer, case: _Case) -> PeerHit | None:
    requests = [peer.request(case.asked)]
    (answer,) = uvloop.run(closed_loop.send_all(peer.url, requests, connections=1))
    return next((hit for hit in peer.found(answer.body) if hit.row == case.row), None)
