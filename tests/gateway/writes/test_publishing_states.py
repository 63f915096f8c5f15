"""Nothing is public and active but what somebody with the right to publish has asked for.

Callers with and without the right write, share, activate, give away and delete one document, at
once and queued, with a worker that runs jobs at any moment. The model is the list of acknowledged
writes, as in `test_write_order_states`.

With `make thorough` it runs for minutes, with other steps each time.
"""

import asyncio
import itertools
import secrets
from collections.abc import Coroutine, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Literal, NamedTuple, TypeVar, assert_never
from uuid import uuid4

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule, run_state_machine_as_test

from gateway.extensions.jobs.job_store import JobStore
from gateway.monitoring.metrics import Metrics
from gateway.services import Services, open_services
from gateway.settings.settings import Settings
from gateway.worker.job_handlers import handlers
from gateway.worker.worker_loop import make_worker
from index.jobs.job_queue import ClaimedJob
from index.search.query_embedder import Embedder
from ingest.write.publishing import is_published
from tests.gateway.support.gateways import Caller, Gateway, running
from tests.sampling import plays

pytestmark = [pytest.mark.anyio, pytest.mark.slow]

T = TypeVar("T")

SIZE = plays(4, steps=20, thorough=(300, 40))
ATTACHED = "Attached."
ROLES: Mapping[str, tuple[str, list[str]]] = {
    "writer": ("ana", ["writer"]),
    "publisher": ("ana", ["writer", "publisher"]),
    "admin": ("ada", ["admin"]),
}


class Move(NamedTuple):
    """A step, and the caller that makes it; None for what it does not set."""

    action: Literal[
        "queue", "put", "share", "activate", "give", "attach", "attributes", "remove", "run"
    ]
    name: str = ""
    readers: tuple[str, ...] | None = None
    active: bool | None = None
    owner: str | None = None


# As often as makes a play meet a queued write of a publisher and a later one of somebody else.
MOVES = [
    *[Move("queue", "publisher", ("public",), active=False)] * 3,
    *[Move("queue", "publisher", ("public",))] * 2,
    *(Move("queue", "writer", active=active) for active in (None, True, False)),
    Move("queue", "writer", ("public",), active=False),
    *[Move("activate", "writer", active=True)] * 3,
    Move("activate", "admin", active=False),
    Move("activate", "publisher", active=True),
    *[Move("share", "writer", ("tenant",))] * 2,
    Move("share", "publisher", ("public",)),
    *(Move("give", "admin", owner=owner) for owner in ("ada", "ana")),
    *[Move("put", "writer")] * 2,
    Move("put", "publisher", ("public",)),
    *(Move("attach", name) for name in ("writer", "publisher")),
    *(Move("attributes", name) for name in ("writer", "publisher")),
    Move("remove", "writer"),
    *[Move("run")] * 5,
]


@dataclass(frozen=True, slots=True)
class DocumentState:
    text: str
    readers: tuple[str, ...] = ()
    active: bool = True

    @property
    def is_published(self) -> bool:
        return self.active and "public" in self.readers


@dataclass(slots=True)
class AcknowledgedWrite:
    """A write of the model; None for what it does not set. job_id: of a write that waits."""

    may_publish: bool
    text: str | None = None
    readers: tuple[str, ...] | None = None
    active: bool | None = None
    is_removal: bool = False
    job_id: str | None = None

    def apply(self, state: DocumentState | None) -> DocumentState | None:
        if self.is_removal:
            return None
        if state is None:
            assert self.text is not None, "access is set of documents that exist"
            state = DocumentState(self.text)
        fields = {"text": self.text, "readers": self.readers, "active": self.active}
        changed: dict[str, Any] = {
            name: value for name, value in fields.items() if value is not None
        }
        return replace(state, **changed)


@dataclass(slots=True)
class PublishingStage:
    gateway: Gateway
    services: Services
    published: int = 0

    async def claim(self) -> ClaimedJob | None:
        return await self.services.stores.jobs.claim(
            uuid4(), lease_s=60.0, tenant_jobs_max=1, kinds=["document.write"]
        )


@dataclass(slots=True)
class PublishingWorld:
    """A tenant with the writes that were acknowledged in it, in that order."""

    stage: PublishingStage
    tenant: str
    callers: Mapping[str, Caller]
    store: str
    file: str
    written: list[AcknowledgedWrite] = field(default_factory=list)
    numbers: "itertools.count[int]" = field(default_factory=itertools.count)

    @property
    def document_id(self) -> str:
        """Of the attached file."""
        return f"{self.store}/{self.file}"

    async def check(self) -> None:
        stored = await self.stage.services.stores.documents.stored(self.tenant, self.document_id)
        if stored is None or not is_published(stored.document):
            return
        document = stored.document
        found = DocumentState(document.text.strip(), tuple(document.readers))
        self.stage.published += 1
        states, state = [], None
        for write in self.written:
            if write.job_id is None:
                state = write.apply(state)
                states += [state] if write.may_publish else []
        assert found in states, self.written

    async def put(self, write: AcknowledgedWrite, caller: Caller, *, is_queued: bool) -> None:
        body: dict[str, Any] = {"text": write.text, "source": self.store}
        body |= {} if write.readers is None else {"readers": write.readers}
        body |= {} if write.active is None else {"active": write.active}
        headers = {"Prefer": "respond-async"} if is_queued else {}
        path = f"/v1/documents/{self.document_id}"
        answer = await caller.call("PUT", path, json=body, headers=headers)
        assert answer.status_code in (200, 202, 403, 409), answer.text
        if answer.is_success:
            write.job_id = answer.json().get("job_id")
            self.written.append(write)

    async def set_access(self, write: AcknowledgedWrite, caller: Caller, owner: str | None) -> None:
        body: dict[str, Any] = {} if owner is None else {"owner": owner}
        body |= {} if write.readers is None else {"readers": write.readers}
        body |= {} if write.active is None else {"active": write.active}
        answer = await caller.call("PATCH", f"/v1/documents/{self.document_id}/access", json=body)
        assert answer.status_code in (200, 403, 404), answer.text
        if answer.status_code == 200:
            self.written.append(write)

    async def set_file(self, write: AcknowledgedWrite, caller: Caller) -> None:
        """Attach the file, which has a text, or set its attributes."""
        path = f"/v1/vector_stores/{self.store}/files"
        path, name = (path, "file_id") if write.text else (f"{path}/{self.file}", "attributes")
        body = {name: self.file if write.text else {"team": f"{next(self.numbers)}"}}
        answer = await caller.call("POST", path, json=body)
        assert answer.status_code in (200, 403, 404, 409), answer.text
        if answer.status_code == 200:
            self.written.append(write)

    async def remove(self, write: AcknowledgedWrite, caller: Caller) -> None:
        answer = await caller.call("DELETE", f"/v1/documents/{self.document_id}")
        assert answer.status_code in (200, 202, 403, 404), answer.text
        if answer.is_success:
            self.written.append(write)

    async def run_one(self) -> bool:
        """Run a job, if one waits."""
        services = self.stage.services
        claimed = await self.stage.claim()
        if claimed is None:
            return False
        await make_worker(services.worker).do(claimed, handlers(services.worker)[claimed.kind])
        job = await JobStore(services.stores.database).get(self.tenant, claimed.job_id)
        assert job is not None
        write = next(each for each in self.written if each.job_id == claimed.job_id)
        if job.state == "failed":
            self.written.remove(write)
        else:
            assert job.state == "done", job
            write.job_id = None
        return True


class PublishingPlay(RuleBasedStateMachine):
    """One tenant of the stage."""

    stage: ClassVar[PublishingStage]
    loop: ClassVar[asyncio.AbstractEventLoop]

    def __init__(self) -> None:
        super().__init__()
        self.world = self.do(self._world())

    def do(self, work: Coroutine[Any, Any, T]) -> T:
        """In the loop of the gateway, which runs on meanwhile."""
        return asyncio.run_coroutine_threadsafe(work, self.loop).result(timeout=60)

    async def _world(self) -> PublishingWorld:
        while claimed := await self.stage.claim():  # of a play that was broken off
            await self.stage.services.stores.jobs.fail(claimed.run, "the play is over")
        tenant = f"play-{secrets.token_hex(6)}"
        await self.stage.gateway.tenant(tenant)
        callers = {
            name: await self.stage.gateway.caller(subject, tenant=tenant, roles=roles)
            for name, (subject, roles) in ROLES.items()
        }
        ana = callers["writer"]
        store = await ana.call("POST", "/v1/vector_stores", json={"name": "Notices"})
        form = {"files": {"file": ("a.md", ATTACHED.encode())}, "data": {"purpose": "assistants"}}
        file = await ana.call("POST", "/v1/files", **form)
        world = PublishingWorld(self.stage, tenant, callers, store.json()["id"], file.json()["id"])
        await world.set_file(AcknowledgedWrite(may_publish=False, text=ATTACHED), ana)
        return world

    @rule(move=st.sampled_from(MOVES), amid=st.booleans())
    def step(self, move: Move, *, amid: bool) -> None:
        self.do(self._amid(self._step(move), amid=amid and move.action not in ("queue", "run")))
        self.do(self.world.check())

    async def _step(self, move: Move) -> None:
        world = self.world
        if move.action == "run":
            await world.run_one()
            return
        caller = world.callers[move.name]
        may_publish = "publisher" in ROLES[move.name][1]
        write = AcknowledgedWrite(may_publish, readers=move.readers, active=move.active)
        match move.action:
            case "queue" | "put":
                write.text = f"Text {next(world.numbers)}."
                await world.put(write, caller, is_queued=move.action == "queue")
            case "share" | "activate" | "give":
                await world.set_access(write, caller, move.owner)
            case "attach" | "attributes":
                write.text = ATTACHED if move.action == "attach" else None
                await world.set_file(write, caller)
            case "remove":
                write.is_removal = True
                await world.remove(write, caller)
            case _:
                assert_never(move.action)

    async def _amid(self, work: Coroutine[Any, Any, None], *, amid: bool) -> None:
        """While the worker does a job, too."""
        if amid:
            await asyncio.gather(work, self.world.run_one())
        else:
            await work

    def teardown(self) -> None:
        self.do(self._end())

    async def _end(self) -> None:
        while await self.world.run_one():
            await self.world.check()


@pytest.mark.filterwarnings("ignore:It looks like `register_random`")
async def test_no_order_of_writes_publishes_what_no_publisher_has_asked_for(
    settings: Settings, embedder: Embedder
) -> None:
    async with (
        running(settings, embedder) as gateway,
        open_services(settings, Metrics(), embedder) as services,
    ):
        PublishingPlay.stage = stage = PublishingStage(gateway, services)
        PublishingPlay.loop = asyncio.get_running_loop()

        await asyncio.to_thread(run_state_machine_as_test, PublishingPlay, settings=SIZE)

        assert stage.published > 0
