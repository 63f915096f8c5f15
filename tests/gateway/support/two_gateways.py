"""Two gateways on one PostgreSQL and one Redis of their own, and all that can befall them."""

import asyncio
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Literal, TypeAlias

from pydantic import SecretStr
from redis.asyncio import Redis

from cache.protocol import Revisions
from gateway.extensions.popularity.popularity_rollup import PopularityRollup
from gateway.extensions.popularity.popularity_store import PopularityStore, opening
from gateway.settings.settings import Settings
from index.documents.document_store import DocumentStore
from index.documents.visible_documents import VisibleDocuments
from index.model.document import Document as Stored
from index.model.query import Filter
from index.model.scope import everything
from index.search.query_embedder import Embedder
from ingest.write.writer import Writer
from loadtests.soak.oracle import Oracle, oracle
from tests.gateway.servers.database_proxy import DatabaseProxy, database_proxy
from tests.gateway.servers.own_redis import OwnRedis, own_redis
from tests.gateway.support.access_model import WorldDocument, WorldPrincipal
from tests.gateway.support.gateways import Caller, Gateway, running
from tests.gateway.support.searches import Question
from tests.gateway.support.world_changes import GROUPS, Opening, Share, Write

HELD_BUDGET_S = 0.4  # long enough to write something
BUDGET_S = 0.1  # for Redis; a busy machine must not look like a broken Redis all the time

# Redis forgets all at once; is saved, and started again from what was saved last; loses a state, a
# registry, some entries, or the end of one. A gateway is replaced.
Mishap: TypeAlias = Literal[
    "emptied", "saved", "aged", "stateless", "unlisted", "thinned", "cut", "replaced"
]


@dataclass(frozen=True, slots=True)
class StagedAnswer:
    """sent_s: when it was asked for. revisions: of each partition, up to which it is right."""

    question: Question
    sent_s: float
    revisions: Mapping[str, int]
    body: bytes
    tier: str


class GatewayStage:
    """settings: of each gateway. wire: between the first one and Redis."""

    def __init__(
        self,
        settings: Sequence[Settings],
        embedder: Embedder,
        redis: OwnRedis,
        wire: DatabaseProxy,
        truth: Oracle,
    ) -> None:
        self._settings = settings
        self._embedder = embedder
        self.redis = redis
        self.wire = wire
        self.oracle = truth
        self._documents = DocumentStore(truth.database)
        self._visible_documents = VisibleDocuments(truth.database)
        self._dying = Writer(self._documents, embedder, _NoInvalidation())
        self._popularity = PopularityStore(truth.database)
        self._rollup = PopularityRollup(truth.database, interval_s=0)
        self._running: list[AsyncExitStack] = []
        self.gateways: list[Gateway] = []
        self.tiers: dict[str, int] = {}

    async def open(self) -> None:
        for worker in range(len(self._settings)):
            self._running.append(AsyncExitStack())
            self.gateways.append(await self._started(worker))

    async def close(self) -> None:
        for stack in self._running:
            await stack.aclose()

    async def _replace(self, worker: int) -> None:
        """Stop a gateway, and start another one in its place."""
        await self._running[worker].aclose()
        self.gateways[worker] = await self._started(worker)

    async def _started(self, worker: int) -> Gateway:
        gateway = running(self._settings[worker], self._embedder)
        return await self._running[worker].enter_async_context(gateway)

    async def ask(
        self, who: WorldPrincipal, question: Question, worker: int, *, max_staleness_ms: int = 0
    ) -> StagedAnswer:
        sent_s = time.monotonic()
        answer = await self.as_(who.caller, worker).call(
            "POST", "/v1/search", content=question.asked(max_staleness_ms)
        )
        assert answer.status_code == 200, answer.text
        numbers = answer.headers["nearhit-revision"].partition(";of=")[0]
        own, _, public = numbers.partition(";public=")
        revisions = {who.tenant: int(own)} | ({"public": int(public)} if public else {})
        tier = answer.headers["cache-status"].split("; ")[-1]
        self.tiers[tier] = self.tiers.get(tier, 0) + 1
        return StagedAnswer(question, sent_s, revisions, answer.content, tier)

    def as_(self, caller: Caller, worker: int) -> Caller:
        return self.gateways[worker].as_(caller)

    async def write(self, move: Write, document: WorldDocument | None, admin: Caller) -> None:
        """By an admin of the tenant; document: as it will be, None if it is removed."""
        path = f"/v1/documents/{move.document_id}"
        if document is None:
            answer = await admin.call("DELETE", path)
        elif isinstance(move, Share):
            body = {"readers": sorted(document.readers)}
            answer = await admin.call("PATCH", f"{path}/access", json=body)
        else:
            answer = await admin.call("PUT", path, json=_body(document))
        # A deletion is done, too, when Redis is too far away to drop what it has doomed.
        done = {200, 202} if document is None else {200}
        assert answer.status_code in done, answer.text

    async def write_and_die(self, move: Write, document: WorldDocument | None) -> None:
        """The same, by a writer that commits, and neither drains nor acknowledges."""
        where = move.tenant, move.document_id
        if document is None:
            await self._dying.remove(*where, lambda _stored: None)
            return
        stored = _stored(document)
        if isinstance(move, Share):
            await self._dying.put_access(*where, lambda _stored: stored, may_publish=True)
        else:
            await self._dying.put(*where, lambda _stored: stored, may_publish=True)

    async def count_openings(self, tenant: str) -> None:
        await self._popularity.put_counted(tenant, "feedback")

    async def open_and_roll_up(self, move: Opening, number: int) -> None:
        """By a new subject, of those that ana may read if she is in all groups."""
        scope = everything(move.tenant, "ana", GROUPS)
        named = [(move.tenant, move.document_id)]
        today = datetime.now(UTC).date()
        keys = await self._visible_documents.openable(scope, Filter(), named)
        await self._popularity.add(opening(move.tenant, str(number), key, today) for key in keys)
        await self._rollup.roll_up(move.tenant, today)

    async def suffer(self, mishap: Mishap, place: int) -> None:
        """place: to which of the gateways, or of the keys, modulo their number."""
        match mishap:
            case "replaced":
                await self._replace(place % len(self.gateways))
            case "saved":
                await self.redis.save()
            case "aged":
                await self.redis.kill()
                await self.redis.start()
            case "emptied":
                await self.redis.kill()
                (self.redis.folder / "dump.rdb").unlink(missing_ok=True)
                await self.redis.start()
            case _:
                async with Redis.from_url(self.redis.url) as client:
                    await self._lose(client, mishap, place)

    async def _lose(self, client: Redis, mishap: Mishap, place: int) -> None:
        keys = sorted([key async for key in client.scan_iter(f"{self._settings[0].cache_prefix}*")])
        states = [key for key in keys if key.endswith(b":state")]
        lists = [key for key in keys if key.endswith(b":entries")]
        entries = [key for key in keys if key[-32:].isalnum() and b"vector" not in key]
        match mishap:
            case "stateless" if states:
                await client.delete(states[place % len(states)])
            case "unlisted" if lists:
                await client.delete(lists[place % len(lists)])
            case "thinned" if entries:
                await client.delete(*entries[place % 3 :: 3] or entries)
            case "cut" if entries:
                key = entries[place % len(entries)]
                await client.set(key, (await client.get(key) or b"")[: 64 * place])
            case _:
                pass

    async def redis_is_asked_again(self, who: WorldPrincipal) -> None:
        """Wait until no gateway's breaker is open."""
        async with asyncio.timeout(60):
            for worker in range(len(self.gateways)):
                while await self._is_left_alone(who, worker):
                    await asyncio.sleep(0.02)

    async def _is_left_alone(self, who: WorldPrincipal, worker: int) -> bool:
        """Whether what nobody has asked before is not stored; shards answer no `rrf` alone."""
        body = b'{"query": "%d", "fusion": "rrf"}' % time.monotonic_ns()
        answer = await self.ask(who, Question(who.tenant, who.subject, body), worker)
        return answer.tier == "fwd=miss"


class _NoInvalidation:
    async def drain(self, tenant: str, revisions: Revisions, /) -> None:
        pass


def _body(document: WorldDocument) -> dict[str, object]:
    return {
        "title": document.title,
        "text": document.text,
        "source": document.source,
        "language": document.language,
        "summaries": "extract",
        "tags": document.tags,
        "owner": document.owner,
        "readers": sorted(document.readers),
    }


def _stored(document: WorldDocument) -> Stored:
    return Stored(
        document_id=document.document_id,
        title=document.title,
        text=document.text,
        source=document.source,
        uri="",
        language=document.language,
        tags=document.tags,
        metadata={},
        owner=document.owner,
        readers=tuple(sorted(document.readers)),
        summaries="extract",
    )


@asynccontextmanager
async def staged(
    settings: Settings, embedder: Embedder, *, shard_bytes_max: int = 0
) -> AsyncIterator[GatewayStage]:
    """Two gateways, the first of which may be held up on its way to Redis.

    shard_bytes_max: of the second.
    """
    assert settings.database_url is not None
    async with (
        own_redis() as redis,
        database_proxy(redis.url) as wire,
        oracle(settings.database_url.get_secret_value(), embedder) as truth,
    ):
        each = [
            settings.model_copy(
                update={
                    "redis_url": SecretStr(url),
                    "redis_timeout_s": budget_s,
                    "cache_audit_per_mille": 0.0,  # it would mend what the play has to find
                    "shard_bytes_max": bytes_max,
                }
            )
            for url, budget_s, bytes_max in (
                (wire.url, HELD_BUDGET_S, 0),
                (redis.url, BUDGET_S, shard_bytes_max),
            )
        ]
        stage = GatewayStage(each, embedder, redis, wire, truth)
        try:
            await stage.open()
            yield stage
        finally:
            if redis.is_running:
                redis.go_on()
            await stage.close()
