"""Sources that a server reads by itself: when, how far, and what becomes of their documents."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest

from gateway.extensions._sources.removal_job import RemoveSourceJob
from gateway.extensions._sources.source_store import REMOVE, SYNC
from gateway.extensions.sources.extension import enqueue_due
from gateway.extensions.sources.sync_job import SyncSourceJob
from gateway.monitoring.metrics import Metrics
from gateway.services import Services
from gateway.settings.settings import Settings
from gateway.worker import worker_loop
from gateway.worker.worker_services import WorkerServices
from index.jobs.job_queue import ClaimedJob
from index.search.query_embedder import Embedder
from ingest.worker.job_worker import Handler, Worker
from ingest.write.writer import Writer
from tests.conftest import run_sql
from tests.gateway.extensions.mcp.test_mcp import connected
from tests.gateway.support.gateways import Caller, Gateway, problem
from tests.gateway.support.workers import worker_services

pytestmark = [pytest.mark.anyio, pytest.mark.isolated]

FOLDER = {"kind": "folder", "settings": {"path": "handbook"}}
NO_SOURCES: dict[str, Any] = {"sources": [], "cursor": None}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """The tenant's folder of sources, with a handbook of two pages in it."""
    folder = tmp_path / "sources" / "acme" / "handbook"
    folder.mkdir(parents=True)
    (folder / "leave.md").write_text("# Leave\n\nEverybody gets 25 days of annual leave a year.\n")
    (folder / "travel.md").write_text("# Travel\n\nBook trains with the travel desk.\n")
    return folder.parent


@pytest.fixture
def settings(settings: Settings, root: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    monkeypatch.setenv("NEARHIT_SOURCES_DIR", str(root.parent))
    return settings.model_copy(update={"job_retry_delay_s": 0.01})


@pytest.fixture
def metrics() -> Metrics:
    return Metrics()


@pytest.fixture
async def services(
    settings: Settings, metrics: Metrics, embedder: Embedder
) -> AsyncIterator[Services]:
    """A worker's, which does what is queued when it is told to."""
    async with worker_services(settings, embedder, metrics=metrics) as made:
        yield made


async def work(services: Services) -> None:
    await worker_loop.make_worker(services.worker).drain()


async def queue_due(services: Services) -> None:
    await enqueue_due(services.extensions["sources"].sources)


async def put(admin: Caller, source: str = "handbook", **fields: Any) -> dict[str, Any]:
    answer = await admin.call("PUT", f"/v1/sources/{source}", json={**FOLDER, **fields})
    assert answer.status_code == 200, answer.text
    shown: dict[str, Any] = answer.json()
    return shown


async def ask(admin: Caller, method: str, path: str) -> dict[str, Any]:
    """The job that does it, as it is now."""
    answer = await admin.call(method, path)
    assert answer.status_code == 202, answer.text
    return await job(admin, answer.json()["job_id"])


async def job(admin: Caller, job_id: str) -> dict[str, Any]:
    shown: dict[str, Any] = (await admin.call("GET", f"/v1/jobs/{job_id}")).json()
    return shown


async def source(admin: Caller, name: str = "handbook") -> dict[str, Any]:
    listed = (await admin.call("GET", "/v1/sources")).json()["sources"]
    found: dict[str, Any] = next(each for each in listed if each["source"] == name)
    return found


@asynccontextmanager
async def at_work(worker: Worker) -> AsyncIterator[None]:
    """Its jobs end with the block, done or not."""
    stop = asyncio.Event()
    running_worker = asyncio.create_task(worker.run(stop))
    try:
        yield
    finally:
        stop.set()
        await running_worker


@pytest.mark.slow
async def test_huge_folders_of_two_tenants_delay_no_small_one_of_a_third(
    gateway: Gateway, services: Services, root: Path
) -> None:
    made = worker_loop.make_worker(services.worker)
    made.limits = replace(made.limits, turn_s=0.2, stop_s=0.1)
    jobs = []
    async with at_work(made):
        for files, state in ((3_000, "running"), (3_000, "running"), (2, "done")):
            tenant = await gateway.new_tenant()
            folder = root.parent / tenant / "handbook"
            folder.mkdir(parents=True)
            for number in range(files):
                (folder / f"{number}.md").write_text(f"# Leave {number}\n\nIt has {number} days.\n")
            admin = await gateway.caller("ada", tenant=tenant, roles=["admin"])
            await put(admin)
            asked = await ask(admin, "POST", "/v1/sources/handbook/reindex")
            jobs.append((admin, asked["job_id"]))
            async with asyncio.timeout(60):
                while (await job(*jobs[-1]))["state"] != state:
                    await asyncio.sleep(0.01)
        states = [(await job(*each))["state"] for each in jobs]

    assert states == ["running", "running", "done"]


class TestReading:
    @pytest.mark.slow
    async def test_a_folder_is_read_when_asked_and_what_is_gone_is_removed(
        self, admin: Caller, ana: Caller, services: Services, root: Path
    ) -> None:
        made = await put(admin)
        asked = await ask(admin, "POST", "/v1/sources/handbook/reindex")
        again = await ask(admin, "POST", "/v1/sources/handbook/reindex")
        await work(services)
        first = await source(admin)
        found_first = set(await ana.found("leave travel"))
        (root / "handbook" / "travel.md").unlink()
        (root / "handbook" / "broken.md").write_bytes(b"\x89PNG\r\n\x1a\n\0\0\0\r")
        second_job = await ask(admin, "POST", "/v1/sources/handbook/reindex")
        await work(services)
        second = await source(admin)
        second_job = await job(admin, second_job["job_id"])

        assert (made["state"], made["last_run_at"], made["counts"]) == ("idle", None, {})
        assert again["job_id"] == asked["job_id"]  # it waits already
        assert first["counts"]["documents"] == 2
        assert first["counts"]["embedded"] == 2
        assert found_first == {"handbook/leave.md", "handbook/travel.md"}
        assert (second["state"], second["last_error"]) == ("idle", None)
        assert second["counts"]["removed"] == 1
        assert second["counts"]["embedded"] == 0
        assert second_job["result"]["first_rejected"][0].startswith("broken.md: is no text")
        assert await ana.found("leave travel") == ["handbook/leave.md"]

    @pytest.mark.slow
    async def test_an_empty_folder_keeps_its_documents_until_an_admin_confirms_their_removal(
        self, admin: Caller, ana: Caller, services: Services, metrics: Metrics, root: Path
    ) -> None:
        await put(admin)
        await ask(admin, "POST", "/v1/sources/handbook/reindex")
        await work(services)
        too_early = await admin.call("POST", "/v1/sources/handbook/confirm-removals")
        mounted, unmounted = root / "handbook", root / "elsewhere"
        mounted.rename(unmounted)
        mounted.mkdir()
        for _ in range(2):  # a second reading keeps them as well
            await ask(admin, "POST", "/v1/sources/handbook/reindex")
            await work(services)
        empty = await source(admin)
        found = set(await ana.found("leave travel"))
        await services.state_sampler.sample()
        exposed = metrics.registry.exposition()[0].decode()
        not_allowed = await ana.call("POST", "/v1/sources/handbook/confirm-removals")
        await ask(admin, "POST", "/v1/sources/handbook/confirm-removals")
        await work(services)
        confirmed = await source(admin)

        problem(too_early, 409)
        problem(not_allowed, 403)
        assert (empty["state"], empty["pending_removals"]) == ("needs_attention", 2)
        assert empty["counts"]["removed"] == 0
        assert "nearhit_sources_needing_attention 1.0" in exposed
        assert found == {"handbook/leave.md", "handbook/travel.md"}
        assert (confirmed["state"], confirmed["pending_removals"]) == ("idle", None)
        assert confirmed["counts"]["removed"] == 2
        assert await ana.found("leave travel") == []

    @pytest.mark.thorough
    @pytest.mark.slow
    async def test_a_confirmation_holds_for_one_reading_and_for_what_was_shown(
        self, admin: Caller, services: Services, root: Path
    ) -> None:
        notes = [root / "handbook" / f"{number}.md" for number in range(10)]
        for note in notes:
            note.write_text(f"Note {note.stem}.")
        await put(admin)
        await ask(admin, "POST", "/v1/sources/handbook/reindex")
        await work(services)

        async def remove(count: int, *, confirms: bool) -> dict[str, Any]:
            for note in notes[:count]:
                note.unlink(missing_ok=True)
            path = "confirm-removals" if confirms else "reindex"
            await ask(admin, "POST", f"/v1/sources/handbook/{path}")
            await work(services)
            return await source(admin)

        many = await remove(4, confirms=False)
        more = await remove(6, confirms=True)  # two more are missing than the admin was shown
        once = await remove(6, confirms=True)
        again = await remove(10, confirms=False)
        for note in notes:
            note.write_text(f"Note {note.stem}.")
        back = await remove(0, confirms=False)

        assert (many["state"], many["pending_removals"]) == ("needs_attention", 4)
        assert (more["state"], more["pending_removals"]) == ("needs_attention", 6)
        assert (once["state"], once["counts"]["removed"]) == ("idle", 6)
        assert (again["state"], again["pending_removals"]) == ("needs_attention", 4)
        assert (back["state"], back["pending_removals"]) == ("idle", None)

    @pytest.mark.thorough
    @pytest.mark.slow
    async def test_a_file_is_read_by_its_kind(
        self, admin: Caller, ana: Caller, services: Services, root: Path
    ) -> None:
        rule = "Annual leave has 25 days. " * 100
        (root / "rules.csv").write_text(f"code,rule\nr1,{rule}\n")
        settings = {
            "path": "rules.csv",
            "columns": {"id": "code", "text": "rule"},
            "chunker": "whole",
        }
        settings["summaries"] = "extract"
        await put(admin, "rules", kind="csv", settings=settings)
        asked = await ask(admin, "POST", "/v1/sources/rules/reindex")
        await work(services)
        (root / "rules.csv").unlink()
        again = await ask(admin, "POST", "/v1/sources/rules/reindex")
        await work(services)

        assert (await job(admin, asked["job_id"]))["result"]["documents"] == 1
        assert (await job(admin, again["job_id"]))["error"].startswith("There is no file rules.csv")
        assert await ana.found("annual leave") == ["rules/r1"]
        assert await ana.found("annual leave", filter={"kinds": ["summary"]}) == ["rules/r1"]

    @pytest.mark.slow
    async def test_who_may_read_its_documents_is_said_by_the_source(
        self, admin: Caller, ana: Caller, ben: Caller, services: Services
    ) -> None:
        await put(admin, settings={"path": "handbook", "readers": ["group:sales"], "tags": ["hr"]})
        await ask(admin, "POST", "/v1/sources/handbook/reindex")
        await work(services)

        assert await ana.found("annual leave") == []
        assert "handbook/leave.md" in await ben.found("annual leave", filter={"tags_any": ["hr"]})

    @pytest.mark.thorough
    @pytest.mark.slow
    async def test_a_folder_that_is_gone_is_told_and_takes_no_document_with_it(
        self, admin: Caller, ana: Caller, services: Services, root: Path
    ) -> None:
        await put(admin)
        await ask(admin, "POST", "/v1/sources/handbook/reindex")
        await work(services)
        (root / "handbook").rename(root / "elsewhere")
        await ask(admin, "POST", "/v1/sources/handbook/reindex")
        await work(services)
        failed = await source(admin)
        (root / "elsewhere").rename(root / "handbook")
        await ask(admin, "POST", "/v1/sources/handbook/reindex")
        await work(services)
        mended = await source(admin)
        failures = (await admin.call("GET", "/v1/jobs?state=failed")).json()["jobs"]

        assert failed["state"] == "failed"
        assert failed["last_error"].startswith("There is no folder handbook")
        assert (mended["state"], mended["last_error"]) == ("idle", None)
        assert failures == []  # the next reading has made up for it
        assert len(await ana.found("leave travel")) == 2


REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"kind": "s3", "settings": {}}, "kind"),
    ({"kind": "folder", "settings": {"path": "/etc"}}, "settings.path"),
    ({"kind": "folder", "settings": {"path": "../x"}}, "settings.path"),
    ({"kind": "folder", "settings": {"path": "a/../../x"}}, "settings.path"),
    ({**FOLDER, "schedule": "whenever"}, "schedule"),
    ({**FOLDER, "password": "x"}, "password"),
]


class TestWhatMayBeRead:
    async def test_anything_else_is_refused_by_field(self, admin: Caller) -> None:
        for body, field in REFUSED:
            answer = problem(await admin.call("PUT", "/v1/sources/x", json=body), 422)

            assert answer["errors"][0]["field"] == field, body

    @pytest.mark.slow
    async def test_a_link_out_of_the_folder_of_sources_is_not_followed(
        self, admin: Caller, services: Services, root: Path, tmp_path: Path
    ) -> None:
        (tmp_path / "private").mkdir()
        (tmp_path / "private" / "secret.md").write_text("# Secret")
        (root / "handbook" / "link").symlink_to(tmp_path / "private")
        await put(admin, settings={"path": "handbook/link"})
        asked = await ask(admin, "POST", "/v1/sources/handbook/reindex")
        await work(services)

        failed = await job(admin, asked["job_id"])
        assert (failed["state"], failed["attempts"]) == ("failed", 1)
        assert "leads outside" in failed["error"]

    async def test_many_sources_are_listed_in_pages_by_name(
        self, gateway: Gateway, settings: Settings
    ) -> None:
        assert settings.database_url is not None
        await gateway.tenant("many")
        admin = await gateway.caller("eve", tenant="many", roles=["admin"])
        await run_sql(
            settings.database_url.get_secret_value(),
            "INSERT INTO sources (tenant, source) "
            "SELECT 'many', 'source/' || lpad(number::text, 3, '0') "
            "FROM generate_series(1, 200) AS number",
        )

        first = (await admin.call("GET", "/v1/sources")).json()
        second = (await admin.call("GET", f"/v1/sources?cursor={first['cursor']}")).json()

        names = [row["source"] for page in (first, second) for row in page["sources"]]
        assert names == [f"source/{number:03}" for number in range(1, 201)]
        assert (first["cursor"], second["cursor"]) == ("source/100", None)
        problem(await admin.call("GET", "/v1/sources?cursor=%00"), 422)

    @pytest.mark.slow
    async def test_sources_are_an_admins_and_of_its_own_tenant(
        self, ana: Caller, admin: Caller, gateway: Gateway
    ) -> None:
        await put(admin)
        await gateway.tenant("beta")
        stranger = await gateway.caller("eve", tenant="beta", roles=["admin"])

        problem(await ana.call("GET", "/v1/sources"), 403)
        problem(await ana.call("PUT", "/v1/sources/x", json=FOLDER), 403)
        problem(await ana.call("DELETE", "/v1/sources/handbook"), 403)
        assert (await stranger.call("GET", "/v1/sources")).json() == NO_SOURCES
        problem(await stranger.call("POST", "/v1/sources/handbook/reindex"), 404)
        problem(await stranger.call("DELETE", "/v1/sources/handbook"), 404)

    @pytest.mark.slow
    async def test_what_others_bring_can_not_be_read_again(
        self, ana: Caller, admin: Caller
    ) -> None:
        await ana.put("leave", "# Leave")

        problem(await admin.call("POST", "/v1/sources/api/reindex"), 409)


class TestSchedules:
    @pytest.mark.slow
    async def test_a_source_is_read_when_its_date_has_come_and_once(
        self, admin: Caller, services: Services, database_url: str
    ) -> None:
        made = await put(admin, schedule="0 3 * * *")
        await queue_due(services)
        before = (await admin.call("GET", "/v1/jobs")).json()["jobs"]
        await run_sql(database_url, "UPDATE sources SET next_run_at = now()")
        await asyncio.gather(*(queue_due(services) for _ in range(3)))
        due = (await admin.call("GET", "/v1/jobs")).json()["jobs"]
        await work(services)

        assert made["next_run_at"] is not None
        assert before == []
        assert [each["kind"] for each in due] == ["source.sync"]
        after = await source(admin)
        assert after["next_run_at"] == made["next_run_at"]
        assert after["counts"]["documents"] == 2

    @pytest.mark.thorough
    async def test_a_paused_one_is_not(self, admin: Caller, services: Services) -> None:
        await put(admin, schedule="* * * * *")
        paused = await put(admin, schedule="* * * * *", paused=True)
        await queue_due(services)

        assert (paused["state"], paused["next_run_at"]) == ("paused", None)
        assert (await admin.call("GET", "/v1/jobs")).json()["jobs"] == []


class TestConfigurationDuringReading:
    """What a reading has read, and not written yet, when its source is configured anew."""

    @pytest.mark.slow
    @pytest.mark.parametrize("paused", [False, True])
    async def test_it_is_written_as_the_source_is_configured_now(
        self, admin: Caller, ana: Caller, services: Services, *, paused: bool
    ) -> None:
        ben = await Gateway(ana.client).caller("ben", groups=["board"])
        await put(admin)
        asked = await ask(admin, "POST", "/v1/sources/handbook/reindex")
        held = HeldWriter(services.documents.writer)
        working_on = asyncio.create_task(worker_loop.make_worker(held.instead(services)).drain())
        await held.begun.wait()
        settings = {"path": "handbook", "readers": ["group:board"]}
        await put(admin, settings=settings, paused=paused)
        held.may_write.set()
        await asyncio.wait_for(working_on, 60)

        read = await job(admin, asked["job_id"])
        assert (read["state"], read["attempts"], read["result"]["chunks_added"]) == ("done", 1, 2)
        assert await ana.found("leave travel") == []
        assert len(await ben.found("leave travel")) == 2
        assert (await source(admin))["last_error"] is None

    async def test_a_reading_goes_on_if_other_documents_come_of_none(
        self, admin: Caller, ana: Caller, services: Services
    ) -> None:
        await put(admin)
        await ask(admin, "POST", "/v1/sources/handbook/reindex")
        held = HeldWriter(services.documents.writer)
        working_on = asyncio.create_task(worker_loop.make_worker(held.instead(services)).drain())
        await held.begun.wait()
        await put(admin, schedule="0 3 * * *")
        held.may_write.set()
        await asyncio.wait_for(working_on, 60)

        assert held.writes == 1
        assert len(await ana.found("leave travel")) == 2

    async def test_it_is_not_written_once_the_removal_of_the_source_is_acknowledged(
        self, admin: Caller, services: Services
    ) -> None:
        await put(admin)
        asked = await ask(admin, "POST", "/v1/sources/handbook/reindex")
        held = HeldWriter(services.documents.writer)
        working_on = asyncio.create_task(worker_loop.make_worker(held.instead(services)).drain())
        await held.begun.wait()
        removal = await ask(admin, "DELETE", "/v1/sources/handbook")
        held.may_write.set()
        await asyncio.wait_for(working_on, 60)

        read = await job(admin, asked["job_id"])
        assert (read["state"], read["error"]) == ("failed", "The source is being removed.")
        assert (await job(admin, removal["job_id"]))["result"] == {"removed": 0}


class TestRemoval:
    @pytest.mark.slow
    async def test_a_source_goes_with_all_its_documents_and_no_others(
        self, admin: Caller, ana: Caller, services: Services
    ) -> None:
        await put(admin, schedule="* * * * *")
        await ask(admin, "POST", "/v1/sources/handbook/reindex")
        await work(services)
        await ana.put("own", "# Leave\n\nMy own leave.")
        assert len(await ana.found("leave travel")) == 3
        await ask(admin, "POST", "/v1/sources/handbook/reindex")
        asked = await ask(admin, "DELETE", "/v1/sources/handbook")
        await work(services)

        assert (await job(admin, asked["job_id"]))["result"] == {"removed": 2}
        assert await ana.found("leave travel") == ["own"]
        listed = (await admin.call("GET", "/v1/sources")).json()["sources"]
        assert [each["source"] for each in listed] == ["api"]
        assert (await admin.call("GET", "/v1/jobs?kind=source.sync&state=waiting")).json()[
            "jobs"
        ] == []

    @pytest.mark.slow
    async def test_a_removal_lets_others_have_their_turn_and_goes_on_where_it_stopped(
        self, gateway: Gateway, admin: Caller, ana: Caller, services: Services
    ) -> None:
        await put(admin)
        await ask(admin, "POST", "/v1/sources/handbook/reindex")
        await work(services)
        runs: list[str] = []

        def recorded(handler: Handler) -> Handler:
            async def call(job: ClaimedJob) -> Mapping[str, Any]:
                runs.append(job.kind)
                return await handler(job)

            return call

        removal = cast("RemoveSourceJob", services.worker.handlers[REMOVE])
        services.worker.handlers[REMOVE] = replace(removal, turn_s=0.0)
        asked = await ask(admin, "DELETE", "/v1/sources/handbook")
        writer = await gateway.caller("bob", tenant=await gateway.new_tenant())
        written = await writer.call(
            "PUT",
            "/v1/documents/leave",
            json={"text": "Leave."},
            headers={"Prefer": "respond-async"},
        )
        made = worker_loop.make_worker(services.worker)
        made.handlers = {kind: recorded(handler) for kind, handler in made.handlers.items()}
        made.limits = replace(made.limits, jobs_max=1)
        await made.drain()

        assert written.status_code == 202
        assert runs[:2] == [REMOVE, "document.write"]
        assert runs.count(REMOVE) > 1
        assert (await job(admin, asked["job_id"]))["result"] == {"removed": 2}
        assert await ana.found("leave travel") == []

    @pytest.mark.thorough
    @pytest.mark.slow
    async def test_a_reading_that_is_going_on_gives_up(
        self, admin: Caller, ana: Caller, services: Services
    ) -> None:
        await put(admin)
        asked = await ask(admin, "POST", "/v1/sources/handbook/reindex")
        slow = SlowWriter(services.documents.writer)
        working_on = asyncio.create_task(worker_loop.make_worker(slow.instead(services)).drain())
        await slow.begun.wait()
        await ask(admin, "DELETE", "/v1/sources/handbook")
        await asyncio.wait_for(working_on, 60)

        read = await job(admin, asked["job_id"])
        assert (read["state"], read["error"]) == ("failed", "The source is being removed.")
        assert await ana.found("annual leave") == []
        assert (await admin.call("GET", "/v1/sources")).json() == NO_SOURCES


class SlowWriter:
    """Writes a batch, and does not come back until it is cancelled."""

    def __init__(self, writer: Writer) -> None:
        self._writer = writer
        self.begun = asyncio.Event()

    def instead(self, services: Services) -> WorkerServices:
        writer = cast("Writer", self)
        sources = replace(services.extensions["sources"], writer=writer)
        handlers = services.worker.handlers | {SYNC: SyncSourceJob(sources)}
        return replace(services.worker, writer=writer, handlers=handlers)

    async def put_all(self, *arguments: Any) -> None:
        await self._writer.put_all(*arguments)
        self.begun.set()
        await asyncio.Event().wait()

    async def remove(self, *arguments: Any, **options: Any) -> Any:
        return await self._writer.remove(*arguments, **options)


class HeldWriter(SlowWriter):
    """Writes as soon as it may."""

    def __init__(self, writer: Writer) -> None:
        super().__init__(writer)
        self.may_write = asyncio.Event()
        self.writes = 0

    async def put_all(self, *arguments: Any) -> Any:
        self.begun.set()
        await self.may_write.wait()
        self.writes += 1
        return await self._writer.put_all(*arguments)


@pytest.mark.thorough
async def test_hits_link_to_where_the_source_opens(
    admin: Caller, ana: Caller, services: Services
) -> None:
    links = []
    for base in (None, "https://wiki.example/docs", "https://new.example/"):
        await put(admin, settings={"path": "handbook", "base_url": base})
        await ask(admin, "POST", "/v1/sources/handbook/reindex")
        await work(services)
        (hit,) = (await ana.search("annual leave", top_k=1)).json()["hits"]
        arguments = {"query": "annual leave", "top_k": 1}
        async with connected(ana) as client:
            found = await client.call_tool("search", arguments)
        links.append((hit["uri"], found.structured_content["results"][0]["url"]))

    assert links == [
        (link, link)
        for link in (
            "leave.md",
            "https://wiki.example/docs/leave.md",
            "https://new.example/leave.md",
        )
    ]


async def test_a_base_that_is_no_url_is_refused(admin: Caller) -> None:
    body = FOLDER | {"settings": {"path": "handbook", "base_url": "wiki"}}

    answer = await admin.call("PUT", "/v1/sources/handbook", json=body)

    assert problem(answer, 422)["errors"][0]["field"] == "settings.base_url"
