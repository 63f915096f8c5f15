"""Whatever happens, a subscriber that is connected long enough has seen the final answer.

A state machine of writes, edits, shares, revocations, changes of groups and mishaps plays on two
gateways, one PostgreSQL and one Redis. Subscribers listen all the time, to one gateway or the
other, and connect again when they are cut off. Whenever the changes pause, and in the end, each of
them must hold, byte for byte, the hits of a search of its own.
"""

import asyncio
import secrets
from collections.abc import Coroutine, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import count
from typing import Any, ClassVar, Literal, TypeAlias, TypeVar, get_args

import httpx2
import pytest
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    rule,
    run_state_machine_as_test,
)

from gateway.extensions.subscriptions.subscription_schemas import REFUSED_FIELDS
from gateway.settings.settings import Settings
from index.model.scope import PUBLIC
from index.search.query_embedder import Embedder
from tests.conftest import run_sql
from tests.gateway.support import world_changes
from tests.gateway.support.access_model import GatewayWorld, WorldPrincipal
from tests.gateway.support.event_listener import EventListener, subscribe
from tests.gateway.support.gateways import Caller
from tests.gateway.support.searches import Question, questions
from tests.gateway.support.two_gateways import GatewayStage, staged
from tests.gateway.support.world_changes import Membership, Move, Opening, Reception, possible
from tests.sampling import plays

pytestmark = [pytest.mark.anyio, pytest.mark.redis, pytest.mark.slow]

T = TypeVar("T")

TENANTS = ("acme", "globex")
FINAL_S_MAX = 60.0  # for the final answer, on a busy machine
BASE_SECTIONS = 6
SIZE = plays(3, steps=8, thorough=(100, 40))

# Gateways lose the connection on which they hear of changes; one is replaced; Redis forgets all;
# subscribers are cut off, and come back to the other gateway.
Trouble: TypeAlias = Literal["deaf", "replaced", "emptied", "cut off"]
TROUBLES: tuple[Trouble | None, ...] = (*[None] * 8, *get_args(Trouble))


class Subscriber:
    """Listens to one subscription, and connects again whenever its stream ends."""

    def __init__(self, stage: GatewayStage, caller: Caller, question: Question, id_: str) -> None:
        self.listener = EventListener()
        self.question = question
        self._stage = stage
        self._caller = caller
        self._subscription_id = id_
        self._worker = 0
        self._task = asyncio.create_task(self._run())

    async def cut_off(self) -> None:
        await self.stop()
        self._worker = 1 - self._worker
        self._task = asyncio.create_task(self._run())

    async def stop(self) -> None:
        self._task.cancel()
        with suppress(asyncio.CancelledError):
            await self._task

    async def check(self) -> None:
        """Wait until the final answer is heard; the test fails if it is not."""
        caller = self._stage.as_(self._caller, 0)
        final = (await caller.search(**watchable(self.question))).json()["hits"]
        await self.listener.until(lambda listener: listener.hits == final, FINAL_S_MAX)
        revisions = [answer["revision"] for answer in self.listener.answers]
        assert revisions == sorted(revisions)

    async def _run(self) -> None:
        while True:
            with suppress(httpx2.HTTPError, RuntimeError):  # the latter of a replaced gateway
                caller = self._stage.as_(self._caller, self._worker)
                await self.listener.listen(caller, self._subscription_id)
            await asyncio.sleep(0.05)


class SubscriptionPlay(RuleBasedStateMachine):
    """One play on the stage of all."""

    stage: ClassVar[GatewayStage]
    loop: ClassVar[asyncio.AbstractEventLoop]
    database_url: ClassVar[str]
    changes_heard: ClassVar[int]

    def __init__(self) -> None:
        super().__init__()
        self.names = {tenant: f"{tenant}-{secrets.token_hex(6)}" for tenant in TENANTS}
        self.world = GatewayWorld(tuple(self.names.values()))
        self.admins: dict[str, Caller] = {}
        self.numbers = count(1)
        self.subscribers: list[Subscriber] = []

    def do(self, work: Coroutine[Any, Any, T]) -> T:
        """In the loop of the gateways, which run on meanwhile."""
        return asyncio.run_coroutine_threadsafe(work, self.loop).result(timeout=120)

    @initialize(watched=st.lists(questions(TENANTS), min_size=4, max_size=6))
    def set_up(self, watched: Sequence[Question]) -> None:
        self.do(self._set_up(watched))

    @rule(
        moves=st.lists(world_changes.moves(TENANTS), min_size=1, max_size=3),
        worker=st.sampled_from((0, 1, None)),
        trouble=st.sampled_from(TROUBLES),
        place=st.integers(0, 20),
        settles=st.booleans(),
    )
    def step(
        self,
        moves: Sequence[Move],
        worker: int | None,
        trouble: Trouble | None,
        place: int,
        *,
        settles: bool,
    ) -> None:
        self.do(self._step(moves, worker, trouble, place))
        if settles:
            self.do(self._check())

    def teardown(self) -> None:
        self.do(self._tear_down())

    async def _set_up(self, watched: Sequence[Question]) -> None:
        for tenant in self.world.tenants:
            await self.stage.gateways[0].tenant(tenant)
            self.admins[tenant] = await self.stage.gateways[0].caller(
                "ada", tenant=tenant, roles=["admin", "publisher"]
            )
            await self._receive(tenant, 0, receives=True)
            await self.stage.count_openings(tenant)
            for subject in world_changes.SUBJECTS:
                caller = await self.stage.gateways[0].caller(subject, tenant=tenant)
                principal = WorldPrincipal(tenant, subject, frozenset(), caller, "")
                self.world.principals.append(principal)
        # Rights have to matter: without these documents nine answers in ten have no hits.
        for tenant, reader in zip(self.world.tenants, (PUBLIC, "group:sales"), strict=True):
            await self._change(world_changes.base(tenant, reader, BASE_SECTIONS), 0)
        for question in watched:
            tenant = self.names[question.tenant]
            caller = next(
                who.caller
                for who in self.world.principals
                if (who.tenant, who.subject) == (tenant, question.subject)
            )
            subscription = await subscribe(
                self.stage.as_(caller, 0), **watchable(question), deliver={"interval_ms": 100}
            )
            self.subscribers.append(Subscriber(self.stage, caller, question, subscription))

    async def _step(
        self, moves: Sequence[Move], worker: int | None, trouble: Trouble | None, place: int
    ) -> None:
        for move in moves:
            await self._change(replace(move, tenant=self.names[move.tenant]), worker)
        match trouble:
            case "deaf":
                await run_sql(self.database_url, LISTENERS_CUT)
            case "cut off":
                await self.subscribers[place % len(self.subscribers)].cut_off()
            case "replaced" | "emptied":
                await self.stage.suffer(trouble, place)

    async def _change(self, move: Move, worker: int | None) -> None:
        """worker: None for a writer that commits and dies."""
        if isinstance(move, Membership):
            member = (move.tenant, move.group, move.subject)
            method = "DELETE" if member in self.world.members else "PUT"
            path = f"/v1/groups/{move.group}/members/{move.subject}"
            admin = self.stage.as_(self.admins[move.tenant], worker or 0)
            assert (await admin.call(method, path)).status_code == 204
            self.world.members ^= {member}
        elif isinstance(move, Reception):
            receives = move.tenant not in self.world.receiving
            await self._receive(move.tenant, worker or 0, receives=receives)
        elif isinstance(move, Opening):
            await self.stage.open_and_roll_up(move, next(self.numbers))
        elif possible(move, self.world):
            document = world_changes.written(move, self.world, next(self.numbers))
            if worker is None:
                await self.stage.write_and_die(move, document)
            else:
                admin = self.stage.as_(self.admins[move.tenant], worker)
                await self.stage.write(move, document, admin)
            if document is None:
                del self.world.documents[move.tenant, move.document_id]
            else:
                self.world.keep(document)

    async def _receive(self, tenant: str, worker: int, *, receives: bool) -> None:
        admin = self.stage.as_(self.admins[tenant], worker)
        answer = await admin.call("PUT", "/v1/public-documents", json={"receives": receives})
        assert answer.status_code == 200, answer.text
        self.world.receiving ^= {tenant}

    async def _check(self) -> None:
        await asyncio.gather(*(subscriber.check() for subscriber in self.subscribers))

    async def _tear_down(self) -> None:
        try:
            await self._check()
            SubscriptionPlay.changes_heard += sum(
                answer["since"] is not None
                for subscriber in self.subscribers
                for answer in subscriber.listener.answers
            )
        finally:
            for subscriber in self.subscribers:
                await subscriber.stop()


# The connections whose last statement is one of those that a follower of changes sends.
LISTENERS_CUT = """
SELECT pg_terminate_backend(pid) FROM pg_stat_activity
WHERE datname = current_database() AND pid <> pg_backend_pid()
  AND (query LIKE 'LISTEN%' OR query LIKE '%access_revision, (SELECT history FROM histories)%')
"""


def watchable(question: Question) -> dict[str, Any]:
    """The search without what a subscription refuses.

    A search that names `public` has no answer while the tenant does not receive; without scopes it
    always has one.
    """
    fields = {name: value for name, value in question.fields.items() if name not in REFUSED_FIELDS}
    if PUBLIC in fields.get("scopes", ()):
        del fields["scopes"]
    return fields


# Hypothesis looks for who holds its generator, and sees nobody while another thread collects.
# The streams of the gateways fill caches, with random lifetimes, while it draws.
@pytest.mark.sampled("tables")
@pytest.mark.filterwarnings("ignore:It looks like `register_random`")
@pytest.mark.filterwarnings("ignore:Do not use the `random` module inside strategies")
@pytest.mark.parametrize("shard_bytes_max", [0, 1 << 28], ids=["tables", "shards"])
async def test_a_subscriber_that_is_connected_long_enough_has_seen_the_final_answer(
    settings: Settings, embedder: Embedder, database_url: str, shard_bytes_max: int
) -> None:
    async with staged(settings, embedder, shard_bytes_max=shard_bytes_max) as stage:
        SubscriptionPlay.stage, SubscriptionPlay.loop = stage, asyncio.get_running_loop()
        SubscriptionPlay.database_url, SubscriptionPlay.changes_heard = database_url, 0

        await asyncio.to_thread(run_state_machine_as_test, SubscriptionPlay, settings=SIZE)

        assert SubscriptionPlay.changes_heard > SIZE.max_examples  # else nothing was at stake
