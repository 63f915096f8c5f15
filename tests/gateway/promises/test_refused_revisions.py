"""Revisions that do not exist, headers of another form, and promises that contradict themselves."""

from typing import Any

import orjson
import pytest

from gateway.settings.settings import Settings
from index.postgres import database
from index.tenants.tenant_store import TenantStore
from tests.conftest import run_sql
from tests.gateway.http.test_known_heads import ask, request
from tests.gateway.promises.asking import WINDOW_MS, asked, tool_call, written
from tests.gateway.support.gateways import Caller, Gateway, problem
from tests.gateway.support.raw_http import raw

pytestmark = [pytest.mark.anyio, pytest.mark.isolated]


async def begin_history(settings: Settings, *statements: str) -> None:
    """What else the database is told before its history gets another name."""
    assert settings.database_url is not None
    for statement in statements:
        await run_sql(settings.database_url.get_secret_value(), statement)
    async with database.connect(
        settings.database_url.get_secret_value(),
        connections_max=1,
        statement_timeout_s=5,
        observe=lambda *_: None,
        announce=database.announce_to_nobody,
    ) as connected:
        await TenantStore(connected).begin_history()


def tenant_digits(revision: str) -> str:
    return revision.partition(";of=")[2][:2]


@pytest.mark.thorough
async def test_a_revision_that_does_not_exist_is_refused_on_every_route(
    gateway: Gateway, far: Gateway, ana: Caller
) -> None:
    revision = await written(ana, 25)
    own = (await asked(ana)).headers["nearhit-revision"]
    of_other = own
    while tenant_digits(of_other) == tenant_digits(own):  # so of one in 256 tenants
        other = await gateway.caller("zoe", tenant=await gateway.new_tenant())
        of_other = (await asked(other)).headers["nearhit-revision"]
    for caller in (ana, far.as_(ana)):
        for wrong in ("1000", f"1{revision}", "1;public=99", of_other):
            headers = {"Nearhit-Min-Revision": wrong}
            for refused in (
                await asked(caller, wrong),
                await asked(caller, wrong, max_staleness_ms=WINDOW_MS),
                await asked(caller, wrong, consistency="strong"),
                await caller.call("GET", "/v1/documents/leave", headers=headers),
                await caller.call("PUT", "/v1/documents/x", json={"text": "x"}, headers=headers),
                await caller.call(
                    "POST", "/mcp", json=tool_call("search", query="leave"), headers=headers
                ),
            ):
                details = problem(refused, 409)
                assert details["type"] == "urn:nearhit:problem:revision-unknown"
                assert details["errors"][0]["field"] == "Nearhit-Min-Revision"
            openai = await caller.call(
                "POST",
                "/v1/vector_stores/api/search",
                json={"query": "leave"},
                headers=headers,
            )
            assert (openai.status_code, openai.json()["error"]["code"]) == (409, "revision_unknown")
    assert "another tenant" in (await asked(ana, of_other)).json()["detail"]
    assert (await ana.call("GET", "/v1/documents/x")).status_code == 404


async def test_a_lost_revision_of_an_earlier_history_is_refused_in_any_bytes(
    settings: Settings, gateway: Gateway, far: Gateway, ana: Caller
) -> None:
    kept, revision = await written(ana, 25), await written(ana, 26)
    sent = request(ana, "days of leave", f"Nearhit-Min-Revision: {revision}")
    async with raw(gateway) as connection:
        assert (await ask(connection, sent)).status == 200
        gone = "DELETE FROM change_log", "UPDATE tenants SET revision = revision - 1"
        await begin_history(settings, *gone)

        answers = [await ask(connection, sent) for _ in range(2)]

    assert [each.status for each in answers] == [409, 409]
    details = orjson.loads(answers[1].body)
    assert details["type"] == "urn:nearhit:problem:revision-unknown"
    assert "has lost this revision" in details["detail"]
    problem(await asked(far.as_(ana), revision), 409)
    assert (await asked(ana, kept)).status_code == 200
    await written(ana, 27)  # uses its number again
    problem(await asked(ana, revision), 409)
    number = revision.partition(";")[0]
    assert (await asked(ana, number)).status_code == 200  # nobody can tell of which it is


@pytest.mark.thorough
async def test_a_revision_of_an_earlier_history_is_reached_while_the_database_holds_it(
    settings: Settings, gateway: Gateway, far: Gateway, ana: Caller
) -> None:
    revisions = []
    for days in (25, 26, 27):
        revisions.append(await written(ana, days))
        revisions.append((await asked(ana)).headers["nearhit-revision"])
        await begin_history(settings)
        revisions.append((await asked(ana)).headers["nearhit-revision"])

    for caller in (ana, far.as_(ana)):
        for revision in revisions:
            for fields in ({}, {"consistency": "strong"}, {"max_staleness_ms": WINDOW_MS}):
                answer = await asked(caller, revision, **fields)
                assert answer.status_code == 200, (revision, answer.text)
                assert "27 days" in answer.text
            headers = {"Nearhit-Min-Revision": revision}
            await caller.call("GET", "/v1/documents/leave", headers=headers)


@pytest.mark.thorough
async def test_a_revision_of_a_history_that_the_database_does_not_continue_is_refused(
    settings: Settings, ana: Caller
) -> None:
    revision = await written(ana, 25)
    await begin_history(settings, "DELETE FROM noted_histories")  # as a copy from before it

    refused = problem(await asked(ana, revision), 409)

    assert "does not know whether it holds" in refused["detail"]


async def test_a_header_of_another_form_is_refused_by_its_name(ana: Caller) -> None:
    for header in ("", "x", "12;of=zz", "12, 13"):
        headers = {"Nearhit-Min-Revision": header}
        for refused in (
            await asked(ana, header),
            await ana.call("GET", "/v1/documents", headers=headers),
            await ana.call("POST", "/mcp", json=tool_call("list_sources"), headers=headers),
        ):
            assert problem(refused, 422)["errors"][0]["field"] == "Nearhit-Min-Revision", header
        openai = await ana.call(
            "POST", "/v1/vector_stores/api/search", json={"query": "leave"}, headers=headers
        )
        assert (openai.status_code, openai.json()["error"]["param"]) == (
            400,
            "Nearhit-Min-Revision",
        )


CONTRADICTIONS: list[dict[str, Any]] = [
    {"consistency": "strong", "max_staleness_ms": 5},
    {"consistency": "bounded"},
    {"consistency": "session"},
    {"consistency": "eventual"},
    {"consistency": "STRONG"},
    {"consistency": 1},
]


async def test_a_contradiction_is_refused_by_the_name_of_its_field(ana: Caller) -> None:
    for fields in CONTRADICTIONS:
        for path in ("/v1/search", "/v1/answer"):
            refused = await ana.call("POST", path, json={"query": "leave", **fields})
            if path == "/v1/search" or refused.status_code != 501:
                assert problem(refused, 422)["errors"][0]["field"] == "consistency", fields
