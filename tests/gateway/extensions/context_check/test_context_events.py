"""`POST /v1/context/events`: a holder of passages hears what becomes of them."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

import orjson
import pytest

from tests.gateway.extensions.context_check.test_context_check import LEAVE, checked, held
from tests.gateway.support.event_listener import events_of
from tests.gateway.support.gateways import Caller, Gateway, problem

pytestmark = [pytest.mark.anyio, pytest.mark.slow]

PATH = "/v1/context/events"


class Stream:
    def __init__(self, events: AsyncIterator[Mapping[str, str]]) -> None:
        self._events = events

    async def next(self) -> tuple[str, Any]:
        fields = await anext(self._events)
        return fields["event"], orjson.loads(fields["data"])

    async def states(self) -> list[tuple[int, str]]:
        name, data = await self.next()
        assert name == "states"
        return [(each["place"], each["state"]) for each in data["passages"]]


@asynccontextmanager
async def watching(caller: Caller, *passages: dict[str, Any]) -> AsyncIterator[Stream]:
    headers = {"Authorization": f"Bearer {caller.key}"}
    body = {"passages": passages}
    async with caller.client.stream(
        "POST", PATH, headers=headers, json=body, timeout=None
    ) as answer:
        assert answer.status_code == 200
        assert answer.headers["content-type"].startswith("text/event-stream")
        yield Stream(events_of(answer))


async def test_a_holder_hears_of_each_passage_and_then_of_what_changes(
    ana: Caller, gateway: Gateway
) -> None:
    bo = await gateway.caller("bo")
    passages = []
    for name in ("edited", "revoked", "kept"):
        await ana.put(name, f"{LEAVE} {name}", readers=["tenant"])
        passages.append(await held(bo, f"sick leave {name}"))
    revision = (await bo.search("leave")).headers["nearhit-revision"]
    passages = [{**each, "revision": revision} for each in passages]
    hidden = {"document_id": "hidden"}

    async with watching(bo, *passages, hidden) as stream:
        assert await stream.states() == [
            *((place, "current") for place in range(3)),
            (3, "gone"),
        ]
        await ana.put("hidden", LEAVE)
        await ana.put("edited", f"{LEAVE} Ask your lead.")
        _, edited = await stream.next()
        await ana.share("revoked")
        revoked = await stream.states()
        await ana.put("hidden", LEAVE, readers=["tenant"])
        await ana.share("hidden", "tenant")
        shared = await stream.states()

    (now,) = await checked(bo, passages[0])
    assert edited["passages"] == [{"place": 0, **now}]
    assert "Ask your lead" in now["changed"][0]["text"]
    assert revoked == [(1, "gone")]
    assert shared == [(3, "current")]


async def test_the_stream_ends_with_the_rights_of_its_holder(ana: Caller, gateway: Gateway) -> None:
    await ana.put("leave", LEAVE)
    made = (await ana.call("POST", "/v1/tokens", json={"expires_in_s": 600})).json()

    async with watching(Caller(ana.client, made["token"]), {"document_id": "leave"}) as stream:
        await stream.states()
        revoked = await ana.call("DELETE", f"/v1/tokens/{made['id']}")
        assert revoked.status_code < 300, revoked.text
        assert await stream.next() == ("ended", {"reason": "revoked"})


async def test_as_many_passages_as_a_stream_may_hold_are_watched(ana: Caller) -> None:
    passages = [{"document_id": f"d{number}"} for number in range(201)]

    async with watching(ana, *passages[:200]) as stream:
        assert len(await stream.states()) == 200
    too_many = await ana.call("POST", PATH, json={"passages": passages})

    assert problem(too_many, 422)["errors"][0]["field"] == "passages"
