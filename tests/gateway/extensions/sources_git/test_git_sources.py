"""Repositories on other hosts, which a worker clones: what is read, and what is not."""

import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import AbstractContextManager, asynccontextmanager, contextmanager
from http.server import BaseHTTPRequestHandler, SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from gateway.services import Services
from gateway.settings.settings import Settings
from index.search.query_embedder import Embedder
from tests.gateway.extensions.sources.test_source_walls import SECRET, read, root
from tests.gateway.extensions.sources.test_sources import ask, job, put, work
from tests.gateway.servers.git_server import commit, git, git_server
from tests.gateway.support.gateways import Caller, problem, running
from tests.gateway.support.workers import worker_services

__all__ = ["root"]  # a fixture

pytestmark = [pytest.mark.anyio, pytest.mark.isolated]

HOSTS = "NEARHIT_SOURCES_GIT_HOSTS"


@pytest.fixture
def settings(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> Settings:
    monkeypatch.setenv(HOSTS, "git.example")
    return settings.model_copy(update={"job_retry_delay_s": 0.01, "job_attempts_max": 1})


REFUSED: list[tuple[dict[str, str], str]] = [
    ({"url": "file:///etc"}, "settings.url"),
    ({"url": "ssh://git.example/x"}, "settings.url"),
    ({"url": "ext::sh -c id"}, "settings.url"),
    ({"url": "https://a:b@git.example/x"}, "settings.url"),
    ({"url": "https://git.example/x", "branch": "--upload"}, "settings.branch"),
    ({"url": "https://git.example/x", "path": "a/../../x"}, "settings.path"),
]


class TestWhatMayBeRead:
    async def test_anything_else_is_refused_by_field(self, admin: Caller) -> None:
        for settings, field in REFUSED:
            body = {"kind": "git", "settings": settings}
            answer = problem(await admin.call("PUT", "/v1/sources/x", json=body), 422)

            assert answer["errors"][0]["field"] == field, body

    async def test_a_host_that_is_not_listed_is_refused(self, admin: Caller) -> None:
        body = {"kind": "git", "settings": {"url": "https://169.254.169.254/x"}}

        problem(await admin.call("PUT", "/v1/sources/x", json=body), 403)

    @pytest.mark.thorough
    @pytest.mark.slow
    async def test_a_repository_is_read_of_a_host_that_is_listed(
        self, settings: Settings, embedder: Embedder, tmp_path: Path, admin: Caller, ana: Caller
    ) -> None:
        origin = tmp_path / "git" / "handbook"
        (origin / "docs").mkdir(parents=True)
        git(origin, "init", "--quiet", "--initial-branch", "main")
        (origin / "docs" / "leave.md").write_text("# Leave\n\n25 days of annual leave.\n")
        (origin / "README.md").write_text("# Not to be read\n\nannual leave\n")
        commit(origin, "leave")
        with git_server(tmp_path / "git") as host:
            url = f"http://{host}/handbook/.git"
            hosts = f"git.example, {host}"
            async with reading(settings, embedder, admin, hosts) as (admin_here, services):
                body = {"kind": "git", "settings": {"url": url, "path": "docs"}}
                await put(admin_here, "git/handbook", **body)
                path = "/v1/sources/git/handbook/reindex"
                first = await ask(admin_here, "POST", path)
                await work(services)
                (origin / "docs" / "leave.md").write_text("# Leave\n\n27 days of leave.\n")
                commit(origin, "more leave")
                second = await ask(admin_here, "POST", path)
                await work(services)

        assert (await job(admin, first["job_id"]))["result"]["documents"] == 1
        assert (await job(admin, second["job_id"]))["result"]["embedded"] == 1
        assert await ana.found("annual leave") == ["git/handbook/leave.md"]


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
    @pytest.mark.thorough
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
            hosts = f"{redirecting},{plain}"
            async with reading(settings, embedder, admin, hosts) as (admin_here, services):
                redirected = await read(admin_here, services, **of(redirecting))
                alternated = await read(admin_here, services, **of(plain))

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
async def reading(
    settings: Settings, embedder: Embedder, admin: Caller, hosts: str
) -> AsyncIterator[tuple[Caller, Services]]:
    """The admin and the worker of a gateway that may read these hosts."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(HOSTS, hosts)
        async with (
            worker_services(settings, embedder) as services,
            running(settings, embedder) as gateway,
        ):
            yield gateway.as_(admin), services


@asynccontextmanager
async def hosted(
    settings: Settings, embedder: Embedder, admin: Caller, root: Path
) -> AsyncIterator[tuple[str, Caller, Services]]:
    """The repositories on a host that the settings name; the admin of a gateway that has them."""
    with git_server(root / "git") as host:
        async with reading(settings, embedder, admin, host) as (admin_here, services):
            yield host, admin_here, services


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
