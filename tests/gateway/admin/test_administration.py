"""Who may make which call; tenants, keys and groups; and what is never told to anybody."""

import asyncio
import hashlib
import re
import secrets
from typing import Any

import asyncpg
import httpx2
import orjson
import pytest

from gateway.auth.roles import ROLES, SUFFICIENT
from gateway.http.route import ApiRoute
from gateway.problems import problems
from gateway.settings.settings import Settings
from index.search.query_embedder import Embedder
from tests.gateway.support.gateways import Caller, Gateway, problem, running
from tests.gateway.support.keys import new_key
from tests.gateway.support.module_gateway import *  # noqa: F403  the fixtures
from tests.gateway.support.routes import ROUTES

pytestmark = pytest.mark.anyio

LEAVE = "# Leave\n\nEverybody gets 25 days of annual leave a year."
LINES_S_MAX = 60.0


@pytest.fixture(scope="module")
async def callers(gateway: Gateway) -> dict[str, Caller]:
    """One of each kind, in a tenant that has a document `leave`."""
    tenant = await gateway.new_tenant()
    made: dict[str, Caller] = {
        "nobody": gateway.stranger,
        "guesser": Caller(gateway.client, f"nh_{secrets.token_urlsafe(32)}"),
        "operator": gateway.operator,
        "none": await gateway.caller("none", tenant=tenant, roles=[]),
        **{role: await gateway.caller(role, tenant=tenant, roles=[role]) for role in ROLES},
    }
    await made["writer"].put("leave", LEAVE, readers=["tenant"])
    return made


@pytest.fixture
async def tenant(gateway: Gateway) -> str:
    return await gateway.new_tenant()


@pytest.fixture
async def admin(gateway: Gateway, tenant: str) -> Caller:
    return await gateway.caller("ada", tenant=tenant, roles=["admin"])


# Who may make which call.

OPERATORS_CALLS = {
    "get_caller",
    *("create_tenant", "list_tenants", "get_tenant", "clear_cache", "delete_tenant"),
    *("get_budget", "put_budget", "get_quotas", "put_quotas", "get_job"),
    *("create_key", "list_keys", "rotate_key", "revoke_key"),
    *("list_processes", "get_latencies"),
}
BODIES = {
    "search": {"query": "annual leave"},
    "search_as": {"subject": "ana", "search": {"query": "annual leave"}},
    "search_batch": {"searches": [{"query": "annual leave"}]},
    "search_plan": {"steps": [{"name": "leave", "query": "annual leave"}]},
    "put_strategy": {"plan": {"steps": [{"name": "leave", "query": "annual leave"}]}},
    "search_vector_store": {"query": "annual leave"},
    "mcp": {"jsonrpc": "2.0", "id": 1, "method": "ping"},
    "put_document": {"text": LEAVE},
    "patch_access": {"readers": []},
    "create_tenant": {"id": "mine"},
    "create_key": {"subject": "eve"},
    "put_budget": {"budget_month": 1.0},
    "put_quotas": {},
    "check_context": {"passages": [{"document_id": "x"}]},
    "why_not": {"query": "annual leave", "document_id": "x"},
    "measure_answers": {"questions": [{"question": "Why?", "passage": "x"}]},
}
HARMLESS = {"{document_id:path}": "nobodys", "{key_id}": "key_none", "{group}": "g"}


def path_of(call: ApiRoute[Any]) -> str:
    return re.sub(r"{[^}]*}", lambda place: HARMLESS.get(place.group(), "x"), call.path)


def expected(call: ApiRoute[Any], who: str) -> set[int] | None:
    """The refusals that this caller may get; None if it must get through."""
    if call.needs == "anyone":
        return None
    if who in ("nobody", "guesser"):
        return {401}
    if who == "operator":
        return None if call.handle.__name__ in OPERATORS_CALLS else {403}
    if call.needs == "operator":
        return {401, 403}
    return None if who in SUFFICIENT[call.needs] else {403}


@pytest.mark.sampled("nobody", "reader", "writer", "publisher", "admin", "provisioner", "operator")
@pytest.mark.parametrize("who", ["nobody", "guesser", "none", *ROLES, "operator"])
async def test_a_call_is_refused_to_whoever_lacks_what_it_needs(
    callers: dict[str, Caller], who: str
) -> None:
    for call in ROUTES:
        body = BODIES.get(call.handle.__name__)
        answer = await callers[who].call(call.method, path_of(call), json=body)
        assert_refused_or_let_through(answer, call, expected(call, who))


def assert_refused_or_let_through(
    answer: httpx2.Response, call: ApiRoute[Any], refusals: set[int] | None
) -> None:
    if refusals is None:
        assert answer.status_code not in (401, 403), (call.path, answer.text)
        return
    assert answer.status_code in refusals, (call.path, answer.text)
    if call.render is problems.render:
        problem(answer, answer.status_code)
    elif call.error_type != "application/json":
        assert answer.headers["content-type"] == call.error_type, call.path
        assert answer.json()["detail"], call.path
    else:
        assert answer.json()["error"]["message"], call.path


async def test_a_stranger_is_refused_alike_whatever_it_asks_for(
    callers: dict[str, Caller],
) -> None:
    for call in ROUTES:
        if call.needs == "anyone":
            continue
        there, body = path_of(call).replace("nobodys", "leave"), BODIES.get(call.handle.__name__)
        answers = [
            await callers["nobody"].call(call.method, there, json=body),
            await callers["guesser"].call(call.method, path_of(call), content=b"not json"),
        ]
        assert len({(answer.status_code, answer.content) for answer in answers}) == 1, call.path


async def test_an_admin_may_not_create_a_tenant_though_its_key_is_valid(admin: Caller) -> None:
    problem(await admin.call("POST", "/v1/tenants", json={"id": "mine"}), 403)


# Tenants.


async def test_a_tenant_has_a_name_or_its_identifier_for_one(gateway: Gateway) -> None:
    named, plain = (f"t-{secrets.token_hex(6)}" for _ in range(2))

    with_name = await gateway.operator.call(
        "POST", "/v1/tenants", json={"id": named, "name": " Açaí Ltda. "}
    )
    without = await gateway.operator.call("POST", "/v1/tenants", json={"id": plain})

    assert with_name.json() == {"id": named, "name": "Açaí Ltda."}
    assert without.json() == {"id": plain, "name": plain}


async def test_nobody_gets_a_key_of_the_public_partition(gateway: Gateway) -> None:
    body = {"tenant": "public", "subject": "eve"}

    answer = await gateway.operator.call("POST", "/v1/keys", json=body)

    assert answer.status_code in (404, 409, 422)


async def test_a_gateway_without_an_operators_key_knows_no_operator(
    settings: Settings, embedder: Embedder
) -> None:
    without = settings.model_copy(update={"admin_key": None})
    async with running(without, embedder) as gateway:
        url = gateway.client.base_url
        for blank in (b"Bearer ", b"Bearer  ", b"Bearer \t ", b"Bearer"):
            body = b'{"id": "mine"}'
            request = b"POST /v1/tenants HTTP/1.1\r\nHost: x\r\nConnection: close\r\n"
            request += b"Authorization: %b\r\nContent-Length: %d\r\n\r\n" % (blank, len(body))
            reader, writer = await asyncio.open_connection(url.host, url.port)
            writer.write(request + body)
            answered = await reader.read()
            writer.close()
            await writer.wait_closed()
            assert answered.startswith(b"HTTP/1.1 401 "), blank


# What reaches the database is what it can hold.


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("DELETE", "/v1/keys/nul%00", None),
        ("PUT", "/v1/groups/nul%00/members/eve", None),
        ("PUT", "/v1/groups/people/members/nul%00", None),
        ("POST", "/v1/keys", {"tenant": "nul\0", "subject": "eve"}),
        ("POST", "/v1/keys", {"subject": "nul\0"}),
        ("POST", "/v1/tenants", {"id": "x", "name": "nul\0"}),
    ],
)
async def test_what_the_database_can_not_hold_is_a_problem_of_the_callers(
    gateway: Gateway,
    method: str,
    path: str,
    body: dict[str, str] | None,
) -> None:
    admin = await gateway.caller("ada", tenant=await gateway.new_tenant(), roles=["admin"])
    caller = admin if "groups" in path else gateway.operator

    answer = await caller.call(method, path, json=body)

    assert answer.status_code in (404, 422), answer.text


# Groups.


@pytest.mark.thorough
async def test_members_come_and_go_as_often_as_one_says(
    gateway: Gateway, admin: Caller, tenant: str
) -> None:
    ben = await gateway.caller("ben", tenant=tenant)
    await admin.put("leave", LEAVE, readers=["group:people"])
    path = "/v1/groups/people/members/ben"

    for method, found in (
        ("DELETE", []),
        ("PUT", ["leave"]),
        ("PUT", ["leave"]),
        ("DELETE", []),
        ("DELETE", []),
    ):
        assert (await admin.call(method, path)).status_code == 204
        assert await ben.found("annual leave") == found


async def test_a_member_whose_key_names_the_group_is_not_removed_before_that_key(
    gateway: Gateway, admin: Caller, tenant: str
) -> None:
    await admin.put("leave", LEAVE, readers=["group:people"])
    path, body = "/v1/groups/people/members/ben", {"subject": "ben", "tenant": tenant}
    holding = await gateway.operator.call("POST", "/v1/keys", json={**body, "groups": ["people"]})
    plain = await gateway.caller("ben", tenant=tenant, groups=["others"])
    await admin.call("PUT", path)

    refused = problem(await admin.call("DELETE", path), 409)
    found_meanwhile = await plain.found("annual leave")
    await admin.call("DELETE", f"/v1/keys/{holding.json()['id']}")
    removed = await admin.call("DELETE", path)

    assert refused["errors"][0]["field"] == "subject"
    assert holding.json()["id"] in refused["detail"]
    assert found_meanwhile == ["leave"]  # nothing was changed
    assert removed.status_code == 204
    assert await plain.found("annual leave") == []


@pytest.mark.parametrize("groups", [None, ["people"], ["others"]])
async def test_a_token_holds_a_group_of_its_key_unless_it_is_narrowed_to_others(
    gateway: Gateway, admin: Caller, tenant: str, groups: list[str] | None
) -> None:
    ben = await gateway.caller("ben", tenant=tenant, groups=["people", "others"])
    body = {} if groups is None else {"groups": groups}
    token = (await ben.call("POST", "/v1/tokens", json=body)).json()["id"]

    refused = problem(await admin.call("DELETE", "/v1/groups/people/members/ben"), 409)

    assert (token in refused["detail"]) is (groups != ["others"])


async def test_a_group_is_of_one_tenant(gateway: Gateway, admin: Caller, tenant: str) -> None:
    other = await gateway.new_tenant()
    ben = await gateway.caller("ben", tenant=other)
    ada = await gateway.caller("ada", tenant=other, roles=["admin"])
    await ada.put("leave", LEAVE, readers=["group:people"])

    await admin.call("PUT", "/v1/groups/people/members/ben")

    assert await ben.found("annual leave") == []


@pytest.mark.parametrize(("group", "subject"), [("a%2Fb", "ben"), ("people", "google%2F17")])
async def test_a_group_or_subject_that_a_key_may_have_may_have_members(
    gateway: Gateway, admin: Caller, group: str, subject: str
) -> None:
    await new_key(admin, subject="google/17", groups=["a/b"])

    answer = await admin.call("PUT", f"/v1/groups/{group}/members/{subject}")

    assert answer.status_code == 204


# What is never told.


async def lines_of(capfd: pytest.CaptureFixture[str], request_id: str) -> str:
    """All that was logged up to and with the line of this request, which comes a little later."""
    out = ""
    async with asyncio.timeout(LINES_S_MAX):
        while f'"{request_id}"' not in out:
            captured = capfd.readouterr()
            out += captured.out + captured.err
            await asyncio.sleep(0.01)
    return out


async def test_a_key_is_in_no_log_line_no_problem_no_header_and_no_metric(
    logging_gateway: Gateway, capfd: pytest.CaptureFixture[str]
) -> None:
    gateway = logging_gateway
    admin = await gateway.caller("ada", roles=["admin"])
    made = await new_key(admin)
    eve, wrong = Caller(gateway.client, made.key), f"nh_{secrets.token_urlsafe(32)}"

    answers = [
        await eve.search("annual leave"),
        await eve.call("POST", "/v1/search", content=b"not json"),
        await eve.call("POST", "/v1/tenants", json={"id": "mine"}),
        await eve.call("GET", "/v1/nothing"),
        await Caller(gateway.client, wrong).call("GET", "/v1/documents"),
        await gateway.client.get("/metrics"),
        await eve.call("GET", "/v1/documents", headers={"X-Request-Id": "the-last-one"}),
    ]
    told = await lines_of(capfd, "the-last-one")
    told += "".join(f"{answer.headers} {answer.text}" for answer in answers)

    for key in (made.key, wrong, admin.key):
        assert key is not None
        assert key.removeprefix("nh_") not in told
        assert hashlib.sha256(key.encode()).hexdigest() not in told


async def test_of_a_key_the_database_has_the_sha_256_alone(
    gateway: Gateway, admin: Caller, settings: Settings
) -> None:
    made = await new_key(admin)
    await Caller(gateway.client, made.key).put("leave", LEAVE)
    assert settings.database_url is not None

    connection = await asyncpg.connect(settings.database_url.get_secret_value())
    try:
        tables = await connection.fetch(
            "SELECT tablename FROM pg_tables WHERE schemaname = 'public' ORDER BY 1"
        )
        rows = [
            row["line"]
            for table in tables
            for row in await connection.fetch(
                f'SELECT kept::text AS line FROM "{table["tablename"]}" AS kept'  # noqa: S608
            )
        ]
    finally:
        await connection.close()

    assert len(tables) > 5
    assert not [row for row in rows if made.key.removeprefix("nh_") in row]
    assert any(hashlib.sha256(made.key.encode()).hexdigest() in row for row in rows)


@pytest.mark.sampled("True")
@pytest.mark.slow
@pytest.mark.parametrize("log_queries", [False, True])
async def test_the_text_of_a_query_is_logged_only_where_that_is_asked_for(
    settings: Settings,
    embedder: Embedder,
    capfd: pytest.CaptureFixture[str],
    *,
    log_queries: bool,
) -> None:
    changed = settings.model_copy(update={"log_queries": log_queries, "log_level": "debug"})
    async with running(changed, embedder) as gateway:
        tenant = await gateway.new_tenant()
        ana = await gateway.caller("ana", tenant=tenant)
        await ana.put("leave", LEAVE)
        for _ in range(2):  # computed, and from memory
            await ana.search("confidential layoffs")
        body = {"query": "confidential merger", "top_k": 10**6}
        await ana.call("POST", "/v1/search", json=body, headers={"X-Request-Id": "the-last-one"})
        lines = (await lines_of(capfd, "the-last-one")).splitlines()

    queries = [orjson.loads(line).get("query") for line in lines if line.startswith("{")]
    assert [query for query in queries if query] == ["confidential layoffs"] * 2 * log_queries
    assert ("confidential" in "".join(lines)) == log_queries
    assert "annual" not in "".join(lines)
