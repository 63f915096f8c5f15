"""Stale answers right after an edit, and rows that are still found right after a revocation."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from random import Random

import numpy as np
import uvloop

from loadtests.bench_index.systems import vectors
from loadtests.bench_peers.systems.peer import Peer, PeerHit, PeerQuestion, vector
from loadtests.bench_peers.world import PeerWorld
from loadtests.load import closed_loop

_QUESTION_WORDS = 12  # the first of a passage, which find it
_NOBODY = ("group:nobody",)


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


def check(peer: Peer, world: PeerWorld, count: int, *, seed: int) -> RightsCheck:
    """So many rows edited and as many others withdrawn; each is asked for twice, then once more."""
    cases = _cases(world, seed)
    edits = [_still_old(peer, world, case) for case in islice(cases, count)]
    withdrawals = [_still_there(peer, case) for case in islice(cases, count)]
    edited = [old for old in edits if old is not None]
    revoked = [is_there for is_there in withdrawals if is_there is not None]
    assert edited, f"{peer.name} finds no row by its own words"
    assert revoked, f"{peer.name} finds no row by its own words"
    return RightsCheck(len(edited), sum(edited), len(revoked), sum(revoked))


def _cases(world: PeerWorld, seed: int) -> Iterator[_Case]:
    random = Random(seed)  # noqa: S311  no secret
    met: set[int] = set()
    while True:
        caller = random.randrange(len(world.callers))
        row = int(random.choice(world.visible[caller]))
        if row not in met:
            met.add(row)
            text = " ".join(world.texts[row].split()[:_QUESTION_WORDS])
            yield _Case(
                row, PeerQuestion(caller, text, vector(np.asarray(vectors.embed([text])[0])))
            )


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
