"""A subscriber hears of each change of its answer, with its rights of that moment."""

import asyncio
import time
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from gateway.settings.settings import Settings
from index.search.query_embedder import Embedder
from tests.gateway.support.event_listener import listening, subscribe
from tests.gateway.support.gateways import Caller, Gateway, connected, problem, serving
from tests.gateway.support.raw_http import head, raw

pytestmark = pytest.mark.anyio

LEAVE = "How many days of parental leave?"


async def test_a_subscriber_hears_which_hits_came_and_went(gateway: Gateway) -> None:
    ana = await gateway.caller("ana", roles=["writer"])
    await ana.put("leave", "Parental leave takes twenty days.")
    subscription = await subscribe(ana, LEAVE)

    async with listening(ana, subscription) as heard:
        await heard.until_documents("leave")
        await ana.put("leave/more", "Parental leave of ten days more for twins.")
        await heard.until(lambda listener: set(listener.documents) == {"leave", "leave/more"})
        await ana.call("DELETE", "/v1/documents/leave")
        await heard.until_documents("leave/more")

    assert heard.hits == (await ana.search(LEAVE)).json()["hits"]
    assert [answer["number"] for answer in heard.answers] == [1, 2, 3]
    assert [answer["since"] for answer in heard.answers] == [None, 1, 2]
    revisions = [answer["revision"] for answer in heard.answers]
    assert revisions == sorted(revisions)


async def test_a_change_that_concerns_nobody_computes_nothing(gateway: Gateway) -> None:
    ana = await gateway.caller("ana", roles=["writer"])
    await ana.put("leave", "Parental leave takes twenty days.")
    subscription = await subscribe(ana, LEAVE, top_k=1, alpha=0)

    async with listening(ana, subscription) as heard:
        await heard.until_answers(1)
        computed = await evaluations(gateway, "computed")
        for number in range(5):
            await ana.put("cars", f"Car {number} may be parked at the gate.")
        await ana.put("leave", "Parental leave takes thirty days.")
        await heard.until_answers(2)

    assert await evaluations(gateway, "computed") - computed == 1


async def test_an_answer_that_is_computed_again_and_equal_is_not_reported(gateway: Gateway) -> None:
    ana = await gateway.caller("ana", roles=["writer"])
    await ana.put("leave", "Parental leave takes twenty days.", readers=["tenant"])
    subscription = await subscribe(ana, LEAVE)

    async with listening(ana, subscription) as heard:
        await heard.until_answers(1)
        computed = await evaluations(gateway, "computed")
        await ana.share("leave", "tenant", "user:ben")  # no hit shows its readers
        while await evaluations(gateway, "computed") == computed:
            await asyncio.sleep(0.01)
        await ana.put("leave", "Parental leave takes thirty days.")
        await heard.until_answers(2)

    assert [answer["number"] for answer in heard.answers] == [1, 2]
    assert "thirty" in heard.hits[0]["text"]


async def test_subscribers_with_equal_sight_share_one_computation(gateway: Gateway) -> None:
    ana = await gateway.caller("ana", roles=["writer"])
    await ana.put("leave", "Parental leave takes twenty days.")
    first, second = await subscribe(ana, LEAVE), await subscribe(ana, LEAVE)

    async with listening(ana, first) as one, listening(ana, second) as other:
        await asyncio.gather(one.until_answers(1), other.until_answers(1))
        computed = await evaluations(gateway, "computed")
        await ana.put("leave", "Parental leave takes thirty days.")
        await asyncio.gather(one.until_answers(2), other.until_answers(2))

    assert one.hits == other.hits
    assert await evaluations(gateway, "computed") - computed == 1


async def test_who_leaves_a_group_hears_of_fewer_hits(gateway: Gateway) -> None:
    admin = await gateway.caller("ada", roles=["admin"])
    ana = await gateway.caller("ana")
    await admin.call("PUT", "/v1/groups/people/members/ana")
    await admin.put("leave", "Parental leave takes twenty days.", readers=["tenant"])
    await admin.put("plan", "Parental leave becomes longer.", readers=["group:people"])
    subscription = await subscribe(ana, LEAVE)

    async with listening(ana, subscription) as heard:
        await heard.until(lambda listener: set(listener.documents) == {"leave", "plan"})
        await admin.call("DELETE", "/v1/groups/people/members/ana")
        await heard.until_documents("leave")

    gone = heard.answers[-1]["hits"]["removed"]
    assert [hit["document_id"] for hit in gone] == ["plan"]


async def test_what_is_no_longer_shared_is_not_in_an_event_that_was_missed(
    gateway: Gateway,
) -> None:
    ada = await gateway.caller("ada", roles=["writer"])
    ana = await gateway.caller("ana")
    await ada.put("leave", "Parental leave takes twenty days.", readers=["tenant"])
    subscription = await subscribe(ana, LEAVE)
    async with listening(ana, subscription) as heard:
        await heard.until_documents("leave")

    await ada.put("plan", "Parental leave becomes longer.", readers=["tenant"])
    other = await gateway.caller("ana")
    async with listening(other, subscription) as elsewhere:  # so that an event is stored
        await elsewhere.until(lambda listener: len(listener.hits) == 2)
    await ada.share("plan", "user:ada")
    await ada.put("leave", "Parental leave takes thirty days.", readers=["tenant"])

    async with listening(ana, subscription, heard):
        await heard.until_answers(2)

    assert "plan" not in str(heard.events)
    assert heard.documents == ["leave"]


@pytest.mark.parametrize("ending", ["revoked", "expired", "deleted", "tenant"])
async def test_a_subscriber_that_loses_its_right_hears_once_that_it_ended(
    gateway: Gateway, ending: str
) -> None:
    ada = await gateway.caller("ada", roles=["admin"])
    await ada.put("leave", "Parental leave takes twenty days.", readers=["tenant"])
    body: dict[str, Any] = {"subject": "ana"}
    if ending == "expired":
        body["expires_at"] = (datetime.now(UTC) + timedelta(seconds=2)).isoformat()
    key = (await ada.call("POST", "/v1/keys", json=body)).json()
    ana = Caller(gateway.client, key["key"])
    subscription = await subscribe(ana, LEAVE)

    async with listening(ana, subscription) as heard:
        await heard.until_documents("leave")
        if ending == "revoked":
            await ada.call("DELETE", f"/v1/keys/{key['id']}")
            await ada.put("leave", "Parental leave takes thirty days.", readers=["tenant"])
        elif ending == "deleted":
            await ana.call("DELETE", f"/v1/subscriptions/{subscription}")
        elif ending == "tenant":
            await gateway.operator.call("DELETE", f"/v1/tenants/{gateway.tenant_name}")
        await heard.until(lambda listener: listener.is_over)

    reason = "revoked" if ending == "tenant" else ending
    assert [name for name, _ in heard.events] == ["answer", "ended"]
    assert heard.events[-1][1] == {"subscription": subscription, "reason": reason}


async def test_who_comes_back_hears_only_what_has_changed(gateway: Gateway) -> None:
    ana = await gateway.caller("ana", roles=["writer"])
    await ana.put("leave", "Parental leave takes twenty days.")
    subscription = await subscribe(ana, LEAVE)
    async with listening(ana, subscription) as heard:
        await heard.until_answers(1)
    for text in ("Parental leave of twins.", "Parental leave of triplets."):
        await ana.put("more", text)

    async with listening(ana, subscription, heard):
        await heard.until_answers(2)
        await ana.put("leave", "Parental leave takes thirty days.")
        await heard.until_answers(3)

    missed = heard.answers[1]
    assert missed["since"] == 1
    assert [hit["document_id"] for hit in missed["hits"]["added"]] == ["more"]
    assert heard.hits == (await ana.search(LEAVE)).json()["hits"]


async def test_who_missed_nothing_hears_nothing_when_it_comes_back(gateway: Gateway) -> None:
    ana = await gateway.caller("ana", roles=["writer"])
    await ana.put("leave", "Parental leave takes twenty days.")
    subscription = await subscribe(ana, LEAVE)
    async with listening(ana, subscription) as heard:
        await heard.until_answers(1)

    async with listening(ana, subscription, heard):
        await ana.put("leave", "Parental leave takes thirty days.")
        await heard.until_answers(2)

    assert [answer["since"] for answer in heard.answers] == [None, 1]


@pytest.mark.parametrize("last_event_id", ["7", "1-0123456789abcdef", "99-0123456789abcdef", "one"])
async def test_who_names_an_event_that_it_never_had_hears_the_whole_answer(
    gateway: Gateway, last_event_id: str
) -> None:
    ana = await gateway.caller("ana", roles=["writer"])
    await ana.put("leave", "Parental leave takes twenty days.")
    subscription = await subscribe(ana, LEAVE)
    async with listening(ana, subscription) as heard:
        await heard.until_answers(1)

    heard.last_event_id = last_event_id
    async with listening(ana, subscription, heard):
        await heard.until_answers(2)

    assert heard.answers[1]["since"] is None
    assert heard.documents == ["leave"]


@pytest.mark.thorough
async def test_many_changes_within_the_interval_are_reported_together(gateway: Gateway) -> None:
    ana = await gateway.caller("ana", roles=["writer"])
    subscription = await subscribe(ana, LEAVE, deliver={"interval_ms": 1_500})

    async with listening(ana, subscription) as heard:
        await heard.until_answers(1)
        begun_s = time.monotonic()
        for number in range(10):
            await ana.put("leave", f"Parental leave takes {number} days.")
        await heard.until(lambda listener: "takes 9 days" in str(listener.hits))
        took_s = time.monotonic() - begun_s

    assert len(heard.answers) - 1 <= 1 + took_s / 1.5


async def test_an_event_without_hits_says_that_there_is_another_answer(gateway: Gateway) -> None:
    ana = await gateway.caller("ana", roles=["writer"])
    subscription = await subscribe(ana, LEAVE, deliver={"hits": "none"})

    async with listening(ana, subscription) as heard:
        await heard.until_answers(1)
        written = await ana.put("leave", "Parental leave takes twenty days.")
        await heard.until_answers(2)

    assert heard.answers[1] == {
        "subscription": subscription,
        "number": 2,
        "since": 1,
        "revision": written["revision"],
        "low_confidence": False,
    }


async def test_a_public_document_of_another_tenant_is_news(gateway: Gateway) -> None:
    ana = await gateway.caller("ana")
    await gateway.receive_public()
    other = await gateway.new_tenant()
    ben = await gateway.caller("ben", tenant=other, roles=["writer", "publisher"])
    await ben.put("news", "Parental leave is a right.", readers=["tenant"])
    subscription = await subscribe(ana, "parental leave right", min_score=0.2)

    async with listening(ana, subscription) as heard:
        await heard.until_answers(1)
        await ben.share("news", "public")
        await heard.until(lambda listener: "news" in listener.documents)
        await ben.share("news", "tenant")
        await heard.until(lambda listener: "news" not in listener.documents)


async def test_a_search_that_names_public_is_watched_only_as_long_as_the_tenant_receives(
    gateway: Gateway,
) -> None:
    ana = await gateway.caller("ana")
    body = {"search": {"query": "parental leave right", "scopes": ["tenant", "public"]}}
    refused = problem(await ana.call("POST", "/v1/subscriptions", json=body), 422)
    await gateway.receive_public()
    subscription = await subscribe(ana, "parental leave right", scopes=["tenant", "public"])

    async with listening(ana, subscription) as heard:
        await heard.until_answers(1)
        await gateway.receive_public(receives=False)
        await heard.until(lambda listener: listener.is_over)
    async with listening(ana, subscription) as again:
        await again.until(lambda listener: listener.is_over)
    await gateway.receive_public()
    async with listening(ana, subscription) as resumed:
        await resumed.until_answers(1)

    assert refused["errors"][0]["field"] == "search.scopes"
    for ended in (heard.events[-1], *again.events):
        name, data = ended
        assert (name, data["reason"]) == ("ended", "public_not_received")
    assert len(again.events) == 1


async def evaluations(gateway: Gateway, outcome: str) -> float:
    return await gateway.counted("nearhit_subscription_evaluations_total", outcome=outcome)


@pytest.mark.thorough
async def test_an_event_for_a_slow_client_is_made_when_it_can_be_sent(
    gateway: Gateway, shared_settings: Settings, embedder: Embedder
) -> None:
    ada = await gateway.caller("ada", roles=["writer"])
    ana = await gateway.caller("ana")
    for number in range(12):
        text = f"Parental leave {number}. " + f"word{number} " * 1_100
        await ada.put(f"long-{number}", text, readers=["tenant"], chunker="whole")
    slow_one, fast_one = [await subscribe(ana, LEAVE, top_k=20) for _ in range(2)]

    async with (
        serving(shared_settings, embedder, send_buffer_bytes=4_096) as url,
        connected(url) as client,
        raw(Gateway(client), buffer_bytes=4_096) as slow,
    ):
        path = f"/v1/subscriptions/{slow_one}/events".encode()
        await slow.send(head(ana, method=b"GET", path=path))
        await slow.until(b"event: answer")  # and then it reads no more
        async with listening(Caller(client, ana.key), fast_one) as fast:
            await fast.until(lambda listener: len(listener.hits) == 12)
            await ada.put("secret", "Parental leave is a secret.", readers=["tenant"])
            await fast.until(lambda listener: "secret" in listener.documents)
            await ada.share("secret", "user:ada")
            await fast.until(lambda listener: "secret" not in listener.documents)
        await ada.put("end", "Parental leave ends.", readers=["tenant"])
        received = await slow.until(b'"document_id":"end"')

    assert len(received) > 65_536, "the first event did not wait for the client"
    assert b"secret" not in received
