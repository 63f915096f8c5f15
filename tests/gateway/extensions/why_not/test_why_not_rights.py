"""A document that the caller may not see is explained as one that was never written."""

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pytest

from gateway.settings.settings import Settings
from tests.gateway.support.gateways import Caller, Gateway

pytestmark = pytest.mark.anyio

SECRET = "# Merger\n\nThe harbour buys the lighthouse in May."
LEAVE = "# Leave\n\nEverybody has 25 days of annual leave."
NEVER = "absent"  # as long as the names of all hidden documents
# Beside these there is what is written down now and then, whoever asks.
_WORK = re.compile(
    r'^nearhit_(sql_statement_duration_seconds_count\{statement="(?:search|documents|tenants|vocab)[^}]*\}'
    r"|cache_(?:lookups|events)_total\{[^}]*\}) (\S+)$",
    re.MULTILINE,
)
_OF_THE_MOMENT = {"date", "ratelimit", "server-timing", "x-request-id"}
SEARCHES: Mapping[str, dict[str, Any]] = {
    "plain": {},
    "filtered": {"filter": {"tags_any": ["none"], "documents": ["other"]}},
    "reranked": {"rerank": "words", "min_score": 0.9, "top_k": 1},
    "boosted": {"boost": {"replaced": {"weight": 0.5}}, "diversity": 0.5},
}


@dataclass(frozen=True)
class Seen:
    """All that an attacker sees of one call, and what the worker has done for it."""

    status: int
    headers: dict[str, str]
    body: bytes
    work: Counter[str]


@pytest.fixture
def settings(settings: Settings) -> Settings:
    """No audits, which are at random times and count as work."""
    return settings.model_copy(update={"cache_audit_per_mille": 0.0})


async def work(gateway: Gateway) -> Counter[str]:
    counted = (await gateway.client.get("/metrics")).text
    return Counter({name: round(float(value)) for name, value in _WORK.findall(counted)})


async def seen(gateway: Gateway, caller: Caller, document_id: str, **fields: Any) -> Seen:
    body = {"query": "who buys the lighthouse", "document_id": document_id, **fields}
    before = await work(gateway)
    answer = await caller.call("POST", "/v1/search/why-not", json=body)
    headers = {name: value for name, value in answer.headers.items() if name not in _OF_THE_MOMENT}
    return Seen(answer.status_code, headers, answer.content, await work(gateway) - before)


async def hide(gateway: Gateway, ana: Caller) -> Caller:
    """Somebody who may not see the documents of six letters, each for one reason alone."""
    other = await gateway.with_new_tenant()
    zoe = await other.caller("zoe")
    await zoe.put("others", SECRET, readers=["tenant"], tags=["people"])
    await ana.put("hidden", SECRET, readers=["group:board"], tags=["people"])
    await ana.put("sleeps", SECRET, readers=["tenant"], tags=["people"])
    await ana.call("PATCH", "/v1/documents/sleeps/access", json={"active": False})
    await ana.put("gonest", SECRET, readers=["tenant"], tags=["people"])
    await ana.call("DELETE", "/v1/documents/gonest")
    await ana.put("tagged", SECRET, readers=["tenant"], tags=["board"])
    await ana.put("leave", LEAVE, readers=["tenant"], tags=["people"])
    eve = await gateway.caller("eve")
    body = {"filter": {"tags_all": ["people"]}, "expires_in_s": 600}
    made = await eve.call("POST", "/v1/tokens", json=body)
    assert made.status_code == 201, made.text
    return Caller(eve.client, made.json()["token"])


@pytest.mark.isolated
@pytest.mark.parametrize("kind", SEARCHES)
async def test_a_hidden_document_is_no_different_from_none(
    gateway: Gateway, ana: Caller, kind: str
) -> None:
    eve, fields = await hide(gateway, ana), SEARCHES[kind]
    await eve.search("who buys the lighthouse", **fields)
    await seen(gateway, eve, NEVER, **fields)  # by which the worker knows the caller and the head

    never = await seen(gateway, eve, NEVER, **fields)
    hidden = {
        name: await seen(gateway, eve, name, **fields)
        for name in ("hidden", "sleeps", "gonest", "tagged", "others")
    }
    visible = await seen(gateway, eve, "leave", **fields)

    assert never.status == 200
    assert b'"not_found"' in never.body
    assert hidden == dict.fromkeys(hidden, never)
    assert never.work  # else nothing is compared
    assert visible.body != never.body
    assert visible.work != never.work


@pytest.mark.isolated
async def test_asking_leaves_no_trace_in_the_caches_that_a_later_search_shows(
    gateway: Gateway, ana: Caller
) -> None:
    eve = await hide(gateway, ana)
    shown = list[str]()
    for name, query in (("hidden", "annual lighthouse"), (NEVER, "lighthouse leave")):
        await eve.search(f"{query} days")  # by which the worker reads what she sees
        await seen(gateway, eve, name, query=query)
        shown.append((await eve.search(query)).headers["cache-status"])

    assert shown[0] == shown[1]
    assert "fwd=miss" in shown[0]


async def test_what_is_explained_names_no_document_that_the_caller_may_not_see(
    gateway: Gateway, ana: Caller
) -> None:
    bo = await gateway.caller("bo")
    await ana.put("best", "Annual leave, annual leave.")
    await ana.put("second", LEAVE, readers=["tenant"])
    await bo.put("copy", LEAVE)
    await ana.put("third", f"{LEAVE} Ask your lead before you travel.", readers=["tenant"])

    answer = await bo.call(
        "POST",
        "/v1/search/why-not",
        json={"query": "annual leave", "top_k": 1, "document_id": "third"},
    )

    explained = answer.json()
    assert explained["rank"] == 2  # as if `best` were not there
    assert explained["last"]["document_id"] in ("second", "copy")


async def test_a_document_of_its_name_elsewhere_changes_nothing(
    gateway: Gateway, ana: Caller
) -> None:
    """Two tenants may use one name; the caller sees its own alone."""
    other = await gateway.with_new_tenant()
    zoe = await other.caller("zoe")
    await ana.put("leave", LEAVE)
    before = await ana.call(
        "POST", "/v1/search/why-not", json={"query": "annual leave", "document_id": "leave"}
    )

    await zoe.put("leave", SECRET, readers=["tenant"])

    after = await ana.call(
        "POST", "/v1/search/why-not", json={"query": "annual leave", "document_id": "leave"}
    )
    assert after.content == before.content
