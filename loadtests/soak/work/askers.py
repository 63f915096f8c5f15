"""Askers: they read in every way with keys and tokens; each answer is judged."""

import asyncio
import time
from collections.abc import Callable, Coroutine, Mapping, Sequence
from random import Random
from typing import Any, TypeVar

import orjson

from loadtests.soak import reads
from loadtests.soak.audit import ObservedAnswer
from loadtests.soak.model.credentials import IssuedCredential
from loadtests.soak.reads import PathName, Read, SoakQuestion
from loadtests.soak.work.context import SoakContext, Way
from loadtests.workload.questions import zipf
from loadtests.workload.viewer import SOURCES

T = TypeVar("T")

# Starting values, not measured.
_RECENT_MAX = 2_000
_NARROWED_SHARE = 0.25  # of the requests, sent with a token
_ENDED_SHARE = 0.02  # sent with an ended key or token
_BATCH = 3
_WEIGHTS: Mapping[PathName, int] = {
    "search": 50,
    "batch": 7,
    "semantic": 8,
    "mcp search": 8,
    "mcp fetch": 5,
    "vector store": 8,
    "document": 8,
    "documents": 6,
}
_REST_S = 10.0  # the duration of a pause
_SIMILAR = 2  # questions of a tenant that are asked in other words
_AWAY_S = 0.05  # after a request that failed
_REPEATED = 5  # questions of a tenant that are repeated


class Askers:
    def __init__(
        self,
        context: SoakContext,
        holders: Sequence[tuple[str, str]],
        question_lists: Mapping[str, Sequence[SoakQuestion]],
        *,
        seed: int,
        compared_share: float,
    ) -> None:
        """question_lists: questions by tenant, those that are asked most often first."""
        self._context = context
        self._seed = seed
        self._compared_share = compared_share
        self._holders = holders
        self._questions = question_lists
        self._recent: dict[tuple[IssuedCredential, Read], None] = {}
        self._comparing = False

    async def ask_forever(self, number: int) -> None:
        ways, random = self._context.ways(), Random(f"{self._seed} {number}")  # noqa: S311  no secret
        await self._forever(lambda: self._ask_once(random, random.choice(ways)))

    async def repeat_forever(self, number: int) -> None:
        """Ask the most frequent questions of one tenant with keys, always at the same gateway."""
        ways = self._context.ways()
        random = Random(f"{self._seed} repeater {number}")  # noqa: S311  no secret
        repeated = {
            tenant: [reads.search(question) for question in asked[:_REPEATED]]
            for tenant, asked in self._questions.items()
        }

        async def repeat_once() -> ObservedAnswer | None:
            holder = drawn(self._holders, random)
            credential = self._context.state.credentials.keys[holder]
            read = random.choice(repeated[holder[0]])
            answer = await self._context.ask(ways[number % len(ways)], credential, read)
            if answer is not None:
                self._context.audit.judge(answer)
            return answer

        await self._forever(repeat_once)

    async def _forever(
        self, once: Callable[[], Coroutine[Any, Any, ObservedAnswer | None]]
    ) -> None:
        while True:
            async with self._context.lock:
                answer = await once()
            if answer is None:
                await asyncio.sleep(_AWAY_S)

    def recent(self, count: int, random: Random) -> list[tuple[IssuedCredential, Read]]:
        """Some recent reads whose credentials will work for a while."""
        credentials, now_s = self._context.state.credentials, time.monotonic()
        works = [
            (credential, read)
            for former, read in self._recent
            if (credential := credentials.current(former)) is not None
            and credential.standing(now_s, now_s + _REST_S) == "works"
        ]
        return random.sample(works, min(count, len(works)))

    async def _ask_once(self, random: Random, way: Way) -> ObservedAnswer | None:
        state, audit = self._context.state, self._context.audit
        holder = drawn(self._holders, random)
        if state.credentials.ended and random.random() < _ENDED_SHARE:
            credential = random.choice(state.credentials.ended)
        else:
            credential = state.credentials.draw(holder, random, narrowed=_NARROWED_SHARE)
        who = credential.viewer.tenant, credential.viewer.subject
        changes = state.rights.changes(*who)
        read = self._read(who[0], random)
        answer = await self._context.ask(way, credential, read)
        if answer is None:
            return None
        audit.judge(answer)
        if audit.is_comparable(answer):
            self._remember(credential, read)
            is_sure = changes == state.rights.changes(*who)
            if is_sure and not self._comparing and random.random() < self._compared_share:
                self._comparing = True
                try:
                    await self._context.compare(answer, "compared_at_work")
                finally:
                    self._comparing = False
        return answer

    def _read(self, tenant: str, random: Random) -> Read:
        (path,) = random.choices(list(_WEIGHTS), list(_WEIGHTS.values()))
        asked = self._questions[tenant]
        question = drawn(asked, random)
        match path:
            case "search":
                return reads.search(question.perhaps_older(random))
            case "batch":
                return reads.batch([question, *(drawn(asked, random) for _ in range(_BATCH - 1))])
            case "semantic":
                question = random.choice(asked[:_SIMILAR])
                words = orjson.loads(question.body)["query"].split()
                return reads.semantic(question, " ".join(random.sample(words, len(words))))
            case "documents":
                after = self._document(tenant, random) if random.random() < 0.5 else ""
                return reads.documents(after, random.choice(("", *SOURCES)))
            case _:
                query, source = orjson.loads(question.body)["query"], random.choice(SOURCES)
                return reads.of_query(path, query, self._document(tenant, random), source)

    def _document(self, tenant: str, random: Random) -> str:
        """A document that exists, or existed."""
        return random.choice(self._context.state.rights.names(tenant) or ["none"])

    def _remember(self, credential: IssuedCredential, read: Read) -> None:
        self._recent[credential, read] = None
        if len(self._recent) > _RECENT_MAX:
            del self._recent[next(iter(self._recent))]


def drawn(things: Sequence[T], random: Random) -> T:
    """The first ones most often."""
    return things[zipf(len(things), random)]
