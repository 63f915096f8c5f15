"""Whatever happens, in whatever order, no answer is older than it may be, and none shows too much.

A state machine of writes, edits, shares, revocations, changes of groups, searches and mishaps plays
on two gateways, one PostgreSQL and one Redis. Every answer is compared, byte for byte, with a fresh
search at its revision, and with a plain model of who may read what.

With `make thorough` it runs for minutes, with other steps each time.
"""

import asyncio
import secrets
import time
from collections.abc import Awaitable, Coroutine, Mapping, Sequence
from dataclasses import replace
from itertools import count
from typing import Any, ClassVar, Literal, TypeAlias, TypeVar, get_args

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    rule,
    run_state_machine_as_test,
)

from gateway.settings.settings import Settings
from index.model.scope import PUBLIC
from index.search.query_embedder import Embedder
from loadtests.soak.oracle import FreshAnswer
from loadtests.workload.viewer import Viewer
from tests.gateway.support import world_changes
from tests.gateway.support.access_model import GatewayWorld, WorldPrincipal
from tests.gateway.support.gateways import Caller
from tests.gateway.support.searches import Question, asker, assert_allowed, questions
from tests.gateway.support.two_gateways import GatewayStage, Mishap, StagedAnswer, staged
from tests.gateway.support.world_changes import (
    Membership,
    Move,
    Opening,
    Reception,
    Remove,
    Right,
    Write,
    possible,
)
from tests.sampling import plays

pytestmark = [pytest.mark.anyio, pytest.mark.redis, pytest.mark.slow]

T = TypeVar("T")

WORKERS = 2
QUESTIONS_MAX = 5  # that are asked again and again
BASE_SECTIONS = 60  # more than a leg's candidates, so that a leg has a last one
STALENESS_MS_MAX = 1000  # what counts of `max_staleness_ms`, by default
STALENESSES_MS = (1, 1000, 60_000)  # it takes longer than the first to know of a change
MISHAPS: tuple[Mishap | None, ...] = (*[None] * 40, *get_args(Mishap))

SIZE = plays(3, steps=10, thorough=(400, 60))

# What is changed is acknowledged; or committed by a writer that then dies; or changed while others
# search; or drained before what others found before is filled; or, unknown to the gateway, changed
# just before it is asked for an answer that may be older.
How: TypeAlias = Literal[
    "and acknowledged",
    "by who dies",
    "amid searches",
    "before late fills",
    "an older one will do",
    "while Redis hangs",
]
# To hang takes longest.
HOW: tuple[How, ...] = (*get_args(How)[:-1] * 8, "while Redis hangs")

TENANTS = ("acme", "globex")  # each play's own are named after them
LOOKERS = ((0, 1), (0, 1), (0,), (1,), ())  # the gateways that are asked after a step
worker = st.integers(0, WORKERS - 1)


class StalenessPlay(RuleBasedStateMachine):
    """One play on the stage of all."""

    stage: ClassVar[GatewayStage]
    loop: ClassVar[asyncio.AbstractEventLoop]

    def __init__(self) -> None:
        super().__init__()
        self.names = {tenant: f"{tenant}-{secrets.token_hex(6)}" for tenant in TENANTS}
        self.world = GatewayWorld(tuple(self.names.values()))
        self.admins: dict[str, Caller] = {}
        self.numbers = count(1)
        self.questions: list[Question] = []
        self.fresh: dict[Question, list[FreshAnswer]] = {}
        self.computed: dict[Question, int] = {}  # after how many changes
        self.acknowledged: list[tuple[float, Mapping[str, int]]] = []
        self.unsettled: str | None = None  # the tenant whose reception changes now

    def do(self, work: Coroutine[Any, Any, T]) -> T:
        """In the loop of the gateways, which run on meanwhile."""
        return asyncio.run_coroutine_threadsafe(work, self.loop).result(timeout=60)

    @initialize(
        large=st.booleans(),
        public=st.booleans(),
        asked=st.lists(questions(TENANTS), min_size=3, max_size=QUESTIONS_MAX),
    )
    def set_up(self, *, large: bool, public: bool, asked: Sequence[Question]) -> None:
        self.do(self._set_up(large=large, public=public))
        self._remember(asked)

    # One rule, of which every play makes use; of several Hypothesis leaves some out of each play.
    @rule(
        asked=st.lists(questions(TENANTS), max_size=1),
        mishap=st.sampled_from(MISHAPS),
        place=st.integers(0, 20),
        move=world_changes.moves(TENANTS),
        how=st.sampled_from(HOW),
        worker=worker,
        lookers=st.sampled_from(LOOKERS),
    )
    def step(
        self,
        asked: Sequence[Question],
        mishap: Mishap | None,
        place: int,
        move: Move,
        how: How,
        worker: int,
        lookers: Sequence[int],
    ) -> None:
        self._remember(asked)
        if mishap is not None:
            self.do(self.stage.suffer(mishap, place))
        self.do(self._changed(self._here(move), how, worker, place % 8))
        self.do(self._look(lookers))

    def teardown(self) -> None:
        self.do(self._tear_down())

    async def _set_up(self, *, large: bool, public: bool) -> None:
        for tenant in self.world.tenants:
            await self.stage.gateways[0].tenant(tenant)
            for subject, group in (("ana", "sales"), ("ben", "")):
                groups = [group] if group else []
                caller = await self.stage.gateways[0].caller(subject, tenant=tenant, groups=groups)
                principal = WorldPrincipal(tenant, subject, frozenset(groups), caller, "")
                self.world.principals.append(principal)
            self.admins[tenant] = await self.stage.gateways[0].caller(
                "ada", tenant=tenant, roles=["admin", "publisher"]
            )
            await self._receive(tenant, 0, receives=True)
            await self.stage.count_openings(tenant)
        first, second = self.world.tenants
        if large:
            await self._write(world_changes.base(first, "tenant", BASE_SECTIONS), 0)
        if public:
            await self._write(world_changes.base(second, PUBLIC, BASE_SECTIONS), 0)
        # Changes have to matter: without these most concern a document that is not there.
        for tenant in self.world.tenants:
            for document_id, reader in (("a", "tenant"), ("b", "group:sales"), ("c", PUBLIC)):
                await self._write(world_changes.short(tenant, document_id, reader), 0)
        await self._acknowledge()

    async def _changed(self, move: Move, how: How, worker: int, pause_ms: int) -> None:
        self.unsettled = move.tenant if isinstance(move, Reception) else None
        match how:
            case "while Redis hangs":
                await self._change_while_redis_hangs(move, worker)
            case "amid searches":
                await self._change_amid_searches(move, worker, pause_ms)
            case "before late fills":
                await self._change_before_late_fills(move)
            case "an older one will do":
                await self._change_and_ask_for_less(move, worker)
            case "by who dies" if not isinstance(move, Right):
                await self._change(move, None)
            case _:
                await self._change(move, worker)

    async def _change(self, move: Move, worker: int | None) -> None:
        """worker: None for a writer that dies."""
        if isinstance(move, Right):
            assert worker is not None, "who dies writes documents"
            if isinstance(move, Membership):
                await self._toggle(move, worker)
            else:
                receives = move.tenant not in self.world.receiving
                await self._receive(move.tenant, worker, receives=receives)
                self.unsettled = None
        elif isinstance(move, Opening):
            await self.stage.open_and_roll_up(move, next(self.numbers))
        elif possible(move, self.world):
            await self._write(move, worker)
        await self._acknowledge()

    async def _toggle(self, move: Membership, worker: int) -> None:
        member = (move.tenant, move.group, move.subject)
        method = "DELETE" if member in self.world.members else "PUT"
        path = f"/v1/groups/{move.group}/members/{move.subject}"
        admin = self.stage.as_(self.admins[move.tenant], worker)
        answer = await admin.call(method, path)
        if method == "DELETE" and self.world.holds_by_key(move.tenant, move.subject, move.group):
            assert answer.status_code == 409, answer.text
            return
        assert answer.status_code == 204, answer.text
        self.world.members ^= {member}

    async def _receive(self, tenant: str, worker: int, *, receives: bool) -> None:
        admin = self.stage.as_(self.admins[tenant], worker)
        body = {"receives": receives}
        answer = await admin.call("PUT", "/v1/public-documents", json=body)
        assert answer.status_code == 200, answer.text
        self.world.receiving ^= {tenant}

    async def _write(self, move: Write, worker: int | None) -> None:
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

    async def _acknowledge(self) -> None:
        """Nobody may be told any more that it is not so."""
        at_s = time.monotonic()
        self.acknowledged.append((at_s, await self.stage.oracle.revisions(self.world.tenants)))

    async def _look(self, workers: Sequence[int]) -> None:
        """Ask all questions of some gateways, at once: nothing is written meanwhile."""
        if not workers:
            return
        await self._compute()
        answers = await self._ask(workers)
        for answer in answers:
            fresh = self.fresh[answer.question][-1]
            assert answer.revisions == fresh.revisions
            assert answer.body == fresh.body, answer
            assert_allowed([self.world], answer.question, answer.body)

    async def _change_amid_searches(self, move: Move, worker: int, pause_ms: int) -> None:
        await self._judged_amid(
            move, self._ask(range(WORKERS), pause_ms=pause_ms), self._change(move, worker)
        )

    async def _change_before_late_fills(self, move: Move) -> None:
        """Nobody has asked before; what is found is held up on its way to Redis until another
        gateway has drained the change.
        """
        known = self.questions
        self.questions = [one.anew(next(self.numbers)) for one in known]
        await self._compute()  # now, so that nothing is held for longer than it has to be
        wire = self.stage.wire
        held = wire.held
        wire.hold(b'{"hits":')
        asking = asyncio.create_task(self._ask([0]))

        async def change() -> None:
            try:
                # The first that is held up holds up what comes after it on its connection.
                while wire.held == held and not asking.done():
                    await asyncio.sleep(0.001)
                await self._change(move, 1)
                await self._drain(known, 1)
            finally:
                wire.mend()

        await self._judged_amid(move, asking, change())
        await self._look(range(WORKERS))
        self.questions = known

    async def _drain(self, questions: Sequence[Question], worker: int) -> None:
        """Ask what nobody else asks now: before it answers, the gateway applies all changes."""
        new = [one.anew(next(self.numbers)) for one in questions if self._is_askable(one)]
        await asyncio.gather(*(self.stage.ask(asker(self.world, one), one, worker) for one in new))

    async def _judged_amid(
        self,
        move: Move,
        asking: Awaitable[list[StagedAnswer]],
        changing: Awaitable[None],
    ) -> None:
        """Answers while something changes are of before, or of after, and their revision tells."""
        await self._compute()
        before = self.world.copied()
        [answers, _] = await asyncio.gather(asking, changing)
        await self._compute()
        for answer in answers:
            # What a tenant changes is told apart by its own revision, or else by the public one.
            decisive = move.tenant if move.tenant in answer.revisions else PUBLIC
            told = [
                fresh.body
                for fresh in self.fresh[answer.question][-2:]
                if isinstance(move, Right)
                or fresh.revisions.get(decisive) == answer.revisions.get(decisive)
            ]
            assert answer.body in told, answer
            assert_allowed([before, self.world], answer.question, answer.body)

    async def _change_and_ask_for_less(self, move: Move, worker: int) -> None:
        await self._look([worker])
        await self._change(move, worker if isinstance(move, Right) else None)
        staleness_ms = STALENESSES_MS[len(self.acknowledged) % 3]
        answers = await self._ask([worker], max_staleness_ms=staleness_ms)
        await self._compute()
        for answer in answers:
            oldest_s = answer.sent_s - min(staleness_ms, STALENESS_MS_MAX) / 1000
            floor = [revisions for at_s, revisions in self.acknowledged if at_s <= oldest_s][-1:]
            for revisions in floor:
                assert all(answer.revisions[name] >= revisions[name] for name in answer.revisions)
            told = [
                fresh.body
                for fresh in self.fresh[answer.question]
                if fresh.revisions == answer.revisions
            ]
            assert not told or answer.body in told, answer

    async def _change_while_redis_hangs(self, move: Move, worker: int) -> None:
        """It takes what is sent, and answers nothing for a while."""
        self.stage.redis.hang()
        try:
            await self._change(move, worker)
            await self._look(range(WORKERS))
        finally:
            self.stage.redis.go_on()
        await self._look([worker])
        await self.stage.redis_is_asked_again(self.world.principals[0])

    async def _ask(
        self, workers: Sequence[int], *, max_staleness_ms: int = 0, pause_ms: int = 0
    ) -> list[StagedAnswer]:
        """All questions, of each gateway; pause_ms: between two of them."""

        async def ask(place: int, question: Question, worker: int) -> StagedAnswer:
            await asyncio.sleep(place * pause_ms / 1000)
            who = asker(self.world, question)
            return await self.stage.ask(who, question, worker, max_staleness_ms=max_staleness_ms)

        return await asyncio.gather(
            *(
                ask(place, question, worker)
                for worker in workers
                for place, question in enumerate(self.questions)
                if self._is_askable(question)
            )
        )

    def _is_askable(self, question: Question) -> bool:
        """Whether it may not be refused: it names nothing that its tenant does not receive."""
        is_received = question.tenant in self.world.receiving and question.tenant != self.unsettled
        return is_received or "public" not in question.fields.get("scopes", ())

    async def _compute(self) -> None:
        """What the answers are now, unless that is known since the last change."""
        moment = len(self.acknowledged)
        self.stage.oracle.forget()
        for question in self.questions:
            if self.computed.get(question) != moment:
                self.computed[question] = moment
                groups = self.world.groups(asker(self.world, question))
                fresh = await self.stage.oracle.answer(
                    Viewer(question.tenant, question.subject),
                    groups,
                    question.body,
                    receives_public=question.tenant in self.world.receiving,
                )
                self.fresh.setdefault(question, []).append(fresh)

    async def _tear_down(self) -> None:
        """What is public would be in the next play's answers."""
        for document in list(self.world.documents.values()):
            if PUBLIC in document.readers:
                await self._write(Remove(document.tenant, document.document_id), 0)

    def _remember(self, asked: Sequence[Question]) -> None:
        here = [self._here(question) for question in asked]
        self.questions += [each for each in dict.fromkeys(here) if each not in self.questions]
        del self.questions[:-QUESTIONS_MAX]

    def _here(self, drawn: Any) -> Any:
        """The same, of this play's tenants."""
        return replace(drawn, tenant=self.names[drawn.tenant])


# Hypothesis looks for who holds its generator, and sees nobody while another thread collects.
@pytest.mark.filterwarnings("ignore:It looks like `register_random`")
@pytest.mark.parametrize("shard_bytes_max", [0, 1 << 28], ids=["tables", "shards"])
async def test_no_answer_is_stale_and_none_shows_too_much_whatever_happens(
    settings: Settings, embedder: Embedder, shard_bytes_max: int
) -> None:
    async with staged(settings, embedder, shard_bytes_max=shard_bytes_max) as stage:
        StalenessPlay.stage, StalenessPlay.loop = stage, asyncio.get_running_loop()

        await asyncio.to_thread(run_state_machine_as_test, StalenessPlay, settings=SIZE)

        for tier in ("detail=memory", "detail=redis", "stored"):  # else caches had no part in it
            assert stage.tiers.get(tier, 0) > 0
        followed = await stage.gateways[1].counted("nearhit_shard_events_total", event="followed")
        assert (followed > 0) is (shard_bytes_max > 0)
