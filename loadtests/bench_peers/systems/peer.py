"""A system under comparison: a server, filled, and how it is asked, edited and restricted."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import orjson
from numpy.typing import NDArray

from loadtests.bench_index.measures import DEPTH
from loadtests.load.request import RequestTemplate
from loadtests.load.response import HttpResponse


@dataclass(frozen=True, slots=True)
class PeerQuestion:
    """A question of a caller: what it says, and its vector for those who don't embed."""

    caller: int
    text: str
    vector: orjson.Fragment


@dataclass(frozen=True, slots=True)
class PeerHit:
    """A row in an answer. text: "" from a system that was not asked for texts."""

    row: int
    text: str


@dataclass(frozen=True, slots=True)
class Peer:
    """how:      it was set up, a sentence for the page.
    keys:        by caller.
    pids:        of its server, without a database that others use as well.
    body, found: what is sent, and what is in a body that came.
    recall_body: what is sent to have the nearest vectors alone; as `body` if they are all it finds.
    edit:        give a row another text, acknowledged when this returns.
    restrict:    say anew who reads a row, likewise.
    """

    name: str
    how: str
    url: str
    keys: Sequence[str]
    pids: Sequence[int]
    body: Callable[[PeerQuestion], bytes]
    found: Callable[[bytes], list[PeerHit]]
    edit: Callable[[int, str], None]
    restrict: Callable[[int, Sequence[str]], None]
    recall_body: Callable[[PeerQuestion], bytes] | None = None

    def request(self, question: PeerQuestion) -> bytes:
        """The whole request, head and all."""
        return self.encoded(question, self.body)

    def nearest(self, question: PeerQuestion) -> bytes:
        """The request for the nearest vectors alone."""
        return self.encoded(question, self.recall_body or self.body)

    def encoded(self, question: PeerQuestion, body: Callable[[PeerQuestion], bytes]) -> bytes:
        return RequestTemplate(self.url, self.keys[question.caller]).encode(body(question))

    def rows(self, answer: HttpResponse) -> list[int]:
        return [hit.row for hit in self.found(answer.body)][:DEPTH]


def vector(embedded: NDArray[np.float32]) -> orjson.Fragment:
    """As JSON, made once for all that are sent it."""
    return orjson.Fragment(orjson.dumps(embedded, option=orjson.OPT_SERIALIZE_NUMPY))
