"""A source reads its tenant's own folder or the repository that it names, and nothing else."""

import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import AbstractContextManager, asynccontextmanager, contextmanager
from http.server import BaseHTTPRequestHandler, SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from gateway.monitoring.metrics import Metrics
from gateway.services import Services, open_services
from gateway.settings.settings import Settings
from gateway.sources import source_reader
from gateway.sources.source_schemas import PathSettings, PathSourceBody
from gateway.worker import worker_loop
from index.search.query_embedder import Embedder
from ingest.errors import JobRefused
from tests.gateway.servers.git_server import commit, git, git_server
from tests.gateway.support.gateways import Caller, Gateway, problem, running

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
def settings(settings: Settings, root: Path) -> Settings:
    return settings.model_copy(update={"sources_dir": root, "job_attempts_max": 1})


@pytest.fixture
async def services(settings: Settings, embedder: Embedder) -> AsyncIterator[Services]:
    async with open_services(settings, Metrics(), embedder) as made:
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
                await source_reader.open_for_reading(settings, "acme", "x", body)

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
                source_reader.tenant_folder(tenant)


NO_PLAIN_URLS = [
    "file:///etc",
    "/etc",
    "../beta",
    "FILE:///etc",
    "ssh://git.example/x",
    "git://git.example/x",
    "git@git.example:x",
    "ext::sh -c id",
    "fd::3",
    "--upload-pack=id",
    "http:///etc",
    "https://git.example\\@169.254.169.254/x",
    "https://169.254.169.254#@git.example/x",
]


class TestRepositories:
    @pytest.mark.slow
    async def test_links_in_one_lead_nowhere(
        self, settings: Settings, embedder: Embedder, admin: Caller, ana: Caller, root: Path
    ) -> None:
        origin = repository(root.parent)
        (origin / "file.md").symlink_to(root / "beta" / "handbook" / "beta.md")
        (origin / "folder").symlink_to(root / "beta" / "handbook")
        commit(origin, "links")
        async with hosted(settings, embedder, admin, root.parent) as (host, admin_here, services):
            whole = await read(admin_here, services, **of(host))
            linked = await read(admin_here, services, **of(host, path="folder"))

        assert whole["result"]["documents"] == 2  # the page, and a link as the text of its target
        assert linked["error"].startswith("There is no folder folder in the repository")
        assert "secret" not in (await ana.search("secret merger")).text

    @pytest.mark.thorough
    @pytest.mark.slow
    async def test_neither_a_submodule_nor_a_hook_of_one_is_followed(
        self, settings: Settings, embedder: Embedder, admin: Caller, ana: Caller, root: Path
    ) -> None:
        other = repository(root.parent, "other")
        (other / "secret.md").write_text(SECRET)
        commit(other, "secret")
        origin = repository(root.parent)
        git(
            *(origin, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add"),
            *(f"file://{other}", "sub"),
        )
        witness = root.parent / "witness"
        for name in ("post-checkout", "reference-transaction", "post-merge"):
            for hooks in (origin / ".git" / "hooks", origin / "hooks", origin / ".githooks"):
                hooks.mkdir(exist_ok=True)
                (hooks / name).write_text(f"#!/bin/sh\ntouch {witness}\n")
                (hooks / name).chmod(0o755)
        commit_without_hooks(origin, "submodule")
        witness.unlink(missing_ok=True)
        async with hosted(settings, embedder, admin, root.parent) as (host, admin_here, services):
            job = await read(admin_here, services, **of(host))

        assert job["result"]["documents"] == 1
        assert not witness.exists()
        assert "secret" not in (await ana.search("secret merger")).text

    @pytest.mark.slow
    async def test_another_host_is_not_asked_where_the_first_points_to_it(
        self, settings: Settings, embedder: Embedder, admin: Caller, root: Path
    ) -> None:
        """By a redirect, and by the alternates of a repository that is served as plain files."""
        origin = repository(root.parent)
        git(origin, "update-server-info")
        asked: list[str] = []
        with (
            recorder(asked) as other,
            redirector(other) as redirecting,
            files(root.parent) as plain,
        ):
            alternates = origin / ".git" / "objects" / "info" / "http-alternates"
            alternates.write_text(f"http://{other}/other/.git/objects\n")
            own = settings.model_copy(update={"sources_git_hosts": f"{redirecting},{plain}"})
            async with (
                open_services(own, Metrics(), embedder) as services,
                running(own, embedder) as gateway,
            ):
                redirected = await read(gateway.as_(admin), services, **of(redirecting))
                alternated = await read(gateway.as_(admin), services, **of(plain))

        assert redirected["error"] == "git can't clone the repository. Check its URL and branch."
        assert alternated["error"] == "git can't clone the repository. Check its URL and branch."
        assert asked == []

    async def test_an_address_that_is_no_plain_url_of_a_host_is_not_stored(
        self, admin: Caller
    ) -> None:
        for url in NO_PLAIN_URLS:
            body = {"kind": "git", "settings": {"url": url}}

            problem(await admin.call("PUT", "/v1/sources/x", json=body), 422)


def repository(root: Path, name: str = "docs") -> Path:
    origin = root / "git" / name
    origin.mkdir(parents=True)
    git(origin, "init", "--quiet", "--initial-branch", "main")
    (origin / "page.md").write_text("# Page\n\nA page.\n")
    commit(origin, "page")
    return origin


def commit_without_hooks(origin: Path, message: str) -> None:
    git(origin, "add", "--all")
    git(origin, "-c", "core.hooksPath=/dev/null", "commit", "--quiet", "--message", message)


def of(host: str, **fields: Any) -> dict[str, Any]:
    return {"kind": "git", "settings": {"url": f"http://{host}/docs/.git", **fields}}


@contextmanager
def served(handler: type[BaseHTTPRequestHandler]) -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield f"127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@asynccontextmanager
async def hosted(
    settings: Settings, embedder: Embedder, admin: Caller, root: Path
) -> AsyncIterator[tuple[str, Caller, Services]]:
    """The repositories on a host that the settings name; the admin of a gateway that has them."""
    with git_server(root / "git") as host:
        own = settings.model_copy(update={"sources_git_hosts": host})
        async with (
            open_services(own, Metrics(), embedder) as services,
            running(own, embedder) as gateway,
        ):
            yield host, gateway.as_(admin), services


def recorder(asked: list[str]) -> AbstractContextManager[str]:
    """A host that notes what it is asked for."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            self.send_error(404)

        def log_message(self, *_: object) -> None:
            """Nobody reads it."""

    return served(Handler)


def redirector(host: str) -> AbstractContextManager[str]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(302)
            self.send_header("Location", f"http://{host}{self.path}")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """Nobody reads it."""

    return served(Handler)


def files(root: Path) -> AbstractContextManager[str]:
    """The repositories as plain files, as a host without git would serve them."""

    class Handler(SimpleHTTPRequestHandler):
        def __init__(self, *arguments: Any) -> None:
            super().__init__(*arguments, directory=str(root / "git"))

        def log_message(self, *_: object) -> None:
            """Nobody reads it."""

    return served(Handler)
