"""After an acknowledgement no answer is older, on any worker, whatever was cached."""

import asyncio

import pytest

from tests.gateway.support.gateways import Caller, Gateway

pytestmark = [pytest.mark.anyio, pytest.mark.redis]

LEAVE = "# Leave\n\nEverybody gets 25 days of annual leave a year."


async def warm(caller: Caller, *workers: Gateway) -> None:
    """Ask until every worker answers from its memory."""
    for worker in workers:
        for _ in range(2):
            answer = await worker.as_(caller).search("annual leave")
        assert answer.headers["cache-status"].startswith("nearhit; hit; detail=memory")


async def test_an_edit_is_seen_at_once_by_every_worker(
    gateway: Gateway, other_worker: Gateway, ana: Caller
) -> None:
    await ana.put("leave", LEAVE)
    await warm(ana, gateway, other_worker)

    await ana.put("leave", LEAVE.replace("25", "27"))

    assert "27 days" in (await other_worker.as_(ana).search("annual leave")).text
    assert "27 days" in (await ana.search("annual leave")).text


async def test_a_new_document_enters_answers_at_once(
    gateway: Gateway, other_worker: Gateway, ana: Caller
) -> None:
    await ana.put("leave", LEAVE)
    await warm(ana, gateway, other_worker)

    await ana.put("more", "# More leave\n\nAnnual leave that is left over is kept.")

    assert "more" in await other_worker.as_(ana).found("annual leave")


async def test_a_deleted_document_is_gone_at_once(
    gateway: Gateway, other_worker: Gateway, ana: Caller
) -> None:
    await ana.put("leave", LEAVE)
    await warm(ana, gateway, other_worker)

    deleted = await ana.call("DELETE", "/v1/documents/leave")

    assert deleted.status_code == 200
    assert await other_worker.as_(ana).found("annual leave") == []
    assert await ana.found("annual leave") == []


@pytest.mark.slow
async def test_a_revoked_reader_gets_nothing_from_a_warm_cache_of_another_worker(
    gateway: Gateway, other_worker: Gateway, ana: Caller, ben: Caller
) -> None:
    await ana.put("leave", LEAVE, readers=["user:ben"])
    await warm(ben, gateway, other_worker)

    await ana.share("leave")

    assert await other_worker.as_(ben).found("annual leave") == []
    assert await ben.found("annual leave") == []
    assert await ana.found("annual leave") == ["leave"]


async def test_leaving_a_group_bites_at_once(
    gateway: Gateway, other_worker: Gateway, ana: Caller, ben: Caller, admin: Caller
) -> None:
    await admin.call("PUT", "/v1/groups/people/members/ben")
    await ana.put("leave", LEAVE, readers=["group:people"])
    await warm(ben, gateway, other_worker)

    removed = await admin.call("DELETE", "/v1/groups/people/members/ben")

    assert removed.status_code == 204
    assert await other_worker.as_(ben).found("annual leave") == []


async def test_joining_a_group_shows_at_once(
    gateway: Gateway, other_worker: Gateway, ana: Caller, ben: Caller, admin: Caller
) -> None:
    await ana.put("leave", LEAVE, readers=["group:people"])
    assert await other_worker.as_(ben).found("annual leave") == []

    await admin.call("PUT", "/v1/groups/people/members/ben")

    assert await other_worker.as_(ben).found("annual leave") == ["leave"]


async def test_a_revoked_key_stops_working_at_the_next_request_on_every_worker(
    gateway: Gateway, other_worker: Gateway
) -> None:
    made = (
        await gateway.operator.call(
            "POST", "/v1/keys", json={"tenant": gateway.tenant_name, "subject": "eve"}
        )
    ).json()
    eve = Caller(gateway.client, made["key"])
    await warm(eve, gateway, other_worker)

    revoked = await gateway.operator.call("DELETE", f"/v1/keys/{made['id']}")

    assert revoked.status_code == 204
    for worker in (gateway, other_worker):
        refused = await worker.as_(eve).call("POST", "/v1/search", json={"query": "leave"})
        assert refused.status_code == 401


@pytest.mark.slow
@pytest.mark.isolated
async def test_a_public_document_reaches_and_leaves_other_tenants_at_once(
    gateway: Gateway, other_worker: Gateway
) -> None:
    ana = await gateway.caller("ana", roles=["writer", "publisher"])
    await gateway.tenant("globex")
    await gateway.receive_public("globex")
    zoe = await gateway.caller("zoe", tenant="globex")
    assert await zoe.found("annual leave") == []

    await ana.put("leave", LEAVE, readers=["public"])
    assert await zoe.found("annual leave") == ["leave"]
    await warm(zoe, gateway, other_worker)

    await ana.share("leave")
    assert await other_worker.as_(zoe).found("annual leave") == []
    assert await zoe.found("annual leave") == []


@pytest.mark.slow
async def test_readers_and_writers_at_once_never_see_an_acknowledged_edit_undone(
    gateway: Gateway, other_worker: Gateway, ana: Caller
) -> None:
    """Each reader notes the edit acknowledged before it asks: it must see no older one."""
    await ana.put("leave", "Edit 0 of the annual leave.")
    acknowledged = 0
    shown = 0
    done = asyncio.Event()

    async def write() -> None:
        nonlocal acknowledged
        for number in range(1, 30):
            await ana.put("leave", f"Edit {number} of the annual leave.")
            acknowledged = number
        done.set()

    async def read(caller: Caller) -> None:
        nonlocal shown
        while not done.is_set():
            at_least = acknowledged
            (hit,) = (await caller.search("annual leave")).json()["hits"]
            assert int(hit["text"].split()[1]) >= at_least
            shown += 1

    await asyncio.gather(
        write(), *(read(worker.as_(ana)) for worker in (gateway, other_worker) * 2)
    )

    assert shown > 30
