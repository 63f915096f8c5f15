"""Answers that a cache gave to questions never asked before, and whether they were right.

An answer is wrong if its top hit is not among the fresh answer's first three, or fewer than half of
the fresh hits are in it.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import uvloop

from loadtests.bench_peers.systems.peer import Peer, PeerQuestion
from loadtests.load import closed_loop
from loadtests.load.response import HttpResponse

_TOP = 3
_CONNECTIONS = 4


@dataclass(frozen=True, slots=True)
class Similar:
    asked: int
    hits: int
    wrong: int


def check(peer: Peer, questions: Sequence[PeerQuestion]) -> Similar | None:
    """None of a system that serves no similar questions."""
    fresh_body = peer.fresh_body
    if fresh_body is None:
        return None
    answers = _ask(peer, [peer.request(question) for question in questions])
    hits = [
        (question, answer)
        for question, answer in zip(questions, answers, strict=True)
        if answer.is_hit
    ]
    fresh = _ask(peer, [peer.encoded(question, fresh_body) for question, _ in hits])
    wrong = sum(
        is_wrong(peer.rows(answer), peer.rows(right))
        for (_, answer), right in zip(hits, fresh, strict=True)
    )
    return Similar(len(questions), len(hits), wrong)


def is_wrong(answered: Sequence[int], fresh: Sequence[int]) -> bool:
    if not answered or not fresh:
        return bool(answered) != bool(fresh)
    return answered[0] not in fresh[:_TOP] or 2 * len(set(answered) & set(fresh)) < len(fresh)


def _ask(peer: Peer, requests: Sequence[bytes]) -> list[HttpResponse]:
    return uvloop.run(closed_loop.send_all(peer.url, requests, connections=_CONNECTIONS))
