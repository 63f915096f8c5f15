import asyncio
from collections.abc import Collection, Mapping
from contextvars import ContextVar

import pytest

from cache.revision_reader import EarlierReading, RevisionReader

pytestmark = pytest.mark.anyio


class Truth:
    """A truth whose statements begin when asked and end when told."""

    def __init__(self) -> None:
        self.revision = 0
        self.statements: list[set[str]] = []
        self.failure: Exception | None = None
        self.may_end = asyncio.Event()
        self.may_end.set()

    async def revisions(self, tenants: Collection[str], /) -> Mapping[str, int]:
        self.statements.append(set(tenants))
        seen = self.revision  # of the snapshot that the statement begins with
        await self.may_end.wait()
        if self.failure is not None:
            raise self.failure
        return dict.fromkeys(tenants, seen)


class RevisionClock:
    def __init__(self) -> None:
        self.now_s = 1000.0

    def __call__(self) -> float:
        return self.now_s


async def begun(truth: Truth, statements: int) -> None:
    while len(truth.statements) < statements:
        await asyncio.sleep(0)


async def test_all_who_wait_share_one_statement_of_all_their_tenants() -> None:
    truth = Truth()
    reader = RevisionReader(truth, RevisionClock())

    await asyncio.gather(*(reader.read([name]) for name in "abcb"))

    assert truth.statements == [{"a", "b", "c"}]


async def test_who_comes_while_a_statement_runs_gets_one_that_began_afterwards() -> None:
    truth = Truth()
    reader = RevisionReader(truth, RevisionClock())
    truth.may_end.clear()
    early = asyncio.ensure_future(reader.read(["a"]))
    await begun(truth, 1)

    truth.revision = 1  # committed after the first statement's snapshot
    late = asyncio.ensure_future(reader.read(["a"]))
    truth.may_end.set()

    assert await early == {"a": 0}
    assert await late == {"a": 1}


async def test_a_shared_statement_knows_nothing_of_the_request_that_began_it() -> None:
    """Such as its trace: the next requests share what is running."""
    request: ContextVar[str] = ContextVar("request", default="nobody's")
    seen: list[str] = []

    class Seeing(Truth):
        async def revisions(self, tenants: Collection[str], /) -> Mapping[str, int]:
            seen.append(request.get())
            return await super().revisions(tenants)

    request.set("the first one's")
    await RevisionReader(Seeing(), RevisionClock()).read(["a"])

    assert seen == ["nobody's"]


async def test_each_read_is_a_new_one() -> None:
    truth = Truth()
    reader = RevisionReader(truth, RevisionClock())
    await reader.read(["a"])

    truth.revision = 1

    assert await reader.read(["a"]) == {"a": 1}


async def test_an_older_revision_is_named_just_as_long_as_it_was_current_within_the_age() -> None:
    truth, clock = Truth(), RevisionClock()
    reader = RevisionReader(truth, clock)
    await reader.read(["a"])
    clock.now_s += 1.0
    await reader.read(["a"])  # until here it was current
    truth.revision = 1
    clock.now_s += 0.5
    await reader.read(["a"])

    assert reader.oldest(["a"], 0.6) == EarlierReading({"a": 0}, 0.5)
    assert reader.oldest(["a"], 0.4) == EarlierReading({"a": 1}, 0.0)
    assert reader.newest(["a"], 0.6) == EarlierReading({"a": 1}, 0.0)
    assert reader.latest("a", 0.4) == 1
    assert [reader.is_only("a", 1, age_s) for age_s in (0.0, 0.4, 0.5)] == [True, True, False]
    assert not reader.is_only("a", 0, 0.4)
    assert not reader.is_only("b", None, 0.4)
    clock.now_s += 0.5
    assert reader.oldest(["a"], 0.4) is None
    assert reader.newest(["a"], 0.4) is None
    assert reader.newest(["a"], 0.6) == EarlierReading({"a": 1}, 0.5)
    assert reader.latest("a", 0.4) is None
    assert reader.oldest(["a", "b"], 9.0) is None


async def test_what_is_known_takes_no_statement_if_it_suffices() -> None:
    truth, clock = Truth(), RevisionClock()
    reader = RevisionReader(truth, clock, lambda tenants: dict.fromkeys(tenants, 0))
    truth.revision = 1

    assert await reader.read(["a"]) == {"a": 0}
    assert truth.statements == []
    assert await reader.read(["a"], lambda known: known["a"] > 0) == {"a": 1}
    assert truth.statements == [{"a"}]


async def test_what_is_known_is_as_old_as_when_it_was_looked_up() -> None:
    clock = RevisionClock()

    def known(tenants: Collection[str]) -> Mapping[str, int]:
        clock.now_s += 5.0  # the process is paused
        return dict.fromkeys(tenants, 0)

    reader = RevisionReader(Truth(), clock, known)
    reader.known(["a"])

    assert reader.newest(["a"], 9.0) == EarlierReading({"a": 0}, 5.0)
    assert reader.newest(["a"], 4.0) is None


async def test_a_tenant_that_changes_all_the_time_is_remembered_by_its_last_revisions() -> None:
    truth, clock = Truth(), RevisionClock()
    reader = RevisionReader(truth, clock)
    for truth.revision in range(100):
        await reader.read(["a"])

    oldest = reader.oldest(["a"], 9.0)

    assert oldest is not None
    assert 80 < oldest.values["a"] < 99


async def test_a_failure_reaches_all_who_wait_and_the_next_statement_is_tried() -> None:
    truth = Truth()
    reader = RevisionReader(truth, RevisionClock())
    truth.failure = ConnectionError("away")

    outcomes = await asyncio.gather(*(reader.read(["a"]) for _ in range(3)), return_exceptions=True)
    truth.failure = None

    assert [type(outcome) for outcome in outcomes] == [ConnectionError] * 3
    assert await reader.read(["a"]) == {"a": 0}


async def test_a_remembered_revision_serves_while_the_truth_is_away() -> None:
    truth, clock = Truth(), RevisionClock()
    reader = RevisionReader(truth, clock)
    await reader.read(["a"])
    truth.failure = ConnectionError("away")

    with pytest.raises(ConnectionError):
        await reader.read(["a"])
    assert reader.oldest(["a"], 1.0) == EarlierReading({"a": 0}, 0.0)
    assert reader.latest("a", 1.0) == 0


async def test_a_waiter_that_gives_up_does_not_disturb_the_others() -> None:
    truth = Truth()
    reader = RevisionReader(truth, RevisionClock())
    truth.may_end.clear()
    first, second = (asyncio.ensure_future(reader.read(["a"])) for _ in range(2))
    await begun(truth, 1)

    first.cancel()
    await asyncio.wait([first])
    truth.may_end.set()

    assert await second == {"a": 0}
