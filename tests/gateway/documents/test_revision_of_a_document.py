"""A document comes with the revision of the write that last changed it."""

from typing import Any

import pytest

from tests.conftest import run_sql
from tests.gateway.documents.handbook import LEAVE, People, read
from tests.gateway.support.gateways import Caller, Gateway

pytestmark = pytest.mark.anyio


async def written(caller: Caller, document_id: str, text: str, **fields: Any) -> int:
    revision: int = (await caller.put(document_id, text, **fields))["revision"]
    return revision


async def test_it_is_that_of_its_last_change_whatever_else_is_written(ana: Caller) -> None:
    first = await written(ana, "leave", LEAVE)
    await written(ana, "other", LEAVE)
    assert (await read(ana, "leave"))["revision"] == first

    await ana.call("PATCH", "/v1/documents/leave/access", json={"readers": ["tenant"]})
    stored = await read(ana, "leave")
    assert stored["revision"] == first  # as `updated_at`

    second = await written(ana, "leave", "30 days of leave.")
    assert (await read(ana, "leave"))["revision"] == second > first


async def test_a_document_is_sent_back_with_it(ana: Caller) -> None:
    await ana.put("leave", LEAVE)
    stored = await read(ana, "leave")
    fields = {name: stored[name] for name in ("text", "title", "revision", "updated_at")}

    answer = await ana.call("PUT", "/v1/documents/leave", json=fields | {"revision": 10**9})

    assert answer.status_code == 200, answer.text
    assert (await read(ana, "leave"))["revision"] == stored["revision"]


async def test_another_tenant_does_not_learn_it(people: People, gateway: Gateway) -> None:
    tenant = await gateway.new_tenant()
    press = await gateway.caller("press", tenant=tenant, roles=["reader", "writer", "publisher"])
    await press.put("news", LEAVE, readers=["public"])
    await gateway.receive_public((await people.eve.call("GET", "/v1/caller")).json()["tenant"])

    public = await people.eve.call("GET", "/v1/documents/news", params={"tenant": tenant})

    assert public.json()["text"] == LEAVE
    assert "revision" not in public.json()
    assert "revision" in await read(press, "news")


async def test_it_is_absent_once_the_change_is_no_longer_kept(
    ana: Caller, database_url: str
) -> None:
    await ana.put("leave", LEAVE)
    tenant = (await ana.call("GET", "/v1/caller")).json()["tenant"]
    await run_sql(database_url, f"DELETE FROM change_log WHERE tenant = '{tenant}'")  # noqa: S608  ours

    assert "revision" not in await read(ana, "leave")
