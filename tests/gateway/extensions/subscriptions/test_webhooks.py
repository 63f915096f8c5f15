"""A worker sends the events of a subscription to its webhook, signed, until they are taken."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx2
import openai
import pytest

from gateway.extensions.subscriptions.extension import EXTENSION
from gateway.extensions.subscriptions.webhooks.webhook_sender import WebhookSender
from gateway.extensions.subscriptions.webhooks.webhook_store import (
    PREVIOUS_SECRETS_MAX,
    ActiveWebhook,
)
from gateway.monitoring.metrics import Metrics
from gateway.settings.settings import Settings
from index.search.query_embedder import Embedder
from tests.gateway.extensions.subscriptions.own_services import own_services
from tests.gateway.extensions.subscriptions.webhook_receiver import (
    ReceivedMessage,
    WebhookReceiver,
    receiving,
)
from tests.gateway.support.gateways import Caller, Gateway, exposition, problem, running

pytestmark = pytest.mark.anyio

LEAVE = "How many days of parental leave?"


LOOPBACK = "127.0.0.0/8"


@pytest.fixture
async def gateway(
    settings: Settings, embedder: Embedder, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Gateway]:
    monkeypatch.setenv("NEARHIT_SUBSCRIPTIONS_WEBHOOK_NETWORKS", LOOPBACK)
    async with running(settings, embedder) as started:
        await started.tenant("acme")
        yield started


@pytest.fixture
async def receiver() -> AsyncIterator[WebhookReceiver]:
    async with receiving() as started:
        yield started


@asynccontextmanager
async def sending(
    settings: Settings,
    embedder: Embedder,
    pauses_s: Sequence[float] = (0.05, 0.05),
    networks: str | None = LOOPBACK,
) -> AsyncIterator[Metrics]:
    """A worker that sends during the block."""
    metrics, stop = Metrics(), asyncio.Event()
    async with own_services(settings, embedder, metrics, webhook_networks=networks) as (
        services,
        own,
    ):
        deliveries = replace(own.deliveries, pauses_s=pauses_s)
        sender = WebhookSender(services.stores.database, deliveries, poll_s=0.05)
        assert EXTENSION.work is not None
        task = asyncio.create_task(EXTENSION.work(replace(own, webhook_sender=sender), stop))
        try:
            yield metrics
        finally:
            stop.set()
            await task


async def subscribe(caller: Caller, url: str) -> dict[str, Any]:
    deliver = {"hits": "changes", "interval_ms": 100, "webhook": {"url": url}}
    body = {"search": {"query": LEAVE}, "deliver": deliver}
    answer = await caller.call("POST", "/v1/subscriptions", json=body)
    assert answer.status_code == 201, answer.text
    subscription: dict[str, Any] = answer.json()
    return subscription


async def shown(caller: Caller, subscription: dict[str, Any]) -> dict[str, Any]:
    answer = await caller.call("GET", f"/v1/subscriptions/{subscription['id']}")
    webhook: dict[str, Any] = answer.json()["webhook"]
    return webhook


async def test_a_webhook_gets_each_new_answer_signed(
    gateway: Gateway, settings: Settings, embedder: Embedder, receiver: WebhookReceiver
) -> None:
    ana = await gateway.caller("ana", roles=["writer"])
    await ana.put("leave", "Parental leave takes twenty days.")
    subscription = await subscribe(ana, receiver.url)

    async with sending(settings, embedder):
        await receiver.until(1)
        await ana.put("leave", "Parental leave takes thirty days.")
        await receiver.until(2)

    verifier = openai.OpenAI(api_key="none").webhooks
    for message in receiver.messages:
        verifier.verify_signature(
            message.body.decode(), message.headers, secret=subscription["webhook"]["secret"]
        )
    first, second = (message.json for message in receiver.messages)
    assert first["type"] == second["type"] == "subscription.answer"
    assert [first["data"]["since"], second["data"]["since"]] == [None, 1]
    assert "thirty" in second["data"]["hits"]["added"][0]["text"]
    names = [message.headers["webhook-id"] for message in receiver.messages]
    assert names == [f"{subscription['id']}.1", f"{subscription['id']}.2"]
    assert "secret" not in str(await shown(ana, subscription)).replace("'secret': None", "")


def signing(secrets: Sequence[str], message: ReceivedMessage) -> list[bool]:
    """Of each secret whether it verifies the message, by another's implementation."""
    verifier = openai.OpenAI(api_key="none").webhooks
    verified = set()
    for secret in secrets:
        with suppress(openai.InvalidWebhookSignatureError):
            verifier.verify_signature(message.body.decode(), message.headers, secret=secret)
            verified.add(secret)
    return [secret in verified for secret in secrets]


async def rotate(caller: Caller, subscription: dict[str, Any], **body: int) -> httpx2.Response:
    path = f"/v1/subscriptions/{subscription['id']}/webhook/rotate"
    return await caller.call("POST", path, json=body)


@pytest.mark.thorough
async def test_messages_are_signed_with_the_new_secret_and_the_earlier_ones_while_they_overlap(
    gateway: Gateway, settings: Settings, embedder: Embedder, receiver: WebhookReceiver
) -> None:
    ana = await gateway.caller("ana", roles=["writer"])
    await ana.put("leave", "Parental leave takes twenty days.")
    subscription = await subscribe(ana, receiver.url)
    secrets = [subscription["webhook"]["secret"]]

    async with sending(settings, embedder):  # one worker that goes on sending
        await receiver.until(1)
        for days, overlap_s in (("thirty", 3_600), ("forty", 3_600), ("fifty", 0)):
            rotated = await rotate(ana, subscription, overlap_s=overlap_s)
            assert rotated.status_code == 200, rotated.text
            secrets.append(rotated.json()["secret"])
            await ana.put("leave", f"Parental leave takes {days} days.")
            await receiver.until(len(secrets))

    assert [signing(secrets, message) for message in receiver.messages] == [
        [True, False, False, False],
        [True, True, False, False],
        [True, True, True, False],
        [False, False, False, True],
    ]
    signatures = [message.headers["webhook-signature"].split() for message in receiver.messages]
    assert [len(each) for each in signatures] == [1, 2, 3, 1]
    assert "whsec_" not in str(await shown(ana, subscription))


@pytest.mark.thorough
async def test_an_earlier_secret_signs_no_longer_than_its_overlap(
    gateway: Gateway, settings: Settings, embedder: Embedder, receiver: WebhookReceiver
) -> None:
    ana = await gateway.caller("ana")
    subscription = await subscribe(ana, receiver.url)

    async with own_services(settings, embedder) as (_, own):
        store, where = own.webhooks, ("acme", subscription["id"])
        for secret, lasts_s in (("second", 3_600), ("third", 0.3)):
            until = datetime.now(UTC) + timedelta(seconds=lasts_s)
            assert await store.rotate_secret(*where, secret, until)
        async with asyncio.timeout(30):
            while (await store.secrets(*where)) != ["third"]:
                await asyncio.sleep(0.02)
        assert await store.rotate_secret("acme", "none", "secret", until) is None


@pytest.mark.thorough
async def test_a_message_that_waited_for_a_thread_is_signed_with_no_secret_that_ended_meanwhile(
    gateway: Gateway, settings: Settings, embedder: Embedder, receiver: WebhookReceiver
) -> None:
    ana = await gateway.caller("ana")
    subscriptions = [await subscribe(ana, receiver.url) for _ in range(5)]
    old = [each["webhook"]["secret"] for each in subscriptions]
    receiver.answers.clear()
    async with sending(settings, embedder):
        await receiver.until(4)  # as many as a tenant may have under way
        new = [(await rotate(ana, each, overlap_s=0)).json()["secret"] for each in subscriptions]
        receiver.answers.set()
        await receiver.until(5)
    assert [any(signing(each, receiver.messages[4])) for each in (old, new)] == [False, True]


@pytest.mark.thorough
async def test_so_many_secrets_sign_at_once_and_no_more(
    gateway: Gateway, receiver: WebhookReceiver
) -> None:
    ana = await gateway.caller("ana")
    subscription = await subscribe(ana, receiver.url)
    for _ in range(PREVIOUS_SECRETS_MAX):
        assert (await rotate(ana, subscription)).status_code == 200

    refused = problem(await rotate(ana, subscription), 409)

    assert "wait until one ends" in refused["detail"]
    assert (await rotate(ana, subscription, overlap_s=0)).status_code == 200
    assert (await rotate(ana, subscription)).status_code == 200


async def test_only_its_subscriber_rotates_a_webhooks_secret(
    gateway: Gateway, receiver: WebhookReceiver
) -> None:
    ana, bob = await gateway.caller("ana"), await gateway.caller("bob", roles=["admin"])
    subscription = await subscribe(ana, receiver.url)
    body = {"search": {"query": LEAVE}}
    plain = (await ana.call("POST", "/v1/subscriptions", json=body)).json()

    problem(await rotate(bob, subscription), 404)
    problem(await rotate(ana, {"id": "sub_none"}), 404)
    problem(await rotate(ana, plain), 404)
    for overlap_s in (-1, 90 * 86_400 + 1):
        problem(await rotate(ana, subscription, overlap_s=overlap_s), 422)


@pytest.mark.thorough
async def test_what_is_not_taken_is_sent_again_as_the_answer_is_by_then(
    gateway: Gateway, settings: Settings, embedder: Embedder, receiver: WebhookReceiver
) -> None:
    ana = await gateway.caller("ana", roles=["writer"])
    await ana.put("leave", "Parental leave takes twenty days.")
    subscription = await subscribe(ana, receiver.url)
    receiver.statuses = [500, 302]

    async with sending(settings, embedder, pauses_s=(0.05, 3_600)):
        await receiver.until(2)
        while (failing := await shown(ana, subscription))["attempts"] < 2:
            await asyncio.sleep(0.01)
    await ana.put("leave", "Parental leave takes thirty days.")
    async with sending(settings, embedder) as metrics:  # which waits as long as that one
        assert await _remains(receiver, 2)
        assert 'outcome="delivered"} 1.0' not in exposition(metrics)[0].decode()

    assert failing["last_error"] == "the receiver answers 302"
    assert failing["next_attempt_at"] is not None
    assert len({message.headers["webhook-id"] for message in receiver.messages}) == 1


@pytest.mark.thorough
async def test_an_event_is_a_dead_letter_after_the_last_attempt_and_the_next_one_reports_it(
    gateway: Gateway, settings: Settings, embedder: Embedder, receiver: WebhookReceiver
) -> None:
    ana = await gateway.caller("ana", roles=["writer"])
    await ana.put("leave", "Parental leave takes twenty days.")
    subscription = await subscribe(ana, receiver.url)
    receiver.statuses = [500] * 3

    async with sending(settings, embedder):
        await receiver.until(3)
        while not (dead := await shown(ana, subscription))["dead_letters"]:
            await asyncio.sleep(0.01)
        await ana.put("more", "Parental leave of twins.")
        await receiver.until(4)

    assert [letter["number"] for letter in dead["dead_letters"]] == [1]
    delivered = receiver.messages[3].json["data"]
    assert delivered["since"] is None
    assert {hit["document_id"] for hit in delivered["hits"]["added"]} == {"leave", "more"}
    assert (await shown(ana, subscription))["attempts"] == 0


@pytest.mark.thorough
async def test_a_worker_goes_on_where_the_one_before_has_stopped(
    gateway: Gateway, settings: Settings, embedder: Embedder, receiver: WebhookReceiver
) -> None:
    ana = await gateway.caller("ana", roles=["writer"])
    await ana.put("leave", "Parental leave takes twenty days.")
    await subscribe(ana, receiver.url)
    async with sending(settings, embedder):
        await receiver.until(1)
        await _until_stored(settings, embedder, lambda active: active[0].event_id != "")
    await ana.put("more", "Parental leave of twins.")

    async with sending(settings, embedder), sending(settings, embedder):  # of which one leads
        await receiver.until(2)
        await ana.put("leave", "Parental leave takes thirty days.")
        await receiver.until(3)

    since = [message.json["data"]["since"] for message in receiver.messages]
    assert since == [None, 1, 2]


@pytest.mark.sampled("revoked")
@pytest.mark.parametrize("reason", ["revoked", "tenant"])
async def test_a_revoked_subscriber_is_told_once_that_it_ended(
    gateway: Gateway, settings: Settings, embedder: Embedder, receiver: WebhookReceiver, reason: str
) -> None:
    ada = await gateway.caller("ada", roles=["admin"])
    await ada.put("leave", "Parental leave takes twenty days.", readers=["tenant"])
    key = (await ada.call("POST", "/v1/keys", json={"subject": "ana"})).json()
    await subscribe(Caller(gateway.client, key["key"]), receiver.url)

    async with sending(settings, embedder):
        await receiver.until(1)
        receiver.statuses = [500]
        if reason == "revoked":
            await ada.call("DELETE", f"/v1/keys/{key['id']}")
            await ada.put("leave", "Parental leave takes thirty days.", readers=["tenant"])
        else:
            await gateway.operator.call("DELETE", "/v1/tenants/acme")
        await receiver.until(3)
        await _until_stored(settings, embedder, lambda active: not active)
    async with sending(settings, embedder):
        assert await _remains(receiver, 3)

    _, *ends = (message.json for message in receiver.messages)
    assert [end["type"] for end in ends] == ["subscription.ended"] * 2
    assert {end["data"]["reason"] for end in ends} == {"revoked"}
    assert len({message.headers["webhook-id"] for message in receiver.messages}) == 2


@pytest.mark.sampled("unshared")
@pytest.mark.parametrize("change", ["deleted", "unshared", "revoked"])
async def test_a_message_that_waited_for_a_thread_shows_nothing_that_was_revoked_meanwhile(
    gateway: Gateway, settings: Settings, embedder: Embedder, receiver: WebhookReceiver, change: str
) -> None:
    ada = await gateway.caller("ada", roles=["admin"])
    await ada.put("leave", "Parental leave takes twenty days.", readers=["tenant"])
    key = (await ada.call("POST", "/v1/keys", json={"subject": "ana"})).json()
    ana = Caller(gateway.client, key["key"])
    for _ in range(6):
        await subscribe(ana, receiver.url)
    receiver.answers.clear()

    async with sending(settings, embedder):
        await receiver.until(4)  # as many as a tenant may have under way
        if change == "deleted":
            await ada.call("DELETE", "/v1/documents/leave")
        elif change == "unshared":
            await ada.share("leave", "user:ada")
        else:
            await ada.call("DELETE", f"/v1/keys/{key['id']}")
        receiver.answers.set()
        await receiver.until(4 + 6)  # each subscription hears of the change

    before, after = receiver.messages[:4], receiver.messages[4:]
    assert all(b"twenty" in message.body for message in before)
    assert not any(b"twenty" in message.body for message in after)


@pytest.mark.thorough
async def test_a_receiver_that_is_gone_gets_nothing_more(
    gateway: Gateway, settings: Settings, embedder: Embedder, receiver: WebhookReceiver
) -> None:
    ana = await gateway.caller("ana", roles=["writer"])
    await ana.put("leave", "Parental leave takes twenty days.")
    subscription = await subscribe(ana, receiver.url)
    receiver.statuses = [410]

    async with sending(settings, embedder):
        await receiver.until(1)
        while (await shown(ana, subscription))["end_reason"] is None:
            await asyncio.sleep(0.01)
        await ana.put("leave", "Parental leave takes thirty days.")
        assert await _remains(receiver, 1)

    assert (await shown(ana, subscription))["end_reason"] == "gone"


async def test_a_url_that_may_lead_to_the_operators_network_is_refused(
    settings: Settings, embedder: Embedder
) -> None:
    async with running(settings, embedder) as gateway:
        await gateway.tenant("acme")
        ana = await gateway.caller("ana")
        for url in (
            "http://hooks.example.com/",
            "https://127.0.0.1/",
            "https://169.254.169.254/latest/meta-data",
            "https://10.0.0.1/",
            "https://user@hooks.example.com/",
            "https://[::1]/",
            "https://[::ffff:10.0.0.1]/",
            "https://[fd00::1]/",
            "https://[::1::2]/",
            "ftp://hooks.example.com/",
            "https://hooks.example.com:0/",
            "https://hooks.example.com:65536/",
            "hooks",
        ):
            body = {"search": {"query": LEAVE}, "deliver": {"webhook": {"url": url}}}
            refused = problem(await ana.call("POST", "/v1/subscriptions", json=body), 422)
            assert refused["errors"][0]["field"] == "deliver.webhook.url", url


async def test_a_url_may_have_a_public_ipv6_address_and_another_is_refused_for_what_it_is(
    ana: Caller,
) -> None:
    async def subscribed(host: str) -> httpx2.Response:
        webhook = {"webhook": {"url": f"https://{host}/hook"}}
        body = {"search": {"query": LEAVE}, "deliver": webhook}
        return await ana.call("POST", "/v1/subscriptions", json=body)

    made = await subscribed("[2606:4700:4700::1111]:8443")
    assert made.status_code == 201, made.text
    shown = await ana.call("GET", f"/v1/subscriptions/{made.json()['id']}")
    refused = problem(await subscribed("[fd00::1]"), 422)

    assert shown.json()["webhook"]["url"] == "https://[2606:4700:4700::1111]:8443/…"
    assert refused["errors"][0]["detail"] == "must have a public address"


async def test_a_url_without_tls_is_refused_outside_the_operators_networks(ana: Caller) -> None:
    body = {"search": {"query": LEAVE}, "deliver": {"webhook": {"url": "http://8.8.8.8/"}}}
    refused = problem(await ana.call("POST", "/v1/subscriptions", json=body), 422)

    assert refused["errors"][0]["field"] == "deliver.webhook.url"


async def test_a_name_that_leads_to_the_operators_network_is_not_asked(
    gateway: Gateway, settings: Settings, embedder: Embedder, receiver: WebhookReceiver
) -> None:
    ana = await gateway.caller("ana", roles=["writer"])
    subscription = await subscribe(ana, receiver.url.replace("127.0.0.1", "localhost"))

    async with sending(settings, embedder, pauses_s=(3_600,), networks=None):
        while not (failing := await shown(ana, subscription))["attempts"]:
            await asyncio.sleep(0.01)

    assert failing["last_error"] == "the host localhost has an address that is not public"
    assert receiver.messages == []


async def _until_stored(
    settings: Settings, embedder: Embedder, is_stored: Callable[[list[ActiveWebhook]], bool]
) -> None:
    """Wait until the condition holds for the webhooks that are active."""
    async with own_services(settings, embedder) as (_, own):
        while not is_stored(await own.webhooks.active(await own.webhooks.active_ids())):
            await asyncio.sleep(0.01)


async def _remains(receiver: WebhookReceiver, number: int) -> bool:
    """Whether so many messages are all that arrive within a moment."""
    for _ in range(30):
        await asyncio.sleep(0.01)
    return len(receiver.messages) == number
