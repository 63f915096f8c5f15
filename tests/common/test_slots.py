"""Slots that tenants share: who gets the next one, and what happens to those who can't wait."""

import asyncio
from collections.abc import Sequence
from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from common.errors import Saturated
from common.shares.slots import FairSlots
from tests.sampling import examples

pytestmark = pytest.mark.anyio


class WaitingTenants:
    """Requests that hold a slot until they are told to end; `served` names them in their order."""

    def __init__(self, shares: FairSlots) -> None:
        self._shares = shares
        self.served: list[str] = []
        self._ends: list[tuple[str, asyncio.Event]] = []
        self.tasks: list[asyncio.Task[None]] = []

    async def come(self, *tenants: str) -> None:
        for tenant in tenants:
            self.tasks.append(asyncio.create_task(self._hold(tenant)))
        await self.settle()

    async def end_first(self, tenant: str) -> None:
        at = next(at for at, (name, _) in enumerate(self._ends) if name == tenant)
        self._ends[at][1].set()
        await self.settle()

    async def end_all(self) -> None:
        while self._ends:
            await self.end_first(self._ends[0][0])

    @property
    def holding(self) -> Sequence[str]:
        return [name for name, _ in self._ends]

    async def settle(self) -> None:
        for _ in range(5):
            await asyncio.sleep(0)

    async def _hold(self, tenant: str) -> None:
        async with self._shares.slot(tenant):
            own = (tenant, asyncio.Event())
            self.served.append(tenant)
            self._ends.append(own)
            try:
                await own[1].wait()
            finally:
                self._ends.remove(own)


def of(slots: int, *, waiting_max: int = 100, wait_s_max: float = 60.0) -> FairSlots:
    return FairSlots(slots, waiting_max=waiting_max, wait_s_max=wait_s_max)


async def test_a_tenant_holds_at_most_half_of_the_slots_and_another_finds_some_free() -> None:
    crowd = WaitingTenants(of(8))

    await crowd.come(*["acme"] * 20)
    await crowd.come("beta")

    assert crowd.holding == ["acme"] * 4 + ["beta"]
    await crowd.end_all()


async def test_a_free_slot_goes_to_the_tenant_that_holds_the_fewest() -> None:
    crowd = WaitingTenants(of(3))
    await crowd.come("acme", "beta", "beta", "acme", "gamma")

    await crowd.end_first("beta")

    assert sorted(crowd.holding) == ["acme", "beta", "gamma"]
    await crowd.end_all()


async def test_tenants_that_wait_take_turns_however_many_requests_each_has() -> None:
    crowd = WaitingTenants(of(1))
    await crowd.come("acme", *["acme"] * 4, *["beta"] * 2, "gamma")

    await crowd.end_all()

    assert crowd.served == ["acme", "acme", "beta", "gamma", "acme", "beta", "acme", "acme"]


async def test_who_waits_too_long_is_told_whether_its_own_tenant_is_the_cause() -> None:
    shares = of(2, wait_s_max=0.01)
    async with shares.slot("acme"):
        with pytest.raises(Saturated) as own:
            await shares.acquire("acme")
        async with shares.slot("beta"):
            with pytest.raises(Saturated) as others:
                await shares.acquire("gamma")

    assert own.value.by_itself
    assert not others.value.by_itself


async def test_no_more_wait_than_may() -> None:
    shares = of(1, waiting_max=2)
    crowd = WaitingTenants(shares)
    await crowd.come("acme", "acme", "acme")

    with pytest.raises(Saturated):
        await shares.acquire("acme")
    await crowd.end_all()


@settings(max_examples=examples(200))
@given(
    slots=st.integers(1, 5),
    steps=st.lists(
        st.tuples(st.sampled_from(["come", "end", "cancel"]), st.integers(0, 7)), max_size=40
    ),
)
async def test_no_slot_is_lost_and_none_stays_free_while_somebody_may_have_it(
    slots: int, steps: Sequence[tuple[str, int]]
) -> None:
    crowd = WaitingTenants(of(slots))
    for step, number in steps:
        if step == "come":
            await crowd.come(f"t{number % 3}")
        elif step == "end" and crowd.holding:
            await crowd.end_first(crowd.holding[number % len(crowd.holding)])
        elif step == "cancel" and crowd.tasks:
            task = crowd.tasks[number % len(crowd.tasks)]
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task
            await crowd.settle()
        assert len(crowd.holding) <= slots
    await crowd.end_all()
    await crowd.come(*["one", "other"] * slots)
    assert len(crowd.holding) == slots
    await crowd.end_all()
