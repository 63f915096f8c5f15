"""The audit log over HTTP: who saw and who changed what, and nothing of any text."""

import asyncio
import re
from typing import Any

import orjson
import pytest
from pydantic import SecretStr

from gateway.extensions._audit_log import audit_chain
from gateway.extensions._audit_log.audit_log_reader import AuditLogReader
from gateway.extensions.similar_questions.error_limit import PairCounts
from gateway.extensions.similar_questions.pair_store import PairStore
from gateway.monitoring.metrics import Metrics
from gateway.services import open_services
from gateway.settings.settings import Settings
from gateway.worker import worker_loop
from index.audit.audit_log import AuditLog
from index.embedders.index_version import RANKING, SCHEMA
from index.embedders.static_embedder import StaticEmbedder
from index.search.query_embedder import Embedder
from index.text import lexical
from tests.conftest import run_sql
from tests.gateway.servers.database_proxy import database_proxy
from tests.gateway.support.gateways import Caller, Gateway, problem, running
from tests.gateway.writes.test_queued_writes import put_later
from tests.index.conftest import connected

pytestmark = [pytest.mark.anyio, pytest.mark.isolated]

PATH = "/v1/audit/log"
SEEN_S_MAX = 60.0
LEAVE = "# Leave\n\nEverybody gets 25 days of annual leave a year."
QUESTION = "how many days of annual leave"
INDEX_NAME = f"{SCHEMA}.{RANKING}/{StaticEmbedder.space}/{lexical.ANALYSER}"


@pytest.fixture
async def ada(gateway: Gateway) -> Caller:
    """An admin of the tenant."""
    return await gateway.caller("ada", roles=["admin"])


async def rows(admin: Caller, **parameters: str) -> list[dict[str, Any]]:
    """The oldest first."""
    answer = await admin.call("GET", PATH, params=parameters)
    assert answer.status_code == 200, answer.text
    return [*reversed(answer.json()["rows"])]


async def seen(admin: Caller, subject: str, answers: int) -> dict[str, int]:
    """By document, in how many rows the subject is said to have seen it.

    answers: how many it got in all, which is waited for.
    """
    async with asyncio.timeout(SEEN_S_MAX):
        while True:
            found = await rows(admin, subject=subject)
            told = [row["details"] for row in found if row["action"] == "documents.read"]
            if sum(details["answers"] for details in told) >= answers:
                break
            await asyncio.sleep(0.05)
    assert sum(details["answers"] for details in told) == answers
    names = [name for details in told for name in details["documents"]]
    return {name: names.count(name) for name in names}


async def changes(admin: Caller, **parameters: str) -> list[tuple[str | None, str, Any]]:
    """Who did what to which documents, or to what else."""
    return [
        (row["subject"], row["action"], row["details"].get("documents", row["target"]))
        for row in await rows(admin, **parameters)
        if row["action"] != "documents.read"
    ]


async def every_change(admin: Caller) -> list[tuple[str | None, str, Any]]:
    """Of all pages; in no order."""
    found: list[tuple[str | None, str, Any]] = []
    cursor: str | None = "1000000"
    while cursor is not None:
        found += await changes(admin, cursor=cursor)
        page = (await admin.call("GET", PATH, params={"cursor": cursor})).json()
        cursor = page["cursor"]
    return found


# Who saw what.


@pytest.mark.slow
async def test_what_each_tier_showed_is_there(
    gateway: Gateway,
    other_worker: Gateway,
    database_url: str,
    ada: Caller,
    ana: Caller,
    ben: Caller,
) -> None:
    async with connected(database_url) as database:  # a similar question's answer will do
        await PairStore(database, INDEX_NAME, 0.01).add("acme", PairCounts(500, 0, 500, 0))
    eve, similar = await gateway.caller("eve"), await gateway.caller("sim")
    await ada.put("leave", LEAVE, readers=["tenant"])
    await ada.put("secret", "Annual leave of the board.", readers=["user:nobody"])
    tiers = [
        (await caller.search(QUESTION)).headers["cache-status"].split("; ")[-1]
        for caller in (ana, ana, other_worker.as_(ana))
    ]
    asked = await ask_until_similar(eve, similar)
    typing = await gateway.caller("tip")
    await typing.search(QUESTION, typing=True)
    await ben.call("GET", "/v1/documents/leave")
    await ben.call("GET", "/v1/documents/secret")  # not found, and so not seen
    await ben.call("GET", "/v1/documents")

    assert tiers == ["stored", "detail=memory", "detail=redis"]
    assert set(await seen(ada, "ana", 3)) == {"leave"}
    assert set(await seen(ada, "eve", 1)) == {"leave"}
    assert set(await seen(ada, "sim", asked)) == {"leave"}
    assert set(await seen(ada, "tip", 1)) == {"leave"}
    assert set(await seen(ada, "ben", 2)) == {"leave"}
    found = await rows(ada, document="leave", subject="ben")
    assert {row["key_id"][:4] for row in found} == {"key_"}
    assert "secret" not in str([row for row in await rows(ada) if row["subject"] != "ada"])


async def ask_until_similar(one: Caller, other: Caller) -> int:
    """How often the other one asked; a worker learns of what was right a moment after."""
    fields: dict[str, Any] = {"scopes": ["tenant"], "semantic": "bounded"}
    await one.search(QUESTION, **fields)
    for asked in range(1, 100):
        answer = await other.search(f"{QUESTION}{'?' * asked}", **fields)
        if "semantic" in answer.headers["cache-status"]:
            return asked
    raise AssertionError("no similar question's answer was served")


@pytest.mark.thorough
@pytest.mark.slow
async def test_nobody_who_asked_while_the_database_was_away_is_forgotten(
    settings: Settings, embedder: Embedder, database_url: str
) -> None:
    async with database_proxy(database_url) as proxy:
        behind = settings.model_copy(update={"database_url": SecretStr(proxy.url)})
        async with running(behind, embedder) as gateway:
            await gateway.tenant("acme")
            ana, ada = await gateway.caller("ana"), await gateway.caller("ada", roles=["admin"])
            await ana.put("leave", LEAVE, readers=["tenant"])
            await ana.search(QUESTION)
            assert await seen(ada, "ana", 1) == {"leave": 1}

            proxy.cut()
            for _ in range(3):
                await ana.search(QUESTION, max_staleness_ms=3_600_000)
                await asyncio.sleep(0.6)  # so that some of it is tried in vain
            proxy.mend()

            assert await seen(ada, "ana", 4) == {"leave": 2}


@pytest.mark.thorough
@pytest.mark.slow
async def test_what_was_seen_last_is_kept_when_a_worker_stops(
    settings: Settings, embedder: Embedder, ada: Caller, ana: Caller
) -> None:
    await ana.put("leave", LEAVE)
    async with running(settings, embedder) as stopping:
        await stopping.as_(ana).search(QUESTION)

    found = await rows(ada, subject="ana", document="leave")

    assert [row["action"] for row in found] == ["documents.write", "documents.read"]


@pytest.mark.sampled("changes-actions0")
@pytest.mark.slow
@pytest.mark.parametrize(("told", "actions"), [("changes", {"documents.write"}), ("off", set())])
async def test_less_is_told_where_less_is_wanted(
    settings: Settings, embedder: Embedder, ada: Caller, ana: Caller, told: str, actions: set[str]
) -> None:
    async with running(settings.model_copy(update={"audit_log": told}), embedder) as worker:
        await worker.as_(ana).put("leave", LEAVE)
        await worker.as_(ana).search(QUESTION)

    assert {row["action"] for row in await rows(ada, subject="ana")} == actions


# Who changed what.


@pytest.mark.slow
async def test_changes_of_documents_are_told_with_who_made_them(
    gateway: Gateway, ada: Caller, ana: Caller, ben: Caller
) -> None:
    await ana.put("leave", LEAVE)
    await ana.put("leave", f"{LEAVE} And 2 more.")
    await ana.put("leave", f"{LEAVE} And 2 more.")  # nothing new
    await ana.put("leave", LEAVE, readers=["user:ben"])
    await ana.share("leave", "user:ben", "group:sales")
    lines = b"\n".join(
        orjson.dumps({"document_id": f"batch-{number}", "text": LEAVE}) for number in range(3)
    )
    await ben.call("POST", "/v1/documents/batch", content=lines)
    await ada.call("DELETE", "/v1/documents/leave")
    problem(await ben.call("DELETE", "/v1/documents/leave"), 404)

    found = await changes(ada)

    assert found[-6:] == [
        ("ana", "documents.write", {"leave": "added"}),
        ("ana", "documents.write", {"leave": "changed"}),
        ("ana", "documents.write", {"leave": "changed and shared"}),
        ("ana", "documents.share", {"leave": "shared"}),
        ("ben", "documents.write", {f"batch-{number}": "added" for number in range(3)}),
        ("ada", "documents.remove", {"leave": "removed"}),
    ]
    (shared,) = [row for row in await rows(ada) if row["action"] == "documents.share"]
    assert shared["details"]["readers"] == ["user:ben", "group:sales"]
    assert shared["details"]["owner"] == "ana"


async def test_changes_of_access_are_told_with_who_made_them(gateway: Gateway, ada: Caller) -> None:
    made = (await ada.call("POST", "/v1/keys", json={"subject": "eve"})).json()
    eve = Caller(gateway.client, made["key"])
    token = (await eve.call("POST", "/v1/tokens", json={})).json()
    await eve.call("DELETE", f"/v1/tokens/{token['id']}")
    rotated = (await ada.call("POST", f"/v1/keys/{made['id']}/rotate", json={})).json()
    await gateway.operator.call("DELETE", f"/v1/keys/{rotated['id']}")
    await ada.call("PUT", "/v1/groups/sales/members/eve")
    await ada.call("DELETE", "/v1/groups/sales/members/eve")
    await gateway.operator.call("PUT", "/v1/tenants/acme/budget", json={"budget_month": 5})
    await ada.call("PUT", "/v1/cache/semantic", json={"error_max": 0.02})

    found = await changes(ada)

    assert found == [
        (None, "tenant.create", "acme"),
        (None, "key.create", found[1][2]),  # ada's
        ("ada", "key.create", made["id"]),
        ("eve", "token.create", token["id"]),
        ("eve", "token.revoke", token["id"]),
        ("ada", "key.rotate", made["id"]),
        (None, "key.revoke", rotated["id"]),
        ("ada", "member.add", "sales"),
        ("ada", "member.remove", "sales"),
        (None, "budget.put", "acme"),
        ("ada", "semantic.put", "acme"),
    ]
    by_nobody = [row for row in await rows(ada) if row["subject"] is None]
    assert {row["key_id"] for row in by_nobody} == {"operator"}


@pytest.mark.slow
async def test_a_job_is_done_as_whoever_asked_for_it(
    settings: Settings, embedder: Embedder, ada: Caller, ana: Caller
) -> None:
    await put_later(ana, "leave")
    async with open_services(settings, Metrics(), embedder) as services:
        await worker_loop.make_worker(services.worker).drain()

    (row,) = await rows(ada, document="leave")

    assert (row["subject"], row["action"]) == ("ana", "documents.write")
    assert row["key_id"].startswith("key_")


@pytest.mark.slow
async def test_the_log_holds_no_word_of_any_text_no_title_and_no_key(
    gateway: Gateway, database_url: str, ada: Caller, ana: Caller
) -> None:
    words = ["zyxtext", "zyxtitle", "zyxtag", "zyxmeta", "zyxquery", "zyxname", "zyxuri"]
    text, title, tag, meta, query, name, uri = words
    fields: dict[str, Any] = {"title": title, "tags": [tag], "metadata": {"k": meta}, "uri": uri}
    made = await ada.call("POST", "/v1/keys", json={"subject": "eve", "name": name})
    eve = Caller(gateway.client, made.json()["key"])
    token = await eve.call("POST", "/v1/tokens", json={"name": name})
    await gateway.operator.call("POST", "/v1/tenants", json={"id": "beta", "name": name})
    for part in (text, f"{text} again"):
        await eve.put("one", f"{LEAVE} {part}", **fields)
    await put_later(eve, "two", f"{LEAVE} {text}", **fields)
    await eve.share("one", "tenant")
    await ana.search(query)
    await ana.search(f"{QUESTION} {text} {title}")
    await ana.call("GET", "/v1/documents/one")
    await ana.call("GET", "/v1/documents")
    await eve.call("DELETE", "/v1/documents/one")
    assert set(await seen(ada, "ana", 4)) == {"one"}

    async with connected(database_url) as database:
        log = AuditLog(database)
        told = str(await AuditLogReader(database).newest(await log.tenants(), limit=1_000))

    assert "'one'" in told
    secrets = [made.json()["key"], token.json()["token"], ana.key or "", ada.key or ""]
    for hidden in (*words, *LEAVE.split(), *QUESTION.split(), *secrets):
        if len(hidden) > 3:
            assert not re.search(rf"\b{re.escape(hidden)}\b", told), hidden


@pytest.mark.thorough
@pytest.mark.slow
async def test_workers_that_write_and_ask_at_once_make_one_chain(
    gateway: Gateway, other_worker: Gateway, database_url: str, ada: Caller
) -> None:
    ana = await gateway.caller("ana", roles=["reader", "writer", "publisher"])

    async def use(number: int) -> None:
        worker = (gateway, other_worker)[number % 2]
        who, name = worker.as_(ana), f"{number % 5}"
        await who.put(f"leave-{name}", f"{LEAVE} {number}", readers=["public", "tenant"])
        await who.search(f"{QUESTION} {number}")
        await worker.as_(ada).call("PUT", f"/v1/groups/sales/members/{number}")
        await who.share(f"leave-{name}", "tenant", f"user:{number}")
        await worker.caller(f"new-{number}")

    await asyncio.gather(*(use(number) for number in range(16)))
    await seen(ada, "ana", 16)

    async with connected(database_url) as database:
        (found,) = [one async for one in audit_chain.verify(database)]
    assert found.fault is None
    done = [action for _, action, _ in await every_change(ada)]
    assert done.count("documents.share") == 16
    assert done.count("member.add") == 16
    assert done.count("key.create") == 18


@pytest.mark.thorough
@pytest.mark.slow
async def test_the_worker_removes_rows_that_are_too_old(
    settings: Settings, embedder: Embedder, database_url: str, ada: Caller
) -> None:
    await run_sql(
        database_url,
        "SET session_replication_role = replica; UPDATE audit_log SET at = at - interval '2 days'",
    )

    left = []
    for days in (0, 3, 1):
        kept = settings.model_copy(update={"audit_log_retention_days": days})
        async with open_services(kept, Metrics(), embedder) as services:
            await worker_loop.prune_audit_log(services.worker)
            page = await AuditLogReader(services.stores.database).page("acme", limit=10)
            left.append([row.action for row in page.rows])

    assert left == [["key.create", "tenant.create"]] * 2 + [["log.prune"]]


# Who may read it.


async def test_an_admin_reads_its_own_tenants_log_alone(
    gateway: Gateway, ada: Caller, ana: Caller
) -> None:
    await gateway.tenant("beta")
    bob = await gateway.caller("bob", tenant="beta", roles=["admin"])

    assert [row["target"] for row in await rows(bob)][:1] == ["beta"]
    assert len(await rows(bob)) == 2
    problem(await ana.call("GET", PATH), 403)
    problem(await gateway.operator.call("GET", PATH), 403)
    problem(await gateway.stranger.call("GET", PATH), 401)


async def test_an_admin_sees_nothing_of_another_tenant_that_had_its_name(
    gateway: Gateway, database_url: str, ana: Caller
) -> None:
    await ana.put("leave", LEAVE)
    await run_sql(database_url, "DELETE FROM tenants WHERE tenant = 'acme'")
    await gateway.tenant("acme")
    ada = await gateway.caller("ada", roles=["admin"])

    found = await rows(ada)

    assert [row["action"] for row in found] == ["tenant.create", "key.create"]
    assert [row["number"] for row in found] == [4, 5]


@pytest.mark.thorough
@pytest.mark.slow
async def test_the_log_comes_page_by_page(gateway: Gateway, ada: Caller, ana: Caller) -> None:
    for number in range(5):
        await ana.put(f"leave-{number}", LEAVE)
    every = await rows(ada)
    pages: list[dict[str, Any]] = []
    cursor: dict[str, str] = {}

    while True:
        page = (await ada.call("GET", PATH, params={"limit": "3", **cursor})).json()
        pages += page["rows"]
        if page["cursor"] is None:
            break
        cursor = {"cursor": page["cursor"]}

    assert [*reversed(pages)] == every
    assert [row["number"] for row in every] == list(range(1, len(every) + 1))
    late = await rows(ada, since=every[-2]["at"])
    assert late == every[-2:]


MEANINGLESS = [
    ("limit", "0"),
    ("limit", "101"),
    ("limit", "x"),
    ("cursor", "x"),
    ("since", "yesterday"),
    ("since", "2025-01-01T00:00:00"),
    ("subject", "a\nb"),
    ("document", "a\nb"),
]


async def test_a_parameter_that_means_nothing_is_refused(ada: Caller) -> None:
    for name, value in MEANINGLESS:
        refusal = problem(await ada.call("GET", PATH, params={name: value}), 422)

        assert [error["field"] for error in refusal["errors"]] == [name], (name, value)


# Who was shown this.


async def shown_to(admin: Caller, **parameters: str) -> list[str | None]:
    answer = await admin.call("GET", "/v1/audit/recipients", params=parameters)
    assert answer.status_code == 200, answer.text
    assert answer.json()["answers_lost"] == 0
    return sorted(each["subject"] for each in answer.json()["recipients"])


@pytest.mark.slow
async def test_an_admin_learns_who_was_shown_a_passage_before_it_was_edited(
    ada: Caller, ana: Caller, gateway: Gateway
) -> None:
    names = ("ben", "cleo", "dora", "emil", "finn")
    ben, cleo, dora, emil, finn = [await gateway.caller(name) for name in names]
    other_ada = await (await gateway.with_new_tenant()).caller("ada", roles=["admin"])
    await ana.put("leave", f"{LEAVE}\n\n# Lamps\n\nThe keeper lights them.", readers=["tenant"])
    (hit,) = (await ben.search(QUESTION, top_k=1)).json()["hits"]
    await cleo.search("the keeper lights lamps", top_k=1)
    await dora.call("GET", "/v1/documents/leave")
    await finn.search("the keeper lights lamps", top_k=1, expand=True)
    await ana.put("leave", f"{LEAVE} And 2 more.")
    await emil.search(QUESTION, top_k=1)
    for name in names:
        await seen(ada, name, 1)

    chunk = str(hit["chunk_id"])
    assert await shown_to(ada, document="leave") == [*names]
    assert await shown_to(ada, document="leave", chunk=chunk) == ["ben", "dora", "finn"]
    assert await shown_to(ada, document="leave", chunk=chunk, until="2020-01-01T00:00:00Z") == []
    assert await shown_to(ada, document="none") == []
    assert await shown_to(other_ada, document="leave") == []
    problem(await ben.call("GET", "/v1/audit/recipients?document=leave"), 403)


@pytest.mark.parametrize(
    "parameters",
    [{}, {"document": ""}, {"chunk": "x", "document": "a"}, {"since": "1", "document": "a"}],
)
async def test_a_question_for_recipients_that_names_nothing_is_refused(
    ada: Caller, parameters: dict[str, str]
) -> None:
    problem(await ada.call("GET", "/v1/audit/recipients", params=parameters), 422)


@pytest.mark.slow
async def test_an_admin_learns_how_often_each_chunk_was_shown(
    ada: Caller, ana: Caller, gateway: Gateway
) -> None:
    ben, other_ada = await gateway.caller("ben"), await gateway.with_new_tenant()
    await ana.put("leave", f"{LEAVE}\n\n# Lamps\n\nThe keeper lights them.", readers=["tenant"])
    chunks = []
    for caller, question in ((ana, QUESTION), (ben, QUESTION), (ben, "the keeper lights lamps")):
        (hit,) = (await caller.search(question, top_k=1)).json()["hits"]
        chunks.append(hit["chunk_id"])
    await seen(ada, "ana", 1)
    await seen(ada, "ben", 2)

    path = "/v1/audit/chunks?document=leave"
    answer = (await ada.call("GET", path)).json()

    assert answer["cursor"] is None
    views = {each["chunk_id"]: each["views"] for each in answer["chunks"]}
    assert views == {each: chunks.count(each) for each in chunks}
    stranger = await other_ada.caller("ada", roles=["admin"])
    assert (await stranger.call("GET", path)).json() == {"chunks": [], "cursor": None}
    problem(await ben.call("GET", path), 403)
    problem(await ada.call("GET", "/v1/audit/chunks"), 422)


async def test_an_admin_verifies_the_log_and_what_is_changed_is_named(
    gateway: Gateway, database_url: str, ada: Caller, ana: Caller
) -> None:
    for number in range(3):
        await ana.put(f"{number}", LEAVE)
    path = "/v1/audit/verification"

    whole = (await ada.call("GET", path)).json()
    logged = (await rows(ada))[-1]

    assert whole == {
        "verified": f"{logged['number']}:{logged['hash']}",
        "last": logged["number"],
        "fault": None,
    }
    again = (await ada.call("GET", path, params={"after": whole["verified"]})).json()
    assert again == whole
    kept = {"after": f"{logged['number']}:{'0' * 64}"}
    assert "not the one" in (await ada.call("GET", path, params=kept)).json()["fault"]
    changed = logged["number"] - 1
    await run_sql(
        database_url,
        "SET session_replication_role = replica;"
        "UPDATE audit_log SET subject = 'eve' FROM audit_log_heads AS heads "
        "WHERE audit_log.tenant = heads.tenant AND audit_log.number = heads.number - 1 "
        "AND heads.tenant = 'acme'",
    )
    broken = (await ada.call("GET", path)).json()
    assert broken["fault"] == f"row {changed} is not what was written"
    assert broken["verified"].startswith(f"{changed - 1}:")
    problem(await ana.call("GET", path), 403)
    problem(await ada.call("GET", path, params={"after": "7"}), 422)
