"""An answer of an earlier revision is given again byte for byte, until it is out of the window."""

import random
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pytest

from gateway.extensions.replay.past_store import PastStore
from index.documents.partitions import MovedTenant, Partitions
from index.search.tables.strategy import StrategyLimits
from tests.gateway.support.gateways import Caller, Gateway, problem
from tests.index.conftest import connected

pytestmark = pytest.mark.anyio

WORDS = ("leave", "annual", "travel", "salary", "sickness", "holiday", "Norrvik", "lighthouse")
SEARCHES: Sequence[Mapping[str, Any]] = (
    {"query": "annual leave", "expand": True},
    {"query": "lihgthouse travel", "explain": True},
    {"query": "salary", "filter": {"tags_any": ["new"]}, "facets": ["tags"], "metadata": True},
    {"query": "holiday", "fusion": "rrf", "diversity": 0.5, "updated_at": True},
)


@dataclass(frozen=True)
class Asked:
    """An answer that somebody got."""

    subject: str
    search: Mapping[str, Any]
    revision: int
    body: bytes


async def keep(admin: Caller, days: int = 30) -> dict[str, Any]:
    answer = await admin.call("PUT", "/v1/replay", json={"days": days})
    assert answer.status_code == 200, answer.text
    kept: dict[str, Any] = answer.json()
    return kept


async def ask(subject: str, caller: Caller, search: Mapping[str, Any]) -> Asked:
    answer = await caller.call("POST", "/v1/search", json=search)
    assert answer.status_code == 200, answer.text
    revision = int(answer.headers["nearhit-revision"].split(";")[0])
    return Asked(subject, search, revision, answer.content)


async def replayed(admin: Caller, asked: Asked, *, complete: bool = True) -> bytes:
    body = {"as_of_revision": asked.revision, "subject": asked.subject, "search": asked.search}
    answer = await admin.call("POST", "/v1/search/replay", json=body)
    assert answer.status_code == 200, answer.text
    assert answer.headers["nearhit-replay"] == ("complete" if complete else "incomplete")
    assert answer.headers["nearhit-revision"] == str(asked.revision)
    return answer.content


def text_of(dice: random.Random) -> str:
    sections = [" ".join(dice.choices(WORDS, k=12)) + "." for _ in range(dice.randint(1, 4))]
    return "\n\n".join(f"# Part {number}\n\n{text}" for number, text in enumerate(sections))


async def change(dice: random.Random, ana: Caller, admin: Caller) -> None:
    """A write, a share, an end of one, or a document that is hidden."""
    name = f"d{dice.randrange(6)}"
    kind = dice.choice(["put", "put", "put", "share", "hide", "join", "leave"])
    if kind == "put":
        readers = dice.choice([["tenant"], ["user:ben"], ["group:sales"], []])
        tags, metadata = dice.choice([["new"], []]), {"number": dice.randrange(3)}
        fields = {"readers": readers, "tags": tags, "metadata": metadata}
        await ana.put(name, text_of(dice), title=dice.choice(WORDS), **fields)
    elif kind == "share":
        readers = dice.choice([["tenant"], ["user:ben"], []])
        path = f"/v1/documents/{name}/access"
        await ana.call("PATCH", path, json={"readers": readers})
    elif kind == "hide":
        path = f"/v1/documents/{name}/access"
        await ana.call("PATCH", path, json={"active": False})
    else:
        method = "PUT" if kind == "join" else "DELETE"
        await admin.call(method, "/v1/groups/sales/members/ben")


@pytest.mark.parametrize("seed", range(3))
async def test_every_answer_is_given_again_byte_for_byte(
    gateway: Gateway, ana: Caller, admin: Caller, seed: int
) -> None:
    dice = random.Random(seed)  # noqa: S311  no secret
    ben = await gateway.caller("ben")
    for number in range(4):  # before anything is kept
        await ana.put(f"d{number}", text_of(dice), readers=["tenant"])
    await keep(admin)
    answers: dict[tuple[str, int], Asked] = {}
    for _ in range(25):
        await change(dice, ana, admin)
        for subject, caller in (("ana", ana), ("ben", ben)):
            asked = await ask(subject, caller, dice.choice(SEARCHES))
            # A membership raises no revision: the last answer of a revision is given again.
            answers[subject, asked.revision] = asked

    for asked in answers.values():
        assert await replayed(admin, asked) == asked.body, asked


async def test_what_is_forgotten_is_in_no_answer_again_which_says_that_it_is_incomplete(
    ana: Caller, admin: Caller
) -> None:
    await ana.put("stays", "Annual leave of everybody.", readers=["tenant"])
    await ana.put("secret", "Annual leave of Ana Lima.", readers=["tenant"])
    await keep(admin)
    await ana.put("secret", "Annual leave of Ana Lima, twice.", readers=["tenant"])
    asked = await ask("ana", ana, {"query": "annual leave"})
    assert (await ana.call("DELETE", "/v1/documents/secret")).status_code == 200

    again = await replayed(admin, asked, complete=False)

    assert b"Lima" in asked.body
    assert b"Lima" not in again
    assert b"everybody" in again
    later = await ask("ana", ana, {"query": "annual leave"})
    assert await replayed(admin, later) == later.body


async def test_a_change_that_made_another_answer_is_named(ana: Caller, admin: Caller) -> None:
    await keep(admin)
    await ana.put("old", "Annual leave has 25 days.", readers=["tenant"])
    asked = await ask("ana", ana, {"query": "annual leave"})
    body = {"as_of_revision": asked.revision, "search": asked.search}
    for number in range(5):
        await ana.put(f"own-{number}", "The lighthouse of Norrvik.")
    same = await admin.call("POST", "/v1/search/replay/difference", json=body)
    changed = await ana.put("old", "Annual leave has 30 days.", readers=["tenant"])
    for number in range(5):
        await ana.put(f"own-{number}", "The lighthouse of Norrvik, again.")

    other = await admin.call("POST", "/v1/search/replay/difference", json=body)

    assert same.json()["is_same"] is True
    assert other.json()["is_same"] is False
    assert other.json()["revision"] == changed["revision"]
    assert other.json()["documents"] == ["old"]
    assert other.json()["committed_at"]


async def test_only_what_the_tenant_keeps_is_given_again(ana: Caller, admin: Caller) -> None:
    search = {"query": "annual leave"}
    before = await ana.put("one", "Annual leave has 25 days.", readers=["tenant"])
    nothing = (await admin.call("GET", "/v1/replay")).json()
    began = await keep(admin)
    current = await ana.put("one", "Annual leave has 26 days.", readers=["tenant"])
    kept = (await admin.call("GET", "/v1/replay")).json()

    async def status(revision: int) -> int:
        body = {"as_of_revision": revision, "search": search}
        return (await admin.call("POST", "/v1/search/replay", json=body)).status_code

    assert (nothing["days"], nothing["revision"]) == (0, None)
    assert began["revision"] == before["revision"]
    assert (kept["documents"], kept["chunks"]) == (1, 1)
    assert kept["bytes"] > 500
    assert await status(before["revision"] - 1) == 409
    assert await status(before["revision"]) == 200
    assert await status(current["revision"]) == 200
    assert await status(current["revision"] + 1) == 409
    assert (await keep(admin, 0))["days"] == 0
    assert await status(before["revision"]) == 409
    assert await status(current["revision"]) == 409


async def test_what_was_not_kept_for_a_while_is_not_given_again(ana: Caller, admin: Caller) -> None:
    await keep(admin)
    first = await ana.put("one", "Annual leave has 25 days.", readers=["tenant"])
    await keep(admin, 0)
    second = await ana.put("one", "Annual leave has 26 days.", readers=["tenant"])
    await keep(admin)
    asked = await ask("ana", ana, {"query": "annual leave"})
    await ana.put("one", "Annual leave has 27 days.", readers=["tenant"])

    assert await replayed(admin, asked) == asked.body
    body = {"as_of_revision": first["revision"], "search": asked.search}
    problem(await admin.call("POST", "/v1/search/replay", json=body), 409)
    assert asked.revision == second["revision"]


@pytest.fixture
async def store(database_url: str) -> AsyncIterator[PastStore]:
    """Of the isolated gateway's database."""
    async with connected(database_url) as database:
        yield PastStore(database)


async def kept_rows(store: PastStore) -> int:
    async with store.database.session() as session:
        tables = ("documents", "document_texts", "chunks", "chunk_texts", "group_members")
        counts = [f"(SELECT count(*) FROM past_{table})" for table in tables]  # noqa: S608  of ours
        rows: int = await session.connection.fetchval(f"SELECT {' + '.join(counts)}")
        return rows


@pytest.mark.isolated
async def test_what_is_older_than_the_days_is_deleted(
    ana: Caller, admin: Caller, store: PastStore
) -> None:
    await keep(admin, 2)
    first = await ana.put("one", "Annual leave has 25 days.", readers=["tenant"])
    await ana.put("one", "Annual leave has 26 days.", readers=["tenant"])
    asked = await ask("ana", ana, {"query": "annual leave"})
    await ana.put("one", "Annual leave has 27 days.", readers=["tenant"])
    async with store.database.session() as session:
        await session.connection.execute(
            "UPDATE past_revisions SET committed_at = now() - interval '3 days'"
            " WHERE tenant = 'acme' AND revision <= $1",
            asked.revision,
        )

    await store.prune()

    body = {"as_of_revision": first["revision"], "search": asked.search}
    problem(await admin.call("POST", "/v1/search/replay", json=body), 409)
    assert await replayed(admin, asked) == asked.body
    kept = (await admin.call("GET", "/v1/replay")).json()
    assert (kept["revision"], kept["documents"]) == (asked.revision, 1)
    assert await kept_rows(store) > 0
    await keep(admin, 0)
    await store.prune()
    assert await kept_rows(store) == 0


@pytest.mark.isolated
async def test_chunks_that_move_to_a_partition_of_their_own_have_the_same_past(
    ana: Caller, admin: Caller, store: PastStore
) -> None:
    await ana.put("before", "Annual leave has 20 days.", readers=["tenant"])
    await keep(admin)
    await ana.put("old", "Annual leave has 25 days.", readers=["tenant"])
    asked = await ask("ana", ana, {"query": "annual leave"})
    rows = await kept_rows(store)

    moved = [each async for each in Partitions(store.database, limits=StrategyLimits(1)).maintain()]

    assert isinstance(moved[0], MovedTenant)
    assert await kept_rows(store) == rows
    assert await replayed(admin, asked) == asked.body
    await ana.put("old", "Annual leave has 30 days.", readers=["tenant"])
    later = await ask("ana", ana, {"query": "annual leave"})
    await ana.put("before", "Annual leave has 30 days.", readers=["tenant"])
    for each in (asked, later):
        assert await replayed(admin, each) == each.body


@pytest.mark.parametrize(
    "search",
    [
        {"query": "leave", "rerank": "words"},
        {"query": "leave", "context": {"token_budget": 100}},
        {"query": "leave", "boost": {"popularity": 0.5}},
        {"query": "it?", "history": [{"role": "user", "content": "leave"}]},
    ],
    ids=["rerank", "context", "popularity", "history"],
)
async def test_what_has_no_past_is_refused(
    ana: Caller, admin: Caller, search: dict[str, Any]
) -> None:
    kept = await keep(admin)

    body = {"as_of_revision": kept["revision"], "search": search}
    problem(await admin.call("POST", "/v1/search/replay", json=body), 422)


async def test_nobody_but_an_admin_of_the_tenant_sees_its_past(
    gateway: Gateway, ana: Caller, admin: Caller
) -> None:
    await keep(admin)
    await ana.put("old", "Annual leave has 25 days.", readers=["tenant"])
    asked = await ask("ana", ana, {"query": "annual leave"})
    body = {"as_of_revision": asked.revision, "subject": "ana", "search": asked.search}
    token = (await admin.call("POST", "/v1/tokens", json={"scopes": ["tenant"]})).json()["token"]
    other = await gateway.caller("ada", tenant=await gateway.new_tenant(), roles=["admin"])
    await keep(other)

    for path in ("/v1/search/replay", "/v1/search/replay/difference"):
        problem(await ana.call("POST", path, json=body), 403)
        problem(await Caller(admin.client, token).call("POST", path, json=body), 403)
        problem(await gateway.stranger.call("POST", path, json=body), 401)
        answer = await other.call("POST", path, json=body)
        assert b"25 days" not in answer.content
    problem(await ana.call("PUT", "/v1/replay", json={"days": 3}), 403)


async def test_each_look_is_in_the_audit_log(ana: Caller, admin: Caller) -> None:
    await keep(admin)
    asked = await ask("ana", ana, {"query": "annual leave"})

    await replayed(admin, asked)

    rows = (await admin.call("GET", "/v1/audit/log")).json()["rows"]
    looks = [row for row in rows if row["action"].startswith("replay") or "replay" in row["action"]]
    assert [row["action"] for row in looks] == ["search.replay", "replay.keep"]
    assert looks[0]["target"] == "ana"
    assert looks[0]["details"] == {"groups": [], "revision": asked.revision}
