"""A system under comparison: a server, filled, and how it is asked, edited and restricted."""

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

import asyncpg
import numpy as np
import orjson
import uvloop
from numpy.typing import NDArray

from loadtests.bench_index.measures import DEPTH
from loadtests.bench_peers.world import PeerWorld
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
        return self._encoded(question, self.body)

    def nearest(self, question: PeerQuestion) -> bytes:
        """The request for the nearest vectors alone."""
        return self._encoded(question, self.recall_body or self.body)

    def _encoded(self, question: PeerQuestion, body: Callable[[PeerQuestion], bytes]) -> bytes:
        return RequestTemplate(self.url, self.keys[question.caller]).encode(body(question))

    def rows(self, answer: HttpResponse) -> list[int]:
        return [hit.row for hit in self.found(answer.body)][:DEPTH]


def vector(embedded: NDArray[np.float32]) -> orjson.Fragment:
    """As JSON, made once for all that are sent it."""
    return orjson.Fragment(orjson.dumps(embedded, option=orjson.OPT_SERIALIZE_NUMPY))


@dataclass(frozen=True, slots=True)
class PeerSetup:
    """Where systems are started: the world to fill them with, a PostgreSQL, a folder."""

    world: PeerWorld
    database_url: str
    folder: Path

    @property
    def keys(self) -> Sequence[str]:
        """By caller, for systems that have no keys of their own."""
        return [f"key-{number}" for number in range(len(self.world.callers))]

    def settings(self, name: str, **more: object) -> Path:
        """A file of settings for a process: these, and who has which key."""
        callers = dict(zip(self.keys, map(asdict, self.world.callers), strict=True))
        file = self.folder / f"{name}.json"
        file.write_text(json.dumps({"callers": callers, **more}))
        return file

    def log(self, name: str) -> Path:
        """A folder for a process to log in."""
        folder = self.folder / f"{name}-log"
        folder.mkdir()
        return folder

    def database(self, name: str) -> str:
        """The URL of a new database in the PostgreSQL that Nearhit uses."""
        uvloop.run(self._create(name))
        return urlunsplit(urlsplit(self.database_url)._replace(path=f"/{name}"))

    async def _create(self, name: str) -> None:
        connection = await asyncpg.connect(self.database_url)
        await connection.execute(f"CREATE DATABASE {name}")
        await connection.close()
