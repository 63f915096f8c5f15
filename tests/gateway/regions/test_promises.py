"""What a caller may choose in a gateway of a region that holds no lease, and what it then gets."""

import asyncio
import itertools
from collections.abc import AsyncIterator
from typing import Any

import httpx2
import orjson
import pytest
from pydantic import SecretStr

from gateway.settings import Settings
from index.errors import DatabaseUnavailable
from index.postgres import database
from index.regions.read_lease_store import ReadLeaseStore
from index.search.query_embedder import Embedder
from index.tenants.tenant_store import TenantStore
from tests.gateway.http.test_repeats import ask, ask_repeat, request, watched
from tests.gateway.regions.test_region_gateways import readings
from tests.gateway.servers.database_proxy import DatabaseProxy, database_proxy
from tests.gateway.support.gateways import Caller, Gateway, problem, running
from tests.gateway.support.raw_http import raw

pytestmark = [pytest.mark.anyio, pytest.mark.isolated]

WINDOW_MS = 60_000  # longer than a test, so that only what it does ends it
LEAVE = "Everybody has {} days of leave."


@pytest.fixture
def settings(settings: Settings) -> Settings:
    return settings.model_copy(
        update={"cache_audit_per_mille": 0.0, "staleness_s_max": WINDOW_MS / 1000}
    )


@pytest.fixture
async def proxy(settings: Settings) -> AsyncIterator[DatabaseProxy]:
    """The way of the far gateway to the primary."""
    assert settings.database_url is not None
    async with database_proxy(settings.database_url.get_secret_value()) as wire:
        yield wire


@pytest.fixture
async def far(
    settings: Settings,
    embedder: Embedder,
    gateway: Gateway,
    proxy: DatabaseProxy,
    monkeypatch: pytest.MonkeyPatch,
) -> AsyncIterator[Gateway]:
    async def refused(*_arguments: object) -> None:
        raise DatabaseUnavailable("no lease is stored")

    monkeypatch.setattr(ReadLeaseStore, "renew", refused)
    there = {"region": "far", "database_url": SecretStr(proxy.url), "deadline_s": 2.0}
    async with running(settings.model_copy(update=there), embedder) as started:
        started.tenant_name = gateway.tenant_name
        yield started


async def asked(caller: Caller, revision: str | None = None, **fields: Any) -> httpx2.Response:
    headers = {} if revision is None else {"Nearhit-Min-Revision": revision}
    body = {"query": "days of leave", **fields}
    return await caller.call("POST", "/v1/search", json=body, headers=headers)


async def written(caller: Caller, days: int) -> str:
    """The revision from which on answers say so."""
    answer = await caller.call(
        "PUT",
        "/v1/documents/leave",
        json={"text": LEAVE.format(days), "readers": ["tenant"]},
    )
    assert answer.status_code == 200, answer.text
    revision: str = answer.headers["nearhit-revision"]
    return revision


async def limit(admin: Caller, max_staleness_ms: int | None) -> None:
    body = {"max_staleness_ms": max_staleness_ms}
    answer = await admin.call("PUT", "/v1/consistency", json=body)
    assert (answer.status_code, answer.json()) == (200, body)


async def test_own_writes_are_read_at_another_gateway_which_then_needs_no_primary(
    far: Gateway, ana: Caller
) -> None:
    at_far = far.as_(ana)
    await asked(at_far)
    for days in range(20, 25):
        revision = await written(ana, days)

        first = await asked(at_far, revision)
        before = await readings(far)
        again = await asked(at_far, first.headers["nearhit-revision"])

        assert f"{days} days" in first.text
        assert first.headers["nearhit-consistency"] == "strong"
        assert f"{days} days" in again.text
        assert again.headers["nearhit-consistency"] == "session"
        assert await readings(far) == before


async def test_session_may_miss_what_others_have_written_and_strong_may_not(
    far: Gateway, ana: Caller
) -> None:
    at_far = far.as_(ana)
    revision = await written(ana, 25)
    await asked(at_far)
    await written(ana, 26)

    in_session = await asked(at_far, revision)
    strong = await asked(at_far, revision, consistency="strong")
    in_session_then = await asked(at_far, strong.headers["nearhit-revision"])

    assert ("25 days" in in_session.text, "26 days" in strong.text) == (True, True)
    assert strong.headers["nearhit-consistency"] == "strong"
    assert "26 days" in in_session_then.text


async def test_session_is_answered_at_the_newest_that_the_region_knows(
    far: Gateway, ana: Caller
) -> None:
    at_far = far.as_(ana)
    revision = await written(ana, 25)
    await asked(at_far)  # the answer in memory is of this revision
    await written(ana, 26)
    await at_far.call("GET", "/v1/documents")

    in_session = await asked(at_far, revision)
    bounded = await asked(at_far, "0", max_staleness_ms=WINDOW_MS)

    assert "26 days" in in_session.text
    assert in_session.headers["nearhit-consistency"] == "session"
    assert bounded.headers["nearhit-consistency"].startswith("bounded;ms=")


async def test_bounded_is_answered_at_what_the_region_knows_and_says_how_old_that_is(
    far: Gateway, ana: Caller
) -> None:
    at_far = far.as_(ana)
    await written(ana, 25)
    await asked(at_far)
    await written(ana, 26)
    before = await readings(far)

    bounded = await asked(at_far, max_staleness_ms=WINDOW_MS)
    between = await readings(far)
    young = await asked(at_far, max_staleness_ms=1)

    kind, _, age_ms = bounded.headers["nearhit-consistency"].partition(";ms=")
    assert "25 days" in bounded.text
    assert kind == "bounded"
    assert 0 < int(age_ms) < WINDOW_MS
    assert between == before
    assert "26 days" in young.text
    assert young.headers["nearhit-consistency"] == "strong"


async def test_a_bounded_answer_reaches_the_revision_that_the_caller_names(
    far: Gateway, ana: Caller
) -> None:
    at_far = far.as_(ana)
    await written(ana, 25)
    await asked(at_far)
    revision = await written(ana, 26)

    answer = await asked(at_far, revision, max_staleness_ms=WINDOW_MS)
    await written(ana, 27)
    again = await asked(at_far, revision, max_staleness_ms=WINDOW_MS)
    without = await asked(at_far, max_staleness_ms=WINDOW_MS)

    assert "26 days" in answer.text
    assert "26 days" in again.text
    assert again.headers["nearhit-consistency"].startswith("bounded;ms=")
    assert "27 days" not in without.text


async def test_at_home_each_request_reads_the_revision(gateway: Gateway, ana: Caller) -> None:
    revision = await written(ana, 25)
    await asked(ana)
    before = await readings(gateway)

    answers = [
        await asked(ana, revision),
        await asked(ana, max_staleness_ms=WINDOW_MS),
        await asked(ana, revision, max_staleness_ms=WINDOW_MS),
    ]

    assert [each.headers["nearhit-consistency"] for each in answers] == ["strong"] * 3
    assert await readings(gateway) - before == 3


async def test_a_revision_that_does_not_exist_is_refused_on_every_route(
    gateway: Gateway, far: Gateway, ana: Caller
) -> None:
    revision = await written(ana, 25)
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
                told = problem(refused, 409)
                assert told["type"] == "urn:nearhit:problem:revision-unknown"
                assert told["errors"][0]["field"] == "Nearhit-Min-Revision"
            openai = await caller.call(
                "POST",
                "/v1/vector_stores/api/search",
                json={"query": "leave"},
                headers=headers,
            )
            assert (openai.status_code, openai.json()["error"]["code"]) == (409, "revision_unknown")
    assert "another tenant" in (await asked(ana, of_other)).json()["detail"]
    assert (await ana.call("GET", "/v1/documents/x")).status_code == 404


async def test_a_revision_of_an_earlier_history_is_refused_in_any_bytes(
    settings: Settings, gateway: Gateway, far: Gateway, ana: Caller
) -> None:
    revision = await written(ana, 25)
    sent = request(ana, "days of leave", f"Nearhit-Min-Revision: {revision}")
    async with raw(gateway) as connection:
        assert (await ask(connection, sent)).status == 200
        assert settings.database_url is not None
        async with database.connect(
            settings.database_url.get_secret_value(),
            connections_max=1,
            statement_timeout_s=5,
            observe=lambda *_: None,
            announce=database.announce_to_nobody,
        ) as connected:
            await TenantStore(connected).begin_history()

        answers = [await ask(connection, sent) for _ in range(2)]

    assert [each.status for each in answers] == [409, 409]
    told = orjson.loads(answers[1].body)
    assert told["type"] == "urn:nearhit:problem:revision-unknown"
    assert "another history" in told["detail"]
    problem(await asked(far.as_(ana), revision), 409)
    number = revision.partition(";")[0]
    assert (await asked(ana, number)).status_code == 200  # nobody can tell of which it is


@pytest.mark.parametrize("header", ["", "x", "12;of=zz", "12, 13"])
async def test_a_header_of_another_form_is_refused_by_its_name(ana: Caller, header: str) -> None:
    headers = {"Nearhit-Min-Revision": header}
    for refused in (
        await asked(ana, header),
        await ana.call("GET", "/v1/documents", headers=headers),
        await ana.call("POST", "/mcp", json=tool_call("list_sources"), headers=headers),
    ):
        assert problem(refused, 422)["errors"][0]["field"] == "Nearhit-Min-Revision"
    openai = await ana.call(
        "POST", "/v1/vector_stores/api/search", json={"query": "leave"}, headers=headers
    )
    assert (openai.status_code, openai.json()["error"]["param"]) == (400, "Nearhit-Min-Revision")


async def test_cut_off_a_region_answers_what_it_promised_and_nothing_else(
    far: Gateway, ana: Caller, admin: Caller, proxy: DatabaseProxy
) -> None:
    at_far = far.as_(ana)
    revision = await written(ana, 25)
    await asked(at_far)
    later = await written(ana, 26)

    proxy.cut()
    known = await asked(at_far, revision)
    bounded = await asked(at_far, max_staleness_ms=WINDOW_MS)

    assert ("25 days" in known.text, "25 days" in bounded.text) == (True, True)
    assert known.headers["nearhit-consistency"] == "session"
    assert bounded.headers["nearhit-consistency"].startswith("bounded;ms=")
    for refused in (
        await asked(at_far),
        await asked(at_far, later),
        await asked(at_far, revision, consistency="strong"),
        await asked(at_far, max_staleness_ms=1),
        await asked(at_far, later, max_staleness_ms=WINDOW_MS),
        await at_far.call("PUT", "/v1/documents/x", json={"text": "x"}),
    ):
        problem(refused, 503)
    proxy.mend()
    assert "26 days" in (await asked(at_far, later)).text


async def test_cut_off_shards_with_texts_answer_new_questions_too(
    settings: Settings, embedder: Embedder, far: Gateway, ana: Caller, proxy: DatabaseProxy
) -> None:
    """The far gateway sees to it that no lease is stored."""
    there = {"region": "shards", "database_url": SecretStr(proxy.url), "shard_texts": True}
    there |= {"shard_bytes_max": 1 << 26}
    revision = await written(ana, 25)
    async with running(settings.model_copy(update=there), embedder) as worker:
        at_worker, numbers = worker.as_(ana), itertools.count()
        async with asyncio.timeout(10):
            while await worker.counted("nearhit_shard_events_total", event="loaded") < 2:
                await asked(at_worker, query=f"days {next(numbers)}")

        proxy.cut()
        in_session = await asked(at_worker, revision, query="how much leave")
        bounded = await asked(at_worker, query="leave of everybody", max_staleness_ms=WINDOW_MS)
        strong = await asked(at_worker, query="how many days")

    assert ("25 days" in in_session.text, "25 days" in bounded.text) == (True, True)
    assert in_session.headers["nearhit-consistency"] == "session"
    assert bounded.headers["nearhit-consistency"].startswith("bounded;ms=")
    problem(strong, 503)


async def test_cut_off_nothing_is_known_for_longer_than_the_tenant_allows(
    far: Gateway, ana: Caller, admin: Caller, proxy: DatabaseProxy
) -> None:
    at_far = far.as_(ana)
    revision = await written(ana, 25)
    await limit(admin, 1)
    await asked(at_far)
    await asyncio.sleep(0.002)

    proxy.cut()

    problem(await asked(at_far, revision), 503)
    problem(await asked(at_far, max_staleness_ms=WINDOW_MS), 503)


async def test_cut_off_at_home_only_a_caller_that_named_an_age_is_answered(
    settings: Settings, embedder: Embedder, gateway: Gateway, ana: Caller, proxy: DatabaseProxy
) -> None:
    there = settings.model_copy(update={"database_url": SecretStr(proxy.url)})
    async with running(there, embedder) as home:
        revision = await written(ana, 25)
        await asked(home.as_(ana))

        proxy.cut()
        in_session = await asked(home.as_(ana), revision)
        bounded = await asked(home.as_(ana), revision, max_staleness_ms=WINDOW_MS)

    problem(in_session, 503)
    assert "25 days" in bounded.text
    assert bounded.headers["nearhit-consistency"].startswith("bounded;ms=")


async def test_a_new_question_to_shards_at_home_reaches_the_revision_or_is_refused(
    settings: Settings, embedder: Embedder, gateway: Gateway, ana: Caller
) -> None:
    """Whose statement would prove a revision of its own."""
    revision = await written(ana, 25)
    async with running(settings.model_copy(update={"shard_bytes_max": 1 << 26}), embedder) as home:
        at_home, numbers = home.as_(ana), itertools.count()
        async with asyncio.timeout(10):
            while await home.counted("nearhit_shard_events_total", event="loaded") < 2:
                await asked(at_home, query=f"days {next(numbers)}")

        for _ in range(3):
            assert (await asked(at_home, revision, query=f"{next(numbers)}")).status_code == 200
            problem(await asked(at_home, "1000", query=f"days {next(numbers)}"), 409)


async def test_a_conversation_needs_no_primary_either(far: Gateway, ana: Caller) -> None:
    at_far = far.as_(ana)
    revision = await written(ana, 25)
    await asked(at_far)
    before = await readings(far)

    answer = await asked(at_far, revision, history=[])

    assert "25 days" in answer.text
    assert answer.headers["nearhit-consistency"] == "session"
    assert await readings(far) == before


async def test_a_silent_primary_is_waited_for_until_the_deadline(
    far: Gateway, ana: Caller, proxy: DatabaseProxy
) -> None:
    at_far = far.as_(ana)
    await asked(at_far)
    revision = await written(ana, 25)
    proxy.hold()
    waiting = asyncio.create_task(asked(at_far, revision))

    await asyncio.wait([waiting], timeout=6)  # the deadline is two seconds
    in_time = waiting.done()
    proxy.mend()

    assert in_time
    assert (await waiting).status_code in (503, 504)
    assert "25 days" in (await asked(at_far, revision)).text


async def test_a_tenant_may_forbid_what_is_not_strong(
    gateway: Gateway, far: Gateway, ana: Caller, admin: Caller
) -> None:
    await limit(admin, 0)
    for caller, worker in ((ana, gateway), (far.as_(ana), far)):
        revision = await written(ana, 25)
        await asked(caller)
        await written(ana, 26)
        before = await readings(worker)

        bounded = await asked(caller, max_staleness_ms=WINDOW_MS)
        await written(ana, 27)
        in_session = await asked(caller, revision)

        assert ("26 days" in bounded.text, "27 days" in in_session.text) == (True, True)
        for answer in (bounded, in_session):
            assert answer.headers["nearhit-consistency"] == "strong"
        assert await readings(worker) - before == 2 + (worker is gateway)  # which wrote


async def test_a_lower_limit_holds_as_soon_as_the_region_hears_of_it(
    far: Gateway, ana: Caller, admin: Caller
) -> None:
    at_far = far.as_(ana)
    revision = await written(ana, 25)
    await asked(at_far)
    await limit(admin, 0)
    await written(ana, 26)

    unheard = await asked(at_far, max_staleness_ms=WINDOW_MS)  # the limit of what it knows
    await far.as_(admin).call("GET", "/v1/consistency")
    bounded = await asked(at_far, max_staleness_ms=WINDOW_MS)
    in_session = await asked(at_far, revision)

    assert "25 days" in unheard.text
    assert ("26 days" in bounded.text, "26 days" in in_session.text) == (True, True)
    await limit(admin, None)
    await asked(at_far)
    await written(ana, 27)
    assert "26 days" in (await asked(at_far, max_staleness_ms=WINDOW_MS)).text


async def test_the_limit_of_the_deployment_holds_too(
    settings: Settings, embedder: Embedder, far: Gateway, gateway: Gateway, ana: Caller
) -> None:
    strict = {"region": "third", "staleness_s_max": 0.001}
    async with running(settings.model_copy(update=strict), embedder) as third:
        revision = await written(ana, 25)
        await asked(third.as_(ana))
        await asyncio.sleep(0.002)
        before = await readings(third)

        bounded = await asked(third.as_(ana), max_staleness_ms=WINDOW_MS)
        in_session = await asked(third.as_(ana), revision)

        assert await readings(third) - before == 2
    for answer in (bounded, in_session):
        assert answer.headers["nearhit-consistency"] == "strong"


async def test_a_revoked_key_ends_when_the_region_hears_of_it_or_its_knowledge_is_too_old(
    far: Gateway, gateway: Gateway, ana: Caller, admin: Caller
) -> None:
    await written(ana, 25)
    made = await gateway.operator.call(
        "POST", "/v1/keys", json={"tenant": gateway.tenant_name, "subject": "eve"}
    )
    eve = Caller(far.client, made.json()["key"])
    before = await asked(eve)
    await gateway.operator.call("DELETE", f"/v1/keys/{made.json()['id']}")

    unheard = await asked(eve, max_staleness_ms=WINDOW_MS)
    unheard_in_session = await asked(eve, before.headers["nearhit-revision"])
    too_old = await asked(eve, max_staleness_ms=1)
    heard = await asked(eve, max_staleness_ms=WINDOW_MS)

    assert (unheard.status_code, unheard_in_session.status_code) == (200, 200)
    problem(too_old, 401)
    problem(heard, 401)


async def test_a_revocation_that_another_caller_made_known_counts_for_all(
    far: Gateway, gateway: Gateway, ana: Caller
) -> None:
    """Older readings are young enough still, but the credential is checked at the newest one."""
    await written(ana, 25)
    made = await gateway.operator.call(
        "POST", "/v1/keys", json={"tenant": gateway.tenant_name, "subject": "eve"}
    )
    eve = Caller(far.client, made.json()["key"])
    revision = (await asked(eve)).headers["nearhit-revision"]
    await gateway.operator.call("DELETE", f"/v1/keys/{made.json()['id']}")

    await asked(far.as_(ana))

    problem(await asked(eve, max_staleness_ms=WINDOW_MS), 401)
    problem(await asked(eve, revision), 401)


async def test_what_is_written_or_administered_needs_the_rights_of_now(
    far: Gateway, gateway: Gateway
) -> None:
    made = await gateway.operator.call(
        "POST",
        "/v1/keys",
        json={"tenant": gateway.tenant_name, "subject": "eve", "roles": ["admin"]},
    )
    eve = Caller(far.client, made.json()["key"])
    revision = (await asked(eve)).headers["nearhit-revision"]
    await gateway.operator.call("DELETE", f"/v1/keys/{made.json()['id']}")
    headers = {"Nearhit-Min-Revision": revision}

    assert (await asked(eve, revision)).status_code == 200  # which reads
    for method, path, body in (
        ("PUT", "/v1/documents/x", {"text": "x"}),
        ("POST", "/v1/tokens", {}),
        ("GET", "/v1/keys", None),
    ):
        problem(await eve.call(method, path, json=body, headers=headers), 401)


async def test_repeats_keep_the_promises_too(
    far: Gateway, ana: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    at_far = far.as_(ana)
    revision = await written(ana, 25)
    await asked(at_far)
    outcomes: list[bool] = watched(monkeypatch)
    in_session = request(at_far, "days of leave", f"Nearhit-Min-Revision: {revision}")
    bounded = request(at_far, "days of leave", max_staleness_ms=WINDOW_MS)
    async with raw(far) as connection:
        for sent, promise in ((in_session, "session"), (bounded, "bounded;ms=")):
            await ask(connection, sent)
            before = await readings(far)

            repeated = await ask_repeat(connection, sent, outcomes)

            assert repeated.headers["nearhit-consistency"].startswith(promise)
            assert await readings(far) == before
        later = await written(ana, 26)
        stale = await ask_repeat(connection, in_session, outcomes)
        fresh = await asked(at_far, later)
        after = await ask_repeat(connection, in_session, outcomes)

    assert ("25 days" in stale.body.decode(), "26 days" in fresh.text) == (True, True)
    assert "26 days" in after.body.decode()


async def test_a_repeat_of_a_revoked_key_is_refused_when_the_region_has_heard(
    far: Gateway, gateway: Gateway, ana: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    await written(ana, 25)
    made = await gateway.operator.call(
        "POST", "/v1/keys", json={"tenant": gateway.tenant_name, "subject": "eve"}
    )
    eve = Caller(far.client, made.json()["key"])
    outcomes = watched(monkeypatch)
    sent = request(eve, "days of leave", max_staleness_ms=WINDOW_MS)
    async with raw(far) as connection:
        await asked(eve)
        await ask(connection, sent)
        await gateway.operator.call("DELETE", f"/v1/keys/{made.json()['id']}")
        assert (await ask_repeat(connection, sent, outcomes)).status == 200

        await asked(far.as_(ana))

        assert (await ask(connection, sent)).status == 401


async def test_tools_and_vector_stores_keep_the_promises(far: Gateway, ana: Caller) -> None:
    at_far = far.as_(ana)
    revision = await written(ana, 25)
    calls: list[tuple[str, dict[str, Any]]] = [
        ("/mcp", tool_call("search", query="days of leave")),
        ("/v1/vector_stores/api/search", {"query": "days of leave"}),
    ]
    for path, body in calls:
        headers = {"Nearhit-Min-Revision": revision}
        strong = await at_far.call("POST", path, json=body)
        before = await readings(far)
        in_session = await at_far.call("POST", path, json=body, headers=headers)

        assert await readings(far) == before
        assert strong.headers["nearhit-consistency"] == "strong"
        assert in_session.headers["nearhit-consistency"] == "session"
        assert (
            in_session.headers["nearhit-revision"].partition(";")[0] == revision.partition(";")[0]
        )

        revision = await written(ana, int(revision.partition(";")[0]) + 40)
        headers = {"Nearhit-Min-Revision": revision}
        own = await at_far.call("POST", path, json=body, headers=headers)
        assert own.headers["nearhit-consistency"] == "strong"
        assert int(own.headers["nearhit-revision"].partition(";")[0]) >= int(
            revision.partition(";")[0]
        )


async def test_in_a_batch_the_strictest_promise_counts(far: Gateway, ana: Caller) -> None:
    at_far = far.as_(ana)
    revision = await written(ana, 25)
    bounded = {"query": "days of leave", "max_staleness_ms": WINDOW_MS}

    async def batch(*searches: dict[str, Any], revision: str | None = None) -> httpx2.Response:
        headers = {} if revision is None else {"Nearhit-Min-Revision": revision}
        body = {"searches": searches}
        return await at_far.call("POST", "/v1/search/batch", json=body, headers=headers)

    first = await batch(bounded)
    await written(ana, 26)
    before = await readings(far)
    both = await batch(bounded, bounded)
    mixed = await batch(bounded, {"query": "days of leave"}, revision=revision)
    assert await readings(far) == before
    strict = await batch(bounded, {"query": "days of leave"})

    assert first.headers["nearhit-consistency"] == "strong"
    assert both.headers["nearhit-consistency"].startswith("bounded;ms=")
    assert mixed.headers["nearhit-consistency"] == "session"
    assert ("25 days" in both.text, "25 days" in mixed.text) == (True, True)
    assert strict.headers["nearhit-consistency"] == "strong"
    assert "26 days" in strict.text
    refused = await batch(bounded, {"query": "x", "consistency": "bounded"})
    assert problem(refused, 422)["errors"][0]["field"] == "searches.1.consistency"


@pytest.mark.parametrize(
    "fields",
    [
        {"consistency": "strong", "max_staleness_ms": 5},
        {"consistency": "bounded"},
        {"consistency": "session"},
        {"consistency": "eventual"},
        {"consistency": "STRONG"},
        {"consistency": 1},
    ],
)
async def test_a_contradiction_is_refused_by_the_name_of_its_field(
    ana: Caller, fields: dict[str, Any]
) -> None:
    for path in ("/v1/search", "/v1/answer"):
        refused = await ana.call("POST", path, json={"query": "leave", **fields})
        if path == "/v1/search" or refused.status_code != 501:
            assert problem(refused, 422)["errors"][0]["field"] == "consistency"


def tool_call(name: str, **arguments: Any) -> dict[str, Any]:
    params = {"name": name, "arguments": arguments}
    return {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
