"""Sources of kind `web`, from their configuration to a search in what was read."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest

from gateway.extensions._web.client import RETRY_AFTER_S_MAX
from gateway.services import Services
from gateway.settings.settings import Settings
from gateway.worker import worker_loop
from index.search.query_embedder import Embedder
from tests.gateway.extensions.sources.test_sources import ask, at_work, job, source, work
from tests.gateway.support.gateways import Caller, Gateway, problem, running
from tests.gateway.support.workers import worker_services
from tests.ingest.support.web_server import Answer, WebHost, web_host

pytestmark = [pytest.mark.anyio, pytest.mark.isolated]


@pytest.fixture
def host() -> Iterator[WebHost]:
    with web_host() as started:
        started.page("/leave", "Annual leave", ETag='"1"')
        started.page("/travel", "Travel expenses", ETag='"1"')
        started.sitemap("/sitemap.xml", "/leave", "/travel")
        yield started


@pytest.fixture
def busy_host() -> Iterator[WebHost]:
    with web_host() as started:
        started.url = started.url.replace("127.0.0.1", "localhost")  # rates are of a name
        started.answers["/robots.txt"] = Answer(status=503, headers={"Retry-After": "60"})
        yield started


@pytest.fixture
def settings(
    settings: Settings,
    host: WebHost,
    busy_host: WebHost,
    monkeypatch: pytest.MonkeyPatch,
) -> Settings:
    hosts = [each.url.removeprefix("http://") for each in (host, busy_host)]
    monkeypatch.setenv("NEARHIT_SOURCES_WEB_HOSTS", ",".join(hosts))
    monkeypatch.setenv("NEARHIT_SOURCES_WEB_NETWORKS", "127.0.0.0/8,::1/128")
    return settings.model_copy(update={"job_retry_delay_s": 0.01, "shutdown_s": 1})


@pytest.fixture
async def services(settings: Settings, embedder: Embedder) -> AsyncIterator[Services]:
    async with worker_services(settings, embedder) as made:
        yield made


def configuration(url: str, **fields: Any) -> dict[str, Any]:
    return {"kind": "web", "settings": {"url": url, "pages_per_s": 10, **fields}}


async def read(admin: Caller, services: Services) -> dict[str, Any]:
    """The job of a reading, done."""
    asked = await ask(admin, "POST", "/v1/sources/help/reindex")
    await work(services)
    done = await job(admin, asked["job_id"])
    assert done["state"] == "done", done
    return done


@pytest.mark.slow
async def test_pages_are_found_and_only_changed_ones_are_sent_again(
    admin: Caller, ana: Caller, services: Services, host: WebHost
) -> None:
    body = configuration(f"{host.url}/sitemap.xml", readers=["tenant"])
    assert (await admin.call("PUT", "/v1/sources/help", json=body)).status_code == 200

    first = await read(admin, services)
    found = await ana.found("annual leave", top_k=1)
    host.asked.clear()
    again = await read(admin, services)
    asked_again = list(host.asked)
    host.page("/leave", "Sabbatical leave", ETag='"2"')
    host.sitemap("/sitemap.xml", "/leave")
    host.asked.clear()
    changed = await read(admin, services)

    assert (first["result"]["documents"], first["result"]["unchanged"]) == (2, 0)
    assert found == ["help/leave"]
    assert again["result"]["unchanged"] == 2
    assert asked_again[2:] == [("/leave", 304), ("/travel", 304)]
    assert (changed["result"]["unchanged"], changed["result"]["removed"]) == (0, 1)
    assert await ana.found("sabbatical", alpha=0.0) == ["help/leave"]
    assert await ana.found("expenses", alpha=0.0) == []


@pytest.mark.slow
async def test_hosts_that_let_their_readings_wait_delay_no_reading_of_another_tenant(
    gateway: Gateway,
    services: Services,
    host: WebHost,
    busy_host: WebHost,
) -> None:
    jobs = []
    async with at_work(worker_loop.make_worker(services.worker)):
        for asked, pages_per_s, state in (
            (busy_host, 10, "running"),
            (busy_host, 0.02, "running"),
            (host, 10, "done"),
        ):
            admin = await gateway.caller("ada", tenant=await gateway.new_tenant(), roles=["admin"])
            body = configuration(f"{asked.url}/sitemap.xml", pages_per_s=pages_per_s)
            assert (await admin.call("PUT", "/v1/sources/help", json=body)).status_code == 200
            jobs.append((admin, (await ask(admin, "POST", "/v1/sources/help/reindex"))["job_id"]))
            async with asyncio.timeout(RETRY_AFTER_S_MAX / 2):
                while (await job(*jobs[-1]))["state"] != state:
                    await asyncio.sleep(0.01)
        states = [(await job(*each))["state"] for each in jobs]

    assert states == ["running", "running", "done"]


@pytest.mark.thorough
@pytest.mark.slow
async def test_a_page_that_was_removed_here_is_sent_and_stored_again(
    admin: Caller, services: Services, host: WebHost
) -> None:
    body = configuration(f"{host.url}/sitemap.xml")
    await admin.call("PUT", "/v1/sources/help", json=body)
    await read(admin, services)
    assert (await admin.call("DELETE", "/v1/documents/help/leave")).status_code == 200

    again = await read(admin, services)

    assert (again["result"]["documents"], again["result"]["unchanged"]) == (2, 1)


@pytest.mark.thorough
@pytest.mark.slow
async def test_while_the_host_fails_all_documents_stay_and_the_reason_is_shown(
    admin: Caller, ana: Caller, services: Services, host: WebHost
) -> None:
    await admin.call("PUT", "/v1/sources/help", json=configuration(f"{host.url}/sitemap.xml"))
    await read(admin, services)
    host.answers["/sitemap.xml"].status = 500

    failed = await read(admin, services)

    assert failed["result"]["removed"] == 0
    assert "is answered with 500" in failed["result"]["first_rejected"][0]
    assert await ana.found("annual leave", top_k=1) == ["help/leave"]


@pytest.mark.slow
async def test_a_host_on_a_private_address_is_not_asked_unless_its_network_is_listed(
    settings: Settings,
    embedder: Embedder,
    admin: Caller,
    host: WebHost,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Though the operator has listed its name."""
    await admin.call("PUT", "/v1/sources/help", json=configuration(f"{host.url}/sitemap.xml"))
    monkeypatch.delenv("NEARHIT_SOURCES_WEB_NETWORKS")
    async with worker_services(settings, embedder) as services:
        done = await read(admin, services)

    assert "not public" in done["result"]["first_rejected"][0]
    assert host.asked == []
    assert (await source(admin, "help"))["counts"]["documents"] == 0


async def test_a_host_that_is_not_listed_is_refused(admin: Caller) -> None:
    for url in ["https://help.example/", "http://127.0.0.1:1/", "http://127.0.0.1/"]:
        refused = await admin.call("PUT", "/v1/sources/help", json=configuration(url))

        assert "NEARHIT_SOURCES_WEB_HOSTS" in problem(refused, 403)["detail"]


@pytest.mark.thorough
async def test_a_source_whose_extension_is_off_is_kept_and_not_read(
    settings: Settings, embedder: Embedder, admin: Caller, services: Services, host: WebHost
) -> None:
    body = configuration(f"{host.url}/sitemap.xml")
    await admin.call("PUT", "/v1/sources/help", json=body)
    await read(admin, services)
    off = settings.model_copy(update={"extensions_off": "sources_web"})

    async with running(off, embedder) as gateway, worker_services(off, embedder) as plain:
        same = Caller(gateway.client, admin.key)
        refused = await same.call("PUT", "/v1/sources/other", json=body)
        asked = await ask(same, "POST", "/v1/sources/help/reindex")
        await work(plain)
        done = await job(same, asked["job_id"])

    assert problem(refused, 422)["errors"][0]["detail"].endswith("conversations, git")
    assert "of an extension that is off" in done["error"]
    assert (await source(admin, "help"))["counts"]["documents"] == 2


MEANINGLESS: list[dict[str, Any]] = [
    {"url": "ftp://help.example/"},
    {"url": "http://user:secret@help.example/"},
    {"url": "file:///etc/passwd"},
    {"pages_max": 0},
    {"pages_max": 20_001},
    {"pages_per_s": 11},
    {"pages_per_s": 0},
    {"within": "help"},
    {"path": "help"},
]


async def test_settings_that_mean_nothing_are_refused(admin: Caller, host: WebHost) -> None:
    for fields in MEANINGLESS:
        body = (
            configuration(f"{host.url}/sitemap.xml", **fields)
            if "url" not in fields
            else {"kind": "web", "settings": fields}
        )

        answer = problem(await admin.call("PUT", "/v1/sources/help", json=body), 422)

        assert "secret" not in str(answer)
