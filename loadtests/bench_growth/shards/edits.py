"""The cost of an edit: the write, and the first new search after it."""

from collections import Counter
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from random import Random
from statistics import median

import orjson
import uvloop

from loadtests.bench_growth import caller, generated_corpus
from loadtests.load import connection
from loadtests.load.connection import HttpConnection
from loadtests.load.request import encode_request
from loadtests.load.response import HttpResponse
from loadtests.servers import metrics, redis_commands
from loadtests.servers.service import Service
from loadtests.workload import topics

_SEED = 31
_COUNTS = 5  # edits whose commands are counted, beside those that are timed
_WRITTEN = (200, 201)


@dataclass(frozen=True, slots=True)
class EditTimes:
    """before_ms: of a new search at an unchanged revision. write_ms: until the acknowledgement.

    search_ms: of the first new search after it.
    """

    before_ms: float
    write_ms: float
    search_ms: float

    @property
    def total_ms(self) -> float:
        return self.write_ms + self.search_ms


@dataclass(frozen=True, slots=True)
class EditCommands:
    """Of a write and of the first new search after it; SQL statements by name."""

    statements: Counter[str]
    redis: int


@dataclass(frozen=True, slots=True)
class EditCost:
    """Medians."""

    before_ms: float
    write_ms: float
    search_ms: float
    total_ms: float
    statements: Mapping[str, float]
    redis_commands: float


@dataclass(frozen=True, slots=True)
class EditDifference:
    """more_ms: the median over the turns of how much longer write and search take with shards."""

    shards: EditCost
    without: EditCost
    more_ms: float


class Editor:
    """Edits a document of its own through one gateway, and searches there."""

    def __init__(self, gateway: Service, tenant: str, subject: str) -> None:
        self._gateway = gateway
        self._url = f"{gateway.url}/v1/documents/edited-by-{subject}"
        self._key = caller.new_key(gateway, tenant, subject)
        self._searches = map(caller.asking(gateway, self._key), generated_corpus.questions())
        self._edits = self._texts(subject)
        uvloop.run(self._write_first())

    def take(self) -> EditTimes:
        """Search, edit, and search again, all on one connection."""
        return uvloop.run(self._take())

    def count(self) -> EditCommands:
        """Do the same, and count."""
        return uvloop.run(self._count())

    async def _take(self) -> EditTimes:
        async with self._connected() as used:
            before = await _exchange(used, next(self._searches))
            write, search = await self._edit(used)
        return EditTimes(
            before_ms=before.seconds * 1000,
            write_ms=write.seconds * 1000,
            search_ms=search.seconds * 1000,
        )

    async def _count(self) -> EditCommands:
        redis_url = self._gateway.redis_url
        async with self._connected() as used:
            statements = metrics.statements([self._gateway.url])
            commands = redis_commands.count(redis_url)
            await self._edit(used)
            later = redis_commands.count(redis_url)
        return EditCommands(
            metrics.statements([self._gateway.url]) - statements,
            redis_commands.count_between(redis_url, commands, later),
        )

    async def _edit(self, used: HttpConnection) -> tuple[HttpResponse, HttpResponse]:
        """The responses to an edit, and to the first search after it."""
        write = await _exchange(used, next(self._edits))
        search = await _exchange(used, next(self._searches))
        assert not search.is_hit, "each question is asked once"
        return write, search

    @asynccontextmanager
    async def _connected(self) -> AsyncIterator[HttpConnection]:
        """A connection, after a search that follows what others have written."""
        used = await connection.connect(self._gateway.url)
        await _exchange(used, next(self._searches))
        yield used
        used.close()

    async def _write_first(self) -> None:
        used = await connection.connect(self._gateway.url)
        await _exchange(used, next(self._edits))
        used.close()

    def _texts(self, subject: str) -> Iterator[bytes]:
        """Endless requests, each of which replaces one sentence, with others for each subject."""
        random = Random(f"{_SEED} {subject}")  # noqa: S311  no secret
        built = generated_corpus.built()
        text = built.documents[0]["text"]
        while True:
            text = topics.edited(text, built.topics[0], random)
            body = orjson.dumps({"text": text, "language": "en", "readers": ["tenant"]})
            yield encode_request("PUT", self._url, self._key, body)


def compare(shards: Editor, without: Editor, *, edits: int) -> EditDifference:
    """So many edits of each in turns, of which the other one begins each time."""
    times: tuple[list[EditTimes], list[EditTimes]] = [], []
    turn = [(shards, times[0]), (without, times[1])]
    for _ in range(edits):
        for editor, taken in turn:
            taken.append(editor.take())
        turn.reverse()
    counts = [[editor.count() for _ in range(_COUNTS)] for editor in (shards, without)]
    return difference(*times, *counts)


def difference(
    shards: Sequence[EditTimes],
    without: Sequence[EditTimes],
    shards_commands: Sequence[EditCommands],
    without_commands: Sequence[EditCommands],
) -> EditDifference:
    """Compares the times of each turn with each other."""
    turns = zip(shards, without, strict=True)
    more_ms = median(times.total_ms - others.total_ms for times, others in turns)
    return EditDifference(_cost(shards, shards_commands), _cost(without, without_commands), more_ms)


def _cost(times: Sequence[EditTimes], commands: Sequence[EditCommands]) -> EditCost:
    names = {name for each in commands for name in each.statements}
    counts = {name: median(each.statements[name] for each in commands) for name in sorted(names)}
    return EditCost(
        before_ms=median(each.before_ms for each in times),
        write_ms=median(each.write_ms for each in times),
        search_ms=median(each.search_ms for each in times),
        total_ms=median(each.total_ms for each in times),
        # What runs beside few of the edits, such as a timer's work, is not part of an edit.
        statements={name: count for name, count in counts.items() if count},
        redis_commands=median(each.redis for each in commands),
    )


async def _exchange(used: HttpConnection, request: bytes) -> HttpResponse:
    response = await used.exchange(request)
    if response.status not in _WRITTEN:
        raise RuntimeError(f"{response.status} {response.body.decode(errors='replace')}")
    return response
