"""A tenant with many subscriptions does not delay the events of others."""

import asyncio
from typing import Any, cast

import pytest

from cache.lookup import ComputedAnswer
from cache.protocol import Revisions
from gateway.extensions.subscriptions.change_follower import ChangeFollower
from gateway.search.schemas.search_schemas import SearchBody
from gateway.search.search_request import SearchRequest
from index.model.query import Query
from index.model.scope import Scope
from index.tenants.principals import Principal

pytestmark = pytest.mark.anyio


class Receiver:
    """A watcher that asks for its answer once."""

    def __init__(self, tenant: str, number: int) -> None:
        self.tenant = tenant
        self.subscription_id = f"{tenant}-{number}"
        self.principal = Principal(b"", "key", tenant, "ana", (), ("reader",), None, "h", 1)

    def wake(self, since_s: float) -> None: ...

    def end(self) -> None: ...

    async def answer(self, follower: ChangeFollower) -> None:
        scope = Scope(self.tenant, ("tenant",), (), "user:ana", public=False)
        body = SearchBody(query="leave")
        key = self.subscription_id
        search = SearchRequest(self.principal, body, scope, Query(text="leave"), "e", b"", key)
        with follower.watching(self):
            await follower.answer(self, search, Revisions("h", {self.tenant: 7}))


class Computations:
    """Computations that end when they are told to, the first one first. begun: their tenants."""

    def __init__(self) -> None:
        self.begun: list[str] = []
        self._ends: list[asyncio.Event] = []

    async def compute(self, search: SearchRequest, revisions: Revisions) -> ComputedAnswer:
        ended = asyncio.Event()
        self.begun.append(search.scope.tenant)
        self._ends.append(ended)
        await ended.wait()
        return ComputedAnswer(b"{}", revisions)

    async def end_first(self) -> None:
        self._ends.pop(0).set()
        await settle()


async def settle() -> None:
    for _ in range(20):
        await asyncio.sleep(0)


async def test_an_event_waits_for_few_computations_of_a_tenant_with_many() -> None:
    computations = Computations()
    unused = cast("Any", None)
    follower = ChangeFollower(unused, unused, unused, unused, computations.compute, lambda _: None)
    many = [asyncio.create_task(Receiver("greedy", n).answer(follower)) for n in range(1_000)]
    await settle()
    others = [asyncio.create_task(Receiver(name, 0).answer(follower)) for name in "abcde"]
    await settle()
    begun = list(computations.begun)
    await computations.end_first()
    await computations.end_first()
    try:
        assert begun.count("greedy") < len(begun) == 8, "all slots are in use, not all by one"
        assert set("abcde") <= set(computations.begun), "each waits for two computations at most"
    finally:
        for task in (*many, *others):
            task.cancel()
        await asyncio.gather(*many, *others, return_exceptions=True)
