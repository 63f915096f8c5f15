"""A subscriber hears of changes whatever fails between a write and its stream."""

import asyncio
from contextlib import AsyncExitStack
from dataclasses import replace

import pytest
from pydantic import SecretStr

from gateway.auth.authenticator import digest_of
from gateway.caching.change_feed import ChangeLogFeed
from gateway.extensions.subscriptions.change_follower import ChangeFollower
from gateway.extensions.subscriptions.subscription_services import SubscriptionServices
from gateway.extensions.subscriptions.subscription_watcher import SubscriptionWatcher
from gateway.services import Services
from gateway.settings.settings import Settings
from index.invalidation.changes import ChangeLog
from index.model.scope import Maker
from index.search.query_embedder import Embedder
from tests.conftest import run_sql
from tests.gateway.extensions.subscriptions.own_services import own_services
from tests.gateway.support.event_listener import EventListener, listening, subscribe
from tests.gateway.support.gateways import Gateway, connected, running, serving

pytestmark = pytest.mark.anyio

LEAVE = "How many days of parental leave?"


@pytest.mark.isolated
async def test_a_lost_connection_to_postgresql_loses_no_change(
    gateway: Gateway, database_url: str
) -> None:
    ana = await gateway.caller("ana", roles=["writer"])
    subscription = await subscribe(ana, LEAVE)

    async with listening(ana, subscription) as heard:
        await heard.until_answers(1)
        await run_sql(
            database_url,
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
            "WHERE datname = current_database() AND pid <> pg_backend_pid()",
        )
        body = {"text": "Parental leave takes twenty days."}
        while (await ana.call("PUT", "/v1/documents/leave", json=body)).status_code == 503:
            pass  # the pool has found out about one of its connections more
        await heard.until_documents("leave")


async def test_a_subscriber_hears_of_changes_without_redis(
    settings: Settings, embedder: Embedder
) -> None:
    nowhere = settings.model_copy(update={"redis_url": SecretStr("redis://127.0.0.1:1")})
    async with running(nowhere, embedder) as gateway:
        await gateway.tenant("acme")
        ana = await gateway.caller("ana", roles=["writer"])
        async with listening(ana, await subscribe(ana, LEAVE)) as heard:
            await heard.until_answers(1)
            await ana.put("leave", "Parental leave takes twenty days.")
            await heard.until_documents("leave")


@pytest.mark.thorough
async def test_a_gateway_that_stops_ends_its_streams_and_another_one_goes_on(
    settings: Settings, embedder: Embedder
) -> None:
    async with running(settings, embedder) as other, AsyncExitStack() as clients:
        await other.tenant("acme")
        ana = await other.caller("ana", roles=["writer"])
        subscription = await subscribe(ana, LEAVE)
        heard = EventListener()
        async with serving(settings, embedder) as url:
            client = await clients.enter_async_context(connected(url))
            there = Gateway(client).as_(ana)
            listen = asyncio.create_task(heard.listen(there, subscription))
            await heard.until_answers(1)
        await listen  # which raises if the stream was cut off
        await ana.put("leave", "Parental leave takes twenty days.")
        async with listening(ana, subscription, heard):
            await heard.until_documents("leave")

    assert heard.is_over
    assert [answer["since"] for answer in heard.answers] == [None, 1]


@pytest.mark.thorough
async def test_two_gateways_give_an_event_one_number(
    settings: Settings, embedder: Embedder
) -> None:
    async with running(settings, embedder) as one, running(settings, embedder) as other:
        await one.tenant("acme")
        ana = await one.caller("ana", roles=["writer"])
        subscription = await subscribe(ana, LEAVE)
        async with (
            listening(ana, subscription) as here,
            listening(other.as_(ana), subscription) as there,
        ):
            await asyncio.gather(here.until_answers(1), there.until_answers(1))
            for number in range(3):
                await ana.put("leave", f"Parental leave takes {number} days.")
                await asyncio.gather(
                    here.until_answers(number + 2), there.until_answers(number + 2)
                )

    assert here.answers == there.answers
    assert here.last_event_id == there.last_event_id


@pytest.mark.thorough
async def test_a_commit_itself_wakes_those_whom_it_concerns(
    settings: Settings, embedder: Embedder
) -> None:
    """Without the reading of counters that makes up for lost messages."""
    async with (
        running(settings, embedder) as gateway,
        own_services(settings, embedder) as (services, own),
    ):
        await gateway.tenant("acme")
        admin, ana = await gateway.caller("ada", roles=["admin"]), await gateway.caller("ana")
        await admin.call("PUT", "/v1/groups/people/members/ana")
        subscription_id = await subscribe(ana, LEAVE)
        stored = await own.store.get(Maker("acme", "ana"), subscription_id)
        assert stored is not None
        key = (ana.key or "").encode()
        principal = await services.http.authenticator.identify(key, digest_of(key))
        follower = without_poll(services, own)
        watchers = replace(own.watchers, follower=follower)
        watcher = SubscriptionWatcher(watchers, stored, principal, None)
        changes = (
            ("PUT", "/v1/documents/plan", {"text": "Parental leave.", "readers": ["group:people"]}),
            ("DELETE", "/v1/groups/people/members/ana", None),
        )
        async with follower.running():
            with follower.watching(watcher):
                assert await watcher.next_event() is not None
                while await watcher.wait(1.0):  # for the first reading
                    await watcher.next_event()
                for method, path, body in changes:
                    assert (await admin.call(method, path, json=body)).is_success
                    assert await watcher.wait(20)
                    assert await watcher.next_event() is not None


def without_poll(services: Services, own: SubscriptionServices) -> ChangeFollower:
    """The follower of the services, which reads counters once an hour."""
    stores = services.stores
    return ChangeFollower(
        stores.database,
        ChangeLogFeed(ChangeLog(stores.database), stores.tenants),
        stores.principals,
        own.store,
        own.compute,
        own.metrics.evaluated,
        poll_s=3_600,
    )
