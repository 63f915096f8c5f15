"""Writes of all kinds, at once and queued, with a worker that runs jobs at any moment.

The model is the list of acknowledged writes: a document is what they make of it, one after the
other, whenever the worker ran them.

With `make thorough` it runs for minutes, with other steps each time.
"""

import asyncio
import itertools
import secrets
from collections.abc import Coroutine, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Literal, TypeAlias, TypeVar, cast
from uuid import uuid4

import orjson
import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule, run_state_machine_as_test

from gateway.extensions._sources.source_store import SYNC
from gateway.extensions.jobs.job_store import JobStore
from gateway.extensions.rabbitmq import event_schemas
from gateway.extensions.rabbitmq.event_handler import EventHandler
from gateway.extensions.rabbitmq.event_version_store import EventVersionStore
from gateway.services import Services
from gateway.settings.settings import Settings
from gateway.worker.job_handlers import SUPERSEDED, handlers
from gateway.worker.worker_loop import make_worker
from index.jobs.job_queue import ClaimedJob
from index.search.query_embedder import Embedder
from tests.gateway.support.gateways import Caller, Gateway, running
from tests.gateway.support.unreliable_embedder import MoodyEmbedder
from tests.gateway.support.workers import worker_services
from tests.sampling import plays

pytestmark = [pytest.mark.anyio, pytest.mark.slow]

T = TypeVar("T")

SIZE = plays(5, steps=24, thorough=(300, 50))
NAMES = ("a", "b")
IDS = tuple(f"handbook/{name}.md" for name in NAMES)
ATTACHED = "the document of an attached file"

How: TypeAlias = Literal["at once", "queued", "in a batch", "in a batch without an embedder"]
HOW: tuple[How, ...] = (
    "at once",
    "queued",
    "queued",
    "in a batch",
    "in a batch without an embedder",
)

documents = st.sampled_from([*IDS, ATTACHED])
chunkers = st.sampled_from([None, None, "whole", "messages:10"])
texts = st.sampled_from(["One.", "Two."])
owners = st.sampled_from([None, "ada", "ana"])
readers = st.sampled_from([None, (), ("tenant",), ("user:ben",)])


@dataclass(frozen=True, slots=True)
class WriteOrderState:
    text: str
    source: str
    owner: str | None
    readers: tuple[str, ...]
    chunker: str = "structure"
    attribute: str | None = None


@dataclass(slots=True)
class Acknowledged:
    """A write; None for what it leaves alone.

    job_id: of the job that does it later. is_done: whether it counts by now; is_failed: whether it
    waits for somebody to replay it.
    files: of a reading, what it has read; removes: which documents it removes if they are its own.
    """

    document_id: str | None
    text: str | None = None
    source: str = "api"
    owner: str | None = None
    readers: tuple[str, ...] | None = None
    chunker: str | None = None
    attribute: str | None = None
    is_removal: bool = False
    job_id: str | None = None
    is_done: bool = True
    is_failed: bool = False
    files: Mapping[str, str] | None = None
    removes: Sequence[str] = ()

    def apply(self, document_id: str, state: WriteOrderState | None) -> WriteOrderState | None:
        if self.document_id is None:
            return self._read(document_id, state)
        if self.document_id != document_id:
            return state
        if self.is_removal:
            return None
        if state is None:
            assert self.text is not None, "access is set of documents that exist"
            state = WriteOrderState(self.text, self.source, "ada", ())
        return WriteOrderState(
            state.text if self.text is None else self.text,
            state.source if self.text is None else self.source,
            self.owner or state.owner,
            state.readers if self.readers is None else self.readers,
            self.chunker or state.chunker,
            state.attribute if self.text is self.attribute is None else self.attribute,
        )

    def _read(self, document_id: str, state: WriteOrderState | None) -> WriteOrderState | None:
        assert self.files is not None, "it is done"
        if document_id in self.files:
            return WriteOrderState(self.files[document_id], "handbook", None, ("tenant",))
        is_own = state is not None and state.source == "handbook"
        return None if is_own and document_id in self.removes else state


@dataclass(slots=True)
class WriteOrderStage:
    gateway: Gateway
    services: Services
    moody: MoodyEmbedder
    folder: Path
    failed: int = 0

    async def claim(self) -> ClaimedJob | None:
        return await self.services.stores.jobs.claim(
            uuid4(), lease_s=60.0, tenant_jobs_max=1, kinds=["document.write", SYNC]
        )


@dataclass(slots=True)
class WriteOrderWorld:
    """A tenant with all that was acknowledged in it, in that order."""

    stage: WriteOrderStage
    tenant: str
    admin: Caller
    store: str
    file: str
    written: list[Acknowledged] = field(default_factory=list)
    numbers: "itertools.count[int]" = field(default_factory=lambda: itertools.count(1))

    @property
    def folder(self) -> Path:
        return self.stage.folder / self.tenant / "handbook"

    @property
    def ids(self) -> tuple[str, ...]:
        return (*IDS, f"{self.store}/{self.file}")

    def expected(self, document_id: str) -> WriteOrderState | None:
        state = None
        for each in self.written:
            if each.is_done:
                state = each.apply(document_id, state)
        return state

    async def check(self) -> None:
        self.written = [each for each in self.written if not await self._is_superseded(each)]
        found = await self.stage.services.stores.documents.stored_all(self.tenant, self.ids)
        for document_id in self.ids:
            stored = found.get(document_id)
            document = None if stored is None else stored.document
            state = document and WriteOrderState(
                document.text.strip(),
                document.source,
                document.owner,
                tuple(document.readers),
                document.chunker,
                cast("str | None", document.metadata.get("team")),
            )
            assert state == self.expected(document_id), self.written

    async def _is_superseded(self, write: Acknowledged) -> bool:
        """Whether it was before a worker came to it: a later write sets all that it sets."""
        if write.is_done or write.job_id is None:
            return False
        job = await JobStore(self.stage.services.stores.database).get(self.tenant, write.job_id)
        return job is not None and job.result == SUPERSEDED

    async def put(self, how: How, write: Acknowledged) -> None:
        write.source = self.store if write.document_id == self.ids[-1] else "api"
        body: dict[str, Any] = {"text": write.text, "source": write.source}
        body |= {} if write.chunker is None else {"chunker": write.chunker}
        body |= {} if write.owner is None else {"owner": write.owner}
        body |= {} if write.readers is None else {"readers": write.readers}
        path = f"/v1/documents/{write.document_id}"
        match how:
            case "at once":
                answer = await self.admin.call("PUT", path, json=body)
                result = answer.json()
            case "queued":
                prefer = {"Prefer": "respond-async"}
                answer = await self.admin.call("PUT", path, json=body, headers=prefer)
                result = answer.json()
            case _:
                if how == "in a batch without an embedder":
                    write.text = body["text"] = f"{secrets.token_hex(4)}."
                    self.stage.moody.away = True
                line = orjson.dumps({"document_id": write.document_id, **body})
                answer = await self.admin.call("POST", "/v1/documents/batch", content=line)
                self.stage.moody.away = False
                result = orjson.loads(answer.content)
        assert answer.is_success, answer.text
        assert "status" not in result, result
        write.job_id = result.get("job_id")
        write.is_done = write.job_id is None
        self.written.append(write)

    async def set_access(self, write: Acknowledged) -> None:
        body: dict[str, Any] = {} if write.owner is None else {"owner": write.owner}
        body |= {} if write.readers is None else {"readers": write.readers}
        path = f"/v1/documents/{write.document_id}/access"
        answer = await self.admin.call("PATCH", path, json=body)
        assert answer.status_code in (200, 404), answer.text
        if answer.status_code == 200:
            self.written.append(write)

    async def set_file(self, write: Acknowledged, *, attaches: bool) -> None:
        """Attach the file, which leaves access and chunker alone, or set its attributes only."""
        write.document_id, write.source, write.attribute = self.ids[-1], self.store, write.text
        write.text = "Attached." if attaches else None
        write.owner = write.readers = None
        body: dict[str, Any] = {"attributes": {"team": write.attribute}}
        body |= {"file_id": self.file} if attaches else {}
        path = f"/v1/vector_stores/{self.store}/files{'' if attaches else f'/{self.file}'}"
        answer = await self.admin.call("POST", path, json=body)
        assert answer.status_code in (200, 404), answer.text
        if attaches or answer.is_success:  # 404: an admin may replace what it may not read
            self.written.append(write)

    async def remove(self, write: Acknowledged) -> None:
        answer = await self.admin.call("DELETE", f"/v1/documents/{write.document_id}")
        assert answer.status_code in (200, 202, 404), answer.text
        if answer.is_success:
            self.written.append(write)

    async def hear(self, write: Acknowledged, *, is_access: bool) -> None:
        """An event; of a document that does not exist, it says who may read it."""
        exists = await self.stage.services.stores.documents.stored(
            self.tenant, write.document_id or ""
        )
        event: dict[str, Any] = {"document_id": write.document_id, "version": next(self.numbers)}
        if write.is_removal:
            event["type"] = "delete"
        else:
            if exists is None:
                write.owner, write.readers = write.owner or "ana", write.readers or ()
            if write.owner is not None and write.readers is not None:
                event["access"] = {"owner": write.owner, "readers": write.readers}
            else:
                write.owner = write.readers = None
            if is_access and exists is not None and "access" in event:
                event["type"], write.text, write.chunker = "access", None, None
            else:
                event |= {"type": "update", "document": {"text": write.text}}
                event["document"] |= {} if write.chunker is None else {"chunker": write.chunker}
                write.source = "events"
        hearer = EventHandler(
            self.stage.services.documents.writer,
            EventVersionStore(self.stage.services.stores.database),
            "en",
            may_publish=False,
        )
        await hearer.handle(
            self.tenant, event_schemas.parse(orjson.dumps(event), self.tenant, 100_000)
        )
        self.written.append(write)

    async def ask_to_read(self) -> None:
        answer = await self.admin.call("POST", "/v1/sources/handbook/reindex")
        assert answer.status_code == 202, answer.text
        job_id = answer.json()["job_id"]
        self.written = [each for each in self.written if each.job_id != job_id or each.is_done]
        self.written.append(Acknowledged(None, job_id=job_id, is_done=False))

    async def run_one(self, *, without_embedder: bool = False) -> bool:
        """Do a job, if one waits."""
        services = self.stage.services
        claimed = await self.stage.claim()
        if claimed is None:
            return False
        self.stage.moody.away = without_embedder and claimed.kind != SYNC
        await make_worker(services.worker).do(claimed, handlers(services.worker)[claimed.kind])
        self.stage.moody.away = False
        job = await JobStore(services.stores.database).get(self.tenant, claimed.job_id)
        assert job is not None
        place, write = next(
            (place, each)
            for place, each in enumerate(self.written)
            if each.job_id == claimed.job_id and not each.is_done
        )
        if job.state == "failed":
            assert without_embedder, job.error
            self.stage.failed += 1
            write.is_failed = True
            return True
        assert job.state == "done", job
        if claimed.kind == SYNC:
            self._has_read(place, write)
        write.is_done = True
        return True

    def _has_read(self, place: int, write: Acknowledged) -> None:
        """A document stays that a later write has, or that a queued one takes out of the source.

        All stay if the folder is empty, which may be unmounted. What has failed earlier is
        superseded where its document was removed.
        """
        write.files = {
            document_id: (self.folder / Path(document_id).name).read_text().strip()
            for document_id in IDS
            if (self.folder / Path(document_id).name).exists()
        }
        later = {each.document_id for each in self.written[place + 1 :] if each.text}
        queued = {each.document_id for each in self.written if not each.is_done | each.is_failed}
        kept = {*IDS} if not write.files else write.files.keys() | later | queued
        write.removes = sorted({*IDS} - kept)
        states = {document_id: self.expected(document_id) for document_id in write.removes}
        removed = {each for each, state in states.items() if state and state.source == "handbook"}
        self.written = [
            each
            for number, each in enumerate(self.written)
            if not each.is_failed or number > place or each.document_id not in removed
        ]

    async def replay(self) -> None:
        """What has failed; a removal of the document has forgotten what failed before it."""
        for place, each in reversed([*enumerate(self.written)]):
            if each.is_failed and each.job_id is not None:
                each.is_failed = False
                jobs = JobStore(self.stage.services.stores.database)
                if not await jobs.replay(self.tenant, each.job_id):
                    later = self.written[place:]
                    assert any(one.is_removal for one in later), self.written
                    del self.written[place]


class WriteOrderPlay(RuleBasedStateMachine):
    """One tenant of the stage of all."""

    stage: ClassVar[WriteOrderStage]
    loop: ClassVar[asyncio.AbstractEventLoop]

    def __init__(self) -> None:
        super().__init__()
        self.world = self.do(self._world())

    def do(self, work: Coroutine[Any, Any, T]) -> T:
        """In the loop of the gateway, which runs on meanwhile."""
        return asyncio.run_coroutine_threadsafe(work, self.loop).result(timeout=60)

    async def _world(self) -> WriteOrderWorld:
        while claimed := await self.stage.claim():  # of a play that was broken off
            await self.stage.services.stores.jobs.fail(claimed.run, "the play is over")
        tenant = f"play-{secrets.token_hex(6)}"
        await self.stage.gateway.tenant(tenant)
        admin = await self.stage.gateway.caller("ada", tenant=tenant, roles=["admin"])
        store = await admin.call("POST", "/v1/vector_stores", json={"name": "Files"})
        form = {"files": {"file": ("a.md", b"Attached.")}, "data": {"purpose": "assistants"}}
        file = await admin.call("POST", "/v1/files", **form)
        world = WriteOrderWorld(self.stage, tenant, admin, store.json()["id"], file.json()["id"])
        await world.set_file(Acknowledged(None, "first"), attaches=True)
        await asyncio.to_thread(world.folder.mkdir, parents=True)
        settings = {"path": "handbook", "readers": ["tenant"]}
        body = {"kind": "folder", "settings": settings}
        answer = await admin.call("PUT", "/v1/sources/handbook", json=body)
        assert answer.status_code == 200, answer.text
        return world

    # One rule, of which every play makes use; of several Hypothesis leaves some out of each play.
    @rule(
        action=st.sampled_from(
            ["put"] * 4
            + ["access"] * 3
            + ["attach"]
            + ["attributes"] * 2
            + ["event"] * 2
            + ["remove", "file", "read", "read", "run", "run", "fail", "fail", "replay"]
        ),
        document_id=documents,
        text=texts,
        owner=owners,
        readers=readers,
        chunker=chunkers,
        how=st.sampled_from(HOW),
        is_removal=st.sampled_from([False, False, False, True]),
        is_access=st.booleans(),
        amid=st.booleans(),
    )
    def step(
        self,
        action: str,
        document_id: str,
        text: str,
        owner: str | None,
        readers: tuple[str, ...] | None,
        chunker: str | None,
        how: How,
        *,
        is_removal: bool,
        is_access: bool,
        amid: bool,
    ) -> None:
        world = self.world
        document_id = world.ids[-1] if document_id == ATTACHED else document_id
        write = Acknowledged(document_id, text, owner=owner, readers=readers)
        match action:
            case "attach" | "attributes":
                attaches = action == "attach"
                self.do(self._amid(world.set_file(write, attaches=attaches), amid=amid))
            case "put":
                write.chunker = chunker
                self.do(world.put(how, write))
            case "access":
                write.text = None
                self.do(self._amid(world.set_access(write), amid=amid))
            case "event":
                write.chunker = chunker
                write.is_removal = is_removal
                self.do(world.hear(write, is_access=is_access))
            case "remove":
                write.is_removal = True
                self.do(self._amid(world.remove(write), amid=amid))
            case "file":
                path = world.folder / Path(document_id).name
                path.unlink(missing_ok=True) if is_removal else path.write_text(text)
            case "read":
                self.do(world.ask_to_read())
            case "run" | "fail":
                self.do(world.run_one(without_embedder=action == "fail"))
            case "replay":
                self.do(world.replay())
        self.do(world.check())

    async def _amid(self, work: Coroutine[Any, Any, None], *, amid: bool) -> None:
        """While the worker does a job, too."""
        if amid:
            await asyncio.gather(work, self.world.run_one())
        else:
            await work

    def teardown(self) -> None:
        self.do(self._end())

    async def _end(self) -> None:
        await self.world.replay()
        while await self.world.run_one():
            await self.world.check()
        await self.world.check()


@pytest.mark.filterwarnings("ignore:It looks like `register_random`")
async def test_the_acknowledged_order_decides_whenever_a_worker_runs(
    settings: Settings, embedder: Embedder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    moody = MoodyEmbedder(embedder)
    monkeypatch.setenv("NEARHIT_SOURCES_DIR", str(tmp_path))
    settings = settings.model_copy(update={"job_attempts_max": 1})
    async with (
        running(settings, moody) as gateway,
        worker_services(settings, moody) as services,
    ):
        WriteOrderPlay.stage = WriteOrderStage(gateway, services, moody, tmp_path)
        WriteOrderPlay.loop = asyncio.get_running_loop()

        await asyncio.to_thread(run_state_machine_as_test, WriteOrderPlay, settings=SIZE)

        assert WriteOrderPlay.stage.failed > 0  # else nothing was replayed
