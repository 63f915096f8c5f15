"""Askers: they read in every way with keys and tokens; each answer is judged."""

import asyncio
import time
from collections.abc import Mapping, Sequence
from random import Random

import orjson

from loadtests.load.connection_pool import ConnectionPool
from loadtests.soak import questions, reads
from loadtests.soak.audit import ObservedAnswer
from loadtests.soak.connections import connect
from loadtests.soak.model.credentials import IssuedCredential
from loadtests.soak.questions import SoakQuestion, Zipf
from loadtests.soak.reads import PathName, Read
from loadtests.soak.work.asking import ask, compare
from loadtests.soak.work.context import SoakContext
from loadtests.workload.viewer import SOURCES

# Starting values, not measured.
_SUBJECTS_EXPONENT = 0.7
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
        self._holders = Zipf(holders, _SUBJECTS_EXPONENT)
        self._questions = {
            tenant: Zipf(tenant_questions) for tenant, tenant_questions in question_lists.items()
        }
        self._recent: dict[tuple[IssuedCredential, Read], None] = {}
        self._comparing = False

    async def ask_forever(self, number: int) -> None:
        gateways = self._context.connections()
        random = Random(f"{self._seed} {number}")  # noqa: S311  no secret
        while True:
            gateway = random.randrange(len(gateways))
            async with self._context.lock:
                answer = await self._ask_once(random, gateway, gateways[gateway])
            if answer is None:
                await asyncio.sleep(_AWAY_S)

    async def repeat_forever(self, number: int) -> None:
        """Ask the most frequent questions of one tenant with keys, always at the same gateway."""
        ways = self._context.servers.ways
        gateway = number % len(ways)
        connection = connect(ways[gateway])
        random = Random(f"{self._seed} repeater {number}")  # noqa: S311  no secret
        repeated = {
            tenant: [reads.search(question) for question in tenant_questions.first(_REPEATED)]
            for tenant, tenant_questions in self._questions.items()
        }
        while True:
            async with self._context.lock:
                tenant, subject = self._holders.draw(random)
                credential = self._context.state.credentials.keys[tenant, subject]
                read = random.choice(repeated[tenant])
                answer = await ask(self._context, connection, gateway, credential, read)
                if answer is not None:
                    self._context.audit.judge(answer)
            if answer is None:
                await asyncio.sleep(_AWAY_S)

    def recent(self, count: int, random: Random) -> list[tuple[IssuedCredential, Read]]:
        """Some recent reads whose credentials will work for a while."""
        credentials, now_s = self._context.state.credentials, time.monotonic()
        recent = [(credentials.current(credential), read) for credential, read in self._recent]
        works = [
            (credential, read)
            for credential, read in recent
            if credential is not None and credential.standing(now_s, now_s + _REST_S) == "works"
        ]
        return random.sample(works, min(count, len(works)))

    async def _ask_once(
        self, random: Random, gateway: int, connection: ConnectionPool
    ) -> ObservedAnswer | None:
        state, audit = self._context.state, self._context.audit
        holder = self._holders.draw(random)
        if state.credentials.ended and random.random() < _ENDED_SHARE:
            credential = random.choice(state.credentials.ended)
        else:
            credential = state.credentials.draw(holder, random, narrowed=_NARROWED_SHARE)
        viewer = credential.viewer
        changes = state.rights.changes(viewer.tenant, viewer.subject)
        read = self._read(viewer.tenant, random)
        answer = await ask(self._context, connection, gateway, credential, read)
        if answer is None:
            return None
        audit.judge(answer)
        if audit.is_comparable(answer):
            self._remember(credential, read)
            is_sure = changes == state.rights.changes(viewer.tenant, viewer.subject)
            if is_sure and not self._comparing and random.random() < self._compared_share:
                self._comparing = True
                try:
                    await compare(self._context, answer, "compared_at_work")
                finally:
                    self._comparing = False
        return answer

    def _read(self, tenant: str, random: Random) -> Read:
        (path,) = random.choices(list(_WEIGHTS), list(_WEIGHTS.values()))
        question = self._questions[tenant].draw(random)
        query: str = orjson.loads(question.body)["query"]
        match path:
            case "search":
                return reads.search(questions.perhaps_older(question, random))
            case "batch":
                others = [self._questions[tenant].draw(random) for _ in range(_BATCH - 1)]
                return reads.batch([question, *others])
            case "semantic":
                question = random.choice(self._questions[tenant].first(_SIMILAR))
                words = orjson.loads(question.body)["query"].split()
                return reads.semantic(question, random.sample(words, len(words)))
            case "mcp search":
                return reads.mcp_search(query)
            case "vector store":
                return reads.vector_store(query, random.choice(SOURCES))
            case "mcp fetch":
                return reads.mcp_fetch(self._document(tenant, random))
            case "document":
                return reads.document(self._document(tenant, random))
            case "documents":
                after = self._document(tenant, random) if random.random() < 0.5 else ""
                return reads.documents(after, random.choice(("", *SOURCES)))

    def _document(self, tenant: str, random: Random) -> str:
        """A document that exists, or existed."""
        return random.choice(self._context.state.rights.names(tenant) or ["none"])

    def _remember(self, credential: IssuedCredential, read: Read) -> None:
        self._recent[credential, read] = None
        if len(self._recent) > _RECENT_MAX:
            del self._recent[next(iter(self._recent))]
