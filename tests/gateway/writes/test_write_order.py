"""What is acknowledged later counts, whatever was queued or began to be read before."""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import uuid4

import orjson
import pytest

from gateway.extensions._sources.source_store import SYNC
from gateway.extensions.jobs.job_store import JobStore
from gateway.extensions.rabbitmq import event_schemas
from gateway.extensions.rabbitmq.event_handler import EventHandler
from gateway.extensions.rabbitmq.event_version_store import EventVersionStore
from gateway.monitoring.metrics import Metrics
from gateway.services import Services, open_services
from gateway.settings.settings import Settings
from gateway.worker import worker_loop
from gateway.worker.job_handlers import handlers
from index.documents.write_causes import Reading
from index.model.document import Document
from index.search.query_embedder import Embedder
from tests.gateway.support.gateways import Caller, Gateway, problem, running
from tests.gateway.support.unreliable_embedder import MoodyEmbedder
from tests.gateway.support.workers import worker_services

pytestmark = [pytest.mark.anyio, pytest.mark.isolated, pytest.mark.slow]

LATER = {"Prefer": "respond-async"}
FOLDER = {"kind": "folder", "settings": {"path": "handbook", "readers": ["tenant"]}}
PAGE = "handbook/leave.md"


@pytest.fixture
def page(tmp_path: Path) -> Path:
    folder = tmp_path / "sources" / "acme" / "handbook"
    folder.mkdir(parents=True)
    (folder / "leave.md").write_text("As the folder has it.\n")
    return folder / "leave.md"


@pytest.fixture
def settings(settings: Settings, page: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    monkeypatch.setenv("NEARHIT_SOURCES_DIR", str(page.parents[2]))
    fields = {"job_retry_delay_s": 0.01, "job_attempts_max": 2}
    return settings.model_copy(update=fields)


@pytest.fixture
async def services(settings: Settings, embedder: Embedder) -> AsyncIterator[Services]:
    """A worker's, which does what is queued when the test says so."""
    async with worker_services(settings, embedder) as opened:
        yield opened


async def work(services: Services) -> None:
    await worker_loop.make_worker(services.worker).drain()


async def put_later(caller: Caller, text: str, document_id: str = "x", **fields: Any) -> str:
    path, body = f"/v1/documents/{document_id}", {"text": text, **fields}
    answer = await caller.call("PUT", path, json=body, headers=LATER)
    assert answer.status_code == 202, answer.text
    job_id: str = answer.json()["job_id"]
    return job_id


async def patch(caller: Caller, document_id: str = "x", **access: Any) -> None:
    path = f"/v1/documents/{document_id}/access"
    answer = await caller.call("PATCH", path, json=access)
    assert answer.status_code == 200, answer.text


async def stored(caller: Caller, document_id: str = "x") -> dict[str, Any] | None:
    answer = await caller.call("GET", f"/v1/documents/{document_id}")
    shown: dict[str, Any] = answer.json()
    return shown if answer.status_code == 200 else None


async def job(caller: Caller, job_id: str) -> dict[str, Any]:
    shown: dict[str, Any] = (await caller.call("GET", f"/v1/jobs/{job_id}")).json()
    return shown


async def asked(admin: Caller, method: str, path: str) -> str:
    answer = await admin.call(method, path)
    assert answer.status_code == 202, answer.text
    job_id: str = answer.json()["job_id"]
    return job_id


async def hear(services: Services, **event: Any) -> None:
    body = orjson.dumps({"document_id": "x", **event})
    hearer = EventHandler(
        services.documents.writer,
        EventVersionStore(services.stores.database),
        "en",
        may_publish=False,
    )
    await hearer.handle("acme", event_schemas.parse(body, "acme", 1_000_000))


@dataclass(frozen=True, slots=True)
class Folder:
    path: Path

    def write(self, text: str, *names: str) -> None:
        for name in names:
            (self.path / f"{name}.md").write_text(text)

    def remove(self, name: str) -> None:
        (self.path / f"{name}.md").unlink()


class TestQueuedWrites:
    async def test_a_queued_write_does_not_undo_a_later_revocation(
        self, ana: Caller, ben: Caller, services: Services
    ) -> None:
        await ana.put("x", "One.", readers=["tenant"])
        await put_later(ana, "Two.", readers=["tenant"])
        await patch(ana, readers=[])
        await work(services)

        shown = await stored(ana)
        assert shown is not None
        assert (shown["text"], shown["readers"]) == ("Two.", [])
        assert await stored(ben) is None

    async def test_a_queued_write_does_not_undo_a_later_change_of_owner(
        self, admin: Caller, services: Services
    ) -> None:
        await admin.put("x", "One.", owner="ana")
        await put_later(admin, "Two.", owner="ana", readers=["tenant"])
        await patch(admin, owner="ben")
        await work(services)

        shown = await stored(admin)
        assert shown is not None
        assert (shown["text"], shown["owner"], shown["readers"]) == ("Two.", "ben", ["tenant"])

    async def test_a_revocation_that_finds_nothing_to_change_counts_all_the_same(
        self, ana: Caller, services: Services
    ) -> None:
        await ana.put("x", "One.")
        await put_later(ana, "Two.", readers=["tenant"])
        await patch(ana, readers=[])
        await work(services)

        shown = await stored(ana)
        assert shown is not None
        assert (shown["text"], shown["readers"]) == ("Two.", [])

    @pytest.mark.sampled("queued")
    @pytest.mark.parametrize("later", ["at once", "queued", "in a batch"])
    async def test_a_later_text_does_not_drop_a_queued_revocation(
        self, ana: Caller, services: Services, later: str
    ) -> None:
        await ana.put("x", "One.", readers=["tenant"])
        await put_later(ana, "Two.", readers=[])
        match later:
            case "at once":
                await ana.put("x", "Three.")
            case "queued":
                await put_later(ana, "Three.")
            case _:
                line = orjson.dumps({"document_id": "x", "text": "Three."})
                await ana.call("POST", "/v1/documents/batch", content=line)
        await work(services)

        shown = await stored(ana)
        assert shown is not None
        assert (shown["text"], shown["readers"]) == ("Three.", [])

    @pytest.mark.thorough
    async def test_a_queued_write_of_which_nothing_is_left_is_superseded_at_once(
        self, ana: Caller
    ) -> None:
        await ana.put("x", "One.")
        first = await put_later(ana, "Two.")
        second = await put_later(ana, "Two.", readers=["tenant"])
        between = await job(ana, second)
        await ana.put("x", "One.", readers=[])

        assert (await job(ana, first))["result"] == {"superseded": True}
        assert between["state"] == "waiting"
        assert (await job(ana, second))["result"] == {"superseded": True}

    @pytest.mark.thorough
    async def test_a_failed_write_that_is_replayed_undoes_nothing_later(
        self, settings: Settings, embedder: Embedder
    ) -> None:
        moody = MoodyEmbedder(embedder)
        async with (
            running(settings, moody) as gateway,
            open_services(settings, Metrics(), moody) as services,
        ):
            await gateway.tenant("acme")
            admin = await gateway.caller("ada", roles=["admin"])
            for document_id in ("x", "y"):
                await admin.put(document_id, "One.", readers=["tenant"])
            moody.away = True
            failed = [
                await put_later(admin, "Never seen before.", document_id, readers=["tenant"])
                for document_id in ("x", "y")
            ]
            await work(services)
            moody.away = False
            await patch(admin, "x", readers=[])
            await admin.put("y", "Two.", readers=[])
            for job_id in failed:
                answer = await admin.call("POST", f"/v1/jobs/{job_id}/replay")
                assert answer.status_code == 200, answer.text
            await work(services)

            one, other = await stored(admin, "x"), await stored(admin, "y")
            assert one is not None
            assert other is not None
            assert (one["text"], one["readers"]) == ("Never seen before.", [])
            assert (other["text"], other["readers"]) == ("Two.", [])
            assert (await job(admin, failed[1]))["result"] == {"superseded": True}

    @pytest.mark.thorough
    async def test_no_access_is_set_of_a_document_that_is_only_queued(
        self, ana: Caller, services: Services
    ) -> None:
        await put_later(ana, "One.", readers=["tenant"])
        answer = await ana.call("PATCH", "/v1/documents/x/access", json={"readers": []})
        await work(services)

        problem(answer, 404)
        shown = await stored(ana)
        assert shown is not None
        assert shown["readers"] == ["tenant"]


class TestReadings:
    async def test_a_reading_undoes_nothing_that_was_acknowledged_after_it_was_asked_for(
        self, admin: Caller, services: Services, page: Path
    ) -> None:
        folder = Folder(page.parent)
        folder.write("As the folder has it.\n", "patched", "removed", "written", "gone")
        await admin.call("PUT", "/v1/sources/handbook", json=FOLDER)
        await asked(admin, "POST", "/v1/sources/handbook/reindex")
        await work(services)
        folder.write("A newer text.\n", "leave", "patched", "removed", "written")
        folder.remove("gone")
        await asked(admin, "POST", "/v1/sources/handbook/reindex")
        await patch(admin, "handbook/patched.md", readers=["user:ada"])
        await admin.call("DELETE", "/v1/documents/handbook/removed.md")
        await admin.put("handbook/written.md", "By hand.", readers=["user:ada"])
        await admin.put("handbook/gone.md", "By hand.")
        await work(services)

        patched, written = [
            await stored(admin, f"handbook/{name}.md") for name in ("patched", "written")
        ]
        untouched = await stored(admin, PAGE)
        assert patched is not None
        assert written is not None
        assert untouched is not None
        assert (patched["text"], patched["readers"]) == ("A newer text.\n", ["user:ada"])
        assert (written["text"], written["readers"]) == ("By hand.", ["user:ada"])
        assert untouched["text"] == "A newer text.\n"
        assert await stored(admin, "handbook/removed.md") is None
        assert await stored(admin, "handbook/gone.md") is not None

    async def test_a_reading_that_is_asked_for_later_applies_what_the_source_says(
        self, admin: Caller, services: Services
    ) -> None:
        await admin.call("PUT", "/v1/sources/handbook", json=FOLDER)
        waiting = await asked(admin, "POST", "/v1/sources/handbook/reindex")
        await put_later(admin, "By hand.", PAGE, readers=[])
        again = await asked(admin, "POST", "/v1/sources/handbook/reindex")
        await work(services)

        shown = await stored(admin, PAGE)
        assert again == waiting
        assert shown is not None
        assert (shown["text"], shown["readers"]) == ("As the folder has it.\n", ["tenant"])

    @pytest.mark.thorough
    async def test_a_reading_that_finds_nothing_to_change_overtakes_what_was_queued_before(
        self, admin: Caller, services: Services
    ) -> None:
        await admin.call("PUT", "/v1/sources/handbook", json=FOLDER)
        await asked(admin, "POST", "/v1/sources/handbook/reindex")
        await work(services)
        await put_later(admin, "By hand.", PAGE, readers=[])
        reading = Reading(await services.stores.documents.next_sequence())
        (shown,) = (await services.stores.documents.stored_all("acme", [PAGE])).values()
        as_it_is = shown.document
        await services.documents.writer.put("acme", PAGE, lambda _: as_it_is, reading)
        await work(services)

        (left,) = (await services.stores.documents.stored_all("acme", [PAGE])).values()
        assert left.document == as_it_is

    @pytest.mark.thorough
    async def test_a_reading_leaves_what_a_queued_write_takes_to_another_source(
        self, admin: Caller, services: Services, page: Path
    ) -> None:
        await admin.call("PUT", "/v1/sources/handbook", json=FOLDER)
        await asked(admin, "POST", "/v1/sources/handbook/reindex")
        await work(services)
        await put_later(admin, "By hand.", PAGE)
        Folder(page.parent).remove("leave")
        await asked(admin, "POST", "/v1/sources/handbook/reindex")
        reading = await services.stores.jobs.claim(
            uuid4(), lease_s=60, tenant_jobs_max=1, kinds=[SYNC]
        )
        assert reading is not None
        await worker_loop.make_worker(services.worker).do(reading, handlers(services.worker)[SYNC])
        await work(services)

        shown = await stored(admin, PAGE)
        assert shown is not None
        assert (shown["text"], shown["source"]) == ("By hand.", "api")

    @pytest.mark.thorough
    async def test_a_document_that_is_written_after_its_source_is_removed_stays(
        self, admin: Caller, services: Services
    ) -> None:
        for document_id in ("x", "y", "z"):
            await admin.put(document_id, "One.", source="notes")
        await put_later(admin, "Two.", "z", source="notes")
        await asked(admin, "DELETE", "/v1/sources/notes")
        await admin.put("x", "One.", source="notes")
        await work(services)

        assert await stored(admin, "x") is not None
        assert await stored(admin, "y") is None
        assert await stored(admin, "z") is None


class TestEvents:
    async def test_a_document_that_an_event_removes_is_not_written_by_what_was_queued(
        self, ana: Caller, services: Services
    ) -> None:
        await put_later(ana, "One.")
        await hear(services, type="delete", version=1)
        await work(services)

        assert await stored(ana) is None

    async def test_access_that_an_event_sets_is_kept_for_what_was_queued(
        self, ana: Caller, services: Services
    ) -> None:
        await put_later(ana, "One.", readers=["tenant"])
        access = {"owner": "ana", "readers": ["user:ben"]}
        await hear(services, type="access", version=1, access=access)
        await work(services)

        shown = await stored(ana)
        assert shown is not None
        assert (shown["text"], shown["readers"]) == ("One.", ["user:ben"])

    async def test_an_event_that_finds_nothing_to_change_overtakes_what_was_queued(
        self, ana: Caller, services: Services
    ) -> None:
        content = {"text": "One."}
        access = {"owner": "ana", "readers": ["tenant"]}
        await hear(services, type="create", version=1, document=content, access=access)
        await put_later(ana, "Two.", readers=[])
        await hear(services, type="update", version=2, document=content, access=access)
        await work(services)

        shown = await stored(ana)
        assert shown is not None
        assert (shown["text"], shown["readers"]) == ("One.", ["tenant"])


@pytest.mark.thorough
async def test_removals_are_remembered_as_long_as_an_earlier_job_may_run(
    ana: Caller, services: Services
) -> None:
    await ana.put("x", "One.")
    early = Reading(await services.stores.documents.next_sequence())
    waiting = await put_later(ana, "Two.", "other")
    await ana.call("DELETE", "/v1/documents/x")

    async def write() -> bool:
        one = Document("x", "", "One.", "read", "", "en", (), {}, None, ())
        return (await services.documents.writer.put("acme", "x", lambda _: one, early)).changed

    await services.stores.documents.forget_removed(0.0)
    assert not await write()
    assert await JobStore(services.stores.database).delete("acme", waiting)
    await services.stores.jobs.run_now("acme")
    await work(services)  # the words of what was forgotten
    await services.stores.documents.forget_removed(0.0)
    assert await write()


async def test_another_tenants_caller_changes_nothing_of_the_order(
    ana: Caller, gateway: Gateway, services: Services
) -> None:
    await gateway.tenant("beta")
    stranger = await gateway.caller("eve", tenant="beta")
    await ana.put("x", "One.", readers=["tenant"])
    await put_later(ana, "Two.", readers=[])
    await stranger.put("x", "Theirs.", readers=["tenant"])
    await patch(stranger, readers=["tenant"])
    await work(services)

    shown = await stored(ana)
    assert shown is not None
    assert (shown["text"], shown["readers"]) == ("Two.", [])
