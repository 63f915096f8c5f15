"""A source reads its tenant's own folder or the repository that it names, and nothing else."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from gateway.extensions._files.formats import TEXT_FORMATS
from gateway.extensions._sources.source_schemas import PathSettings, PathSourceBody
from gateway.extensions.sources import path_reader
from gateway.extensions.sources.source_kinds import SourceKinds
from gateway.services import Services
from gateway.settings.settings import Settings
from gateway.worker import worker_loop
from index.search.query_embedder import Embedder
from ingest.errors import JobRefused
from tests.gateway.support.gateways import Caller, Gateway, problem
from tests.gateway.support.workers import worker_services

pytestmark = [pytest.mark.anyio, pytest.mark.isolated]

SECRET = "# Merger\n\nThe merger is secret.\n"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """The folder of all tenants' sources, with a page of each of two tenants."""
    for tenant, text in (("acme", "# Leave\n\n25 days of leave.\n"), ("beta", SECRET)):
        folder = tmp_path / "sources" / tenant / "handbook"
        folder.mkdir(parents=True)
        (folder / f"{tenant}.md").write_text(text)
    return tmp_path / "sources"


@pytest.fixture
def settings(settings: Settings, root: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    monkeypatch.setenv("NEARHIT_SOURCES_DIR", str(root))
    return settings.model_copy(update={"job_attempts_max": 1})


@pytest.fixture
async def services(settings: Settings, embedder: Embedder) -> AsyncIterator[Services]:
    async with worker_services(settings, embedder) as made:
        yield made


async def read(admin: Caller, services: Services, **body: Any) -> dict[str, Any]:
    """The job that has read a source of these settings."""
    answer = await admin.call("PUT", "/v1/sources/x", json=body)
    assert answer.status_code == 200, answer.text
    return await reindex(admin, services)


async def reindex(admin: Caller, services: Services) -> dict[str, Any]:
    asked = await admin.call("POST", "/v1/sources/x/reindex")
    await worker_loop.make_worker(services.worker).drain()
    job: dict[str, Any] = (await admin.call("GET", f"/v1/jobs/{asked.json()['job_id']}")).json()
    return job


def folder(path: str) -> dict[str, Any]:
    return {"kind": "folder", "settings": {"path": path}}


LEAVING = ["..", "../beta", "handbook/../../beta", "./../beta", "/", "//etc", "..\\beta", "a/.."]


NO_FOLDERS = [".", "..", "a/b", "../beta", "Acme", "", "acme\n", "ácme"]


class TestFolders:
    @pytest.mark.slow
    async def test_a_path_is_one_of_the_tenants_own_folder(
        self, admin: Caller, ana: Caller, services: Services
    ) -> None:
        own = await read(admin, services, **folder("handbook"))
        of_another = await read(admin, services, **folder("beta"))
        whole = await read(admin, services, **folder("."))

        assert own["result"]["documents"] == 1
        assert of_another["error"].startswith("There is no folder beta in NEARHIT_SOURCES_DIR/acme")
        assert whole["result"]["documents"] == 1
        assert await ana.found("merger leave") == ["x/handbook/acme.md"]

    async def test_a_path_that_could_leave_it_is_not_stored(self, admin: Caller) -> None:
        for path in LEAVING:
            problem(await admin.call("PUT", "/v1/sources/x", json=folder(path)), 422)

    async def test_nor_is_it_read_if_it_is_stored(self, settings: Settings, root: Path) -> None:
        for path in ["..", "../beta/handbook", "/"]:
            fields = PathSettings.model_construct(path=str(root) if path == "/" else path)
            body = PathSourceBody.model_construct(kind="folder", settings=fields)

            with pytest.raises(JobRefused, match="leads outside NEARHIT_SOURCES_DIR/acme"):
                await SourceKinds(settings, root, TEXT_FORMATS).open("acme", "x", body)

    @pytest.mark.slow
    async def test_links_to_another_tenants_files_and_folders_are_refused(
        self, admin: Caller, ana: Caller, services: Services, root: Path
    ) -> None:
        handbook = root / "acme" / "handbook"
        (handbook / "file.md").symlink_to(root / "beta" / "handbook" / "beta.md")
        (handbook / "folder").symlink_to("../../beta/handbook")
        within = await read(admin, services, **folder("handbook"))
        itself = await read(admin, services, **folder("handbook/folder"))

        assert within["result"]["documents"] == 1
        assert within["result"]["first_rejected"] == [
            "file.md: is a link to outside the folder",
            "folder: is a link to outside the folder",
        ]
        assert "leads out" in itself["error"]
        assert "secret" not in (await ana.search("secret merger")).text

    @pytest.mark.slow
    async def test_the_operator_may_link_a_tenants_folder_to_where_it_lies(
        self, admin: Caller, services: Services, root: Path, tmp_path: Path
    ) -> None:
        (root / "acme").rename(tmp_path / "elsewhere")
        (root / "acme").symlink_to(tmp_path / "elsewhere")

        job = await read(admin, services, **folder("handbook"))

        assert job["result"]["documents"] == 1

    @pytest.mark.thorough
    @pytest.mark.slow
    async def test_a_path_from_before_there_were_folders_of_tenants_says_what_to_do(
        self, admin: Caller, ana: Caller, services: Services, root: Path
    ) -> None:
        await read(admin, services, **folder("handbook"))
        (root / "acme").rename(root / "shared")
        failed = await reindex(admin, services)
        found = await ana.found("leave")
        (root / "acme").mkdir()
        (root / "shared" / "handbook").rename(root / "acme" / "handbook")
        moved = await reindex(admin, services)

        assert "in NEARHIT_SOURCES_DIR/acme; put it there, or set the" in failed["error"]
        assert found == ["x/acme.md"]  # nothing of it is removed
        assert moved["result"]["unchanged"] == 1

    async def test_no_tenant_has_a_name_that_is_no_folder_of_its_own(
        self, gateway: Gateway
    ) -> None:
        for tenant in NO_FOLDERS:
            problem(await gateway.operator.call("POST", "/v1/tenants", json={"id": tenant}), 422)

            with pytest.raises(JobRefused, match="not valid for a folder of sources"):
                path_reader.tenant_folder(tenant)
