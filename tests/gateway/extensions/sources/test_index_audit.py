"""The index audited: by the command, by schedule, and against the sources that a server reads."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from common.command_errors import CommandError
from gateway.cli import operations
from gateway.extensions.audits import index_audit_run
from gateway.extensions.audits.audit_progress import ProblemCounts
from gateway.extensions.audits.index_audit_job import enqueue_due_audits
from gateway.monitoring.metrics import Metrics
from gateway.services import Services, open_services
from gateway.settings.groups.jobs import NEVER
from gateway.settings.settings import Settings
from gateway.worker import worker_loop
from index.search.query_embedder import Embedder
from tests.conftest import run_sql
from tests.gateway.support.commands import command, environment_of, succeeds
from tests.gateway.support.gateways import Caller
from tests.gateway.support.workers import worker_services

pytestmark = [pytest.mark.anyio, pytest.mark.isolated]

LEAVE = "# Leave\n\nEverybody gets 25 days of annual leave a year."
LOSE_A_VECTOR = "DELETE FROM chunks WHERE chunk_id = (SELECT min(chunk_id) FROM chunks)"
ALL_DUE = "UPDATE index_audits SET next_run_at = now()"
HANDBOOK = {"kind": "folder", "settings": {"path": "handbook"}}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """The tenant's folder of sources, with a handbook of one page in it."""
    folder = tmp_path / "sources" / "acme" / "handbook"
    folder.mkdir(parents=True)
    (folder / "leave.md").write_text(LEAVE)
    return folder.parent


@pytest.fixture
def settings(settings: Settings, root: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    monkeypatch.setenv("NEARHIT_SOURCES_DIR", str(root.parent))
    return settings


@pytest.fixture
async def services(settings: Settings, embedder: Embedder) -> AsyncIterator[Services]:
    """A worker's, which does what is queued when it is told to."""
    async with worker_services(settings, embedder) as made:
        yield made


async def audited(settings: Settings, *tenants: str, repair: bool = False) -> ProblemCounts:
    counts = ProblemCounts(lambda _: None)
    async with operations.auditing_services(settings) as services:
        names = await operations.resolve_tenants(services.stores.tenants, tenants)
        async for entry in index_audit_run.problems(
            services, names, counts.add_documents, repair=repair
        ):
            counts.add(*entry)
    return counts


async def work(services: Services) -> None:
    await worker_loop.make_worker(services.worker).drain()


async def status(admin: Caller) -> dict[str, Any]:
    shown: dict[str, Any] = (await admin.call("GET", "/v1/ingest/status")).json()
    return shown


class TestTheCommand:
    @pytest.fixture
    def no_blocking_calls(self) -> None:
        """Commands may block the loop that they start for themselves: nobody else waits in it."""

    @pytest.mark.thorough
    @pytest.mark.slow
    async def test_it_fails_until_what_is_wrong_is_mended(
        self, settings: Settings, database_url: str, ana: Caller
    ) -> None:
        environment = environment_of(settings)
        await ana.put("leave", LEAVE)
        sound = await succeeds(environment, "audit", "index")
        await run_sql(database_url, LOSE_A_VECTOR)

        broken = await command(environment, "audit", "index")
        mended = await succeeds(environment, "audit", "index", "--repair")
        again = await succeeds(environment, "audit", "index", "--tenant", "acme")

        assert sound.endswith("1 documents: no problems\n")
        assert broken.exit_code == 1
        assert "problem orphan of acme/leave: 1 chunks" in broken.stdout
        assert "1 problems (1 orphan), 1 unrepaired" in broken.stdout
        assert "repaired orphan of acme/leave: 1 chunks" in mended
        assert again.endswith("1 documents: no problems\n")
        assert await ana.found("annual leave") == ["leave"]


class TestAuditedSources:
    @pytest.mark.thorough
    @pytest.mark.slow
    async def test_documents_that_are_behind_are_told_and_read_again(
        self, settings: Settings, admin: Caller, services: Services, root: Path
    ) -> None:
        await admin.call("PUT", "/v1/sources/handbook", json=HANDBOOK)
        never_read = await audited(settings)
        await admin.call("POST", "/v1/sources/handbook/reindex")
        await work(services)
        sound = await audited(settings)
        (root / "handbook" / "leave.md").write_text(LEAVE.replace("25", "27"))
        (root / "handbook" / "travel.md").write_text("# Travel\n\nBy train.")
        behind = await audited(settings)
        await audited(settings, repair=True)
        await work(services)

        assert [problem.detail for _, problem in never_read.listed] == ["1 documents"]
        assert sound.listed == []
        ((tenant, problem),) = behind.listed
        assert (tenant, problem.kind, problem.where, problem.detail) == (
            *("acme", "behind", "handbook"),
            "2 documents",
        )
        assert (await audited(settings)).listed == []

    @pytest.mark.slow
    async def test_one_that_can_not_be_read_is_told(
        self, settings: Settings, admin: Caller, root: Path
    ) -> None:
        await admin.call("PUT", "/v1/sources/handbook", json=HANDBOOK)
        (root / "handbook").rename(root / "elsewhere")

        ((_, problem),) = (await audited(settings, repair=True)).listed

        assert (problem.kind, problem.is_repaired) == ("behind", False)
        assert problem.detail.startswith("There is no folder handbook in NEARHIT_SOURCES_DIR/acme")


class TestAuditSchedules:
    @pytest.mark.thorough
    @pytest.mark.slow
    async def test_each_tenant_is_audited_when_its_date_has_come_and_once(
        self, admin: Caller, ana: Caller, services: Services, database_url: str
    ) -> None:
        await ana.put("leave", LEAVE)
        await run_sql(database_url, LOSE_A_VECTOR)
        await enqueue_due_audits(services.worker)
        before = (await admin.call("GET", "/v1/jobs")).json()["jobs"]
        never = await status(admin)
        await run_sql(database_url, ALL_DUE)
        await asyncio.gather(*(enqueue_due_audits(services.worker) for _ in range(3)))
        due = (await admin.call("GET", "/v1/jobs")).json()["jobs"]
        await work(services)
        (done,) = (await admin.call("GET", "/v1/jobs")).json()["jobs"]

        assert before == []
        assert (never["audited_at"], never["problems"]) == (None, {})
        assert [each["kind"] for each in due] == ["consistency.check"]
        assert done["result"] == {"documents": 1, "problems": {"orphan": 1}}
        assert (await status(admin))["problems"] == {"orphan": 1}

    @pytest.mark.slow
    async def test_never_is_never(
        self, settings: Settings, admin: Caller, embedder: Embedder
    ) -> None:
        own = settings.model_copy(update={"index_audit_schedule": NEVER})
        async with open_services(own, Metrics(), embedder) as services:
            for _ in range(2):
                await enqueue_due_audits(services.worker)

        assert (await admin.call("GET", "/v1/jobs")).json()["jobs"] == []


def test_what_is_no_schedule_is_refused_at_the_start() -> None:
    with pytest.raises(ValidationError, match="cron"):
        Settings(index_audit_schedule="now and then")


@pytest.mark.slow
async def test_a_tenant_that_is_not_there_is_told(settings: Settings, ana: Caller) -> None:
    with pytest.raises(CommandError, match="no tenant nobody"):
        await audited(settings, "acme", "nobody")
