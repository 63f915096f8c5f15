"""Answers in this process's memory alone: what no change invalidates is served again."""

import asyncio
from collections.abc import Callable

import hypothesis
import pytest
from hypothesis import strategies as st

from cache.invalidation import local_registry
from cache.invalidation.local_registry import LocalInvalidation, LocalRegistry
from cache.lookup import CacheLookup, Compute, ComputedAnswer
from cache.protocol import Revisions
from tests.cache.support.histories import at
from tests.cache.support.search_stub import Index
from tests.cache.support.worker import CacheWorker, Changed, FakeChangeLog, FakeDependencyIndex
from tests.sampling import examples

pytestmark = pytest.mark.anyio

NewWorker = Callable[[], CacheWorker]


async def test_an_answer_survives_a_change_that_does_not_concern_it(
    new_worker: NewWorker, truth: FakeChangeLog
) -> None:
    worker = new_worker()
    await worker.ask_locally("key", Index(b"old", b"leave", acme=3), acme=3)
    truth.commit("acme", b"travel")

    served = await worker.ask_locally("key", Index(b"new", b"leave", acme=4), acme=4)

    assert (served.body, served.tier) == (b"old", "memory")
    assert served.valid_until == at(acme=4)
    assert "revalidated" in worker.events
    assert worker.answers.memory.find("key", at(acme=4))


async def test_an_answer_that_a_change_concerns_is_computed_anew(
    new_worker: NewWorker, truth: FakeChangeLog
) -> None:
    worker = new_worker()
    await worker.ask_locally("key", Index(b"old", b"leave", acme=3), acme=3)
    truth.commit("acme", b"leave")

    served = await worker.ask_locally("key", Index(b"new", b"leave", acme=4), acme=4)

    assert (served.body, served.tier) == (b"new", "miss")


async def test_many_questions_read_a_change_once(
    new_worker: NewWorker, truth: FakeChangeLog
) -> None:
    worker = new_worker()
    keys = [f"key {number}" for number in range(20)]
    for key in keys:
        await worker.ask_locally(key, Index(b"old", b"leave", acme=3), acme=3)
    truth.commit("acme", b"travel")
    truth.asked = 0

    await asyncio.gather(
        *(worker.ask_locally(key, Index(b"new", b"leave", acme=4), acme=4) for key in keys)
    )

    assert truth.asked == 1
    assert worker.events.count("revalidated") == len(keys)


async def test_an_answer_without_dependencies_is_computed_anew(
    new_worker: NewWorker, truth: FakeChangeLog
) -> None:
    worker = new_worker()
    await worker.ask_locally("key", Index(b"old", b"", acme=3), acme=3)
    truth.commit("acme", b"travel")
    served = await worker.ask_locally("key", Index(b"new", b"", acme=4), acme=4)
    assert served.body == b"new"


@pytest.mark.parametrize("fault", ["forgotten", "away"])
async def test_changes_that_cannot_be_read_keep_nothing(
    new_worker: NewWorker, truth: FakeChangeLog, fault: str
) -> None:
    worker = new_worker()
    await worker.ask_locally("key", Index(b"old", b"leave", acme=3), acme=3)
    truth.commit("acme", b"travel")
    truth.forgotten, truth.is_away = 4 * (fault == "forgotten"), fault == "away"
    served = await worker.ask_locally("key", Index(b"new", b"leave", acme=4), acme=4)
    assert served.body == b"new"


async def test_what_was_dropped_is_not_served_again(
    new_worker: NewWorker, truth: FakeChangeLog
) -> None:
    worker = new_worker()
    for number, drop in enumerate(
        (lambda: worker.answers.drop("acme", "key"), worker.answers.drop_local), start=3
    ):
        await worker.ask_locally("key", Index(b"old", b"leave", acme=number), acme=number)
        dropped = drop()
        if dropped is not None:
            await dropped
        truth.commit("acme", b"travel")
        later = number + 1
        served = await worker.ask_locally("key", Index(b"new", b"leave", acme=later), acme=later)
        assert served.body == b"new"
        await worker.answers.drop("acme", "key")


async def test_a_slow_computation_is_not_served_by_what_a_later_one_depends_on(
    new_worker: NewWorker, truth: FakeChangeLog
) -> None:
    worker = new_worker()
    slow = Index(b"old", b"leave", acme=3)
    slow.may_end.clear()
    late = asyncio.create_task(worker.ask_locally("key", slow, acme=3))
    await slow.begun()
    truth.commit("acme", b"leave")
    await worker.ask_locally("key", Index(b"new", b"leave", acme=4), acme=4)
    slow.may_end.set()
    assert (await late).body == b"old"  # right for who asked before the change

    for revision in (4, 5):
        served = await worker.ask_locally(
            "key", Index(b"new", b"leave", acme=revision), acme=revision
        )
        assert served.body == b"new"
        truth.commit("acme", b"travel")


@pytest.mark.parametrize("history", ["a1", "another"])
async def test_an_answer_without_dependencies_is_not_served_by_those_of_an_earlier_one(
    new_worker: NewWorker, truth: FakeChangeLog, history: str
) -> None:
    worker = new_worker()

    async def compute() -> ComputedAnswer:
        return ComputedAnswer(b"at once", Revisions(history, {"acme": 3}))

    await worker.ask_locally("key", Index(b"old", b"leave", acme=3), acme=3)
    worker.answers.memory.entries.pop("key")  # evicted
    assert await worker.answers.compute_first(
        CacheLookup("acme", "key", is_shared=False), at(acme=3), compute
    )
    truth.commit("acme", b"travel")

    served = await worker.ask_locally("key", Index(b"new", b"leave", acme=4), acme=4)

    assert served.body == b"new"


async def test_an_answer_is_encoded_once_its_tenant_changes(
    new_worker: NewWorker, truth: FakeChangeLog
) -> None:
    worker = new_worker()
    encoded: list[str] = []

    def computed(key: str) -> Compute:
        def encode() -> bytes:
            encoded.append(key)
            return b"leave"

        async def compute() -> ComputedAnswer:
            return ComputedAnswer(b"old", at(acme=3), encode)

        return compute

    keys = [f"key {number}" for number in range(3 * local_registry.STEP_ANSWERS)]
    for key in keys:
        await worker.ask_locally(key, computed(key), acme=3)
        await worker.ask_locally(key, computed(key), acme=3)
    assert not encoded

    truth.commit("acme", b"travel")
    asked = asyncio.create_task(worker.ask_locally(keys[0], computed("again"), acme=4))
    steps = set()
    while not asked.done():
        await asyncio.sleep(0)
        steps.add(len(encoded))
    assert (await asked).tier == "memory"
    assert sorted(encoded) == sorted(keys)
    assert len(steps) > 2, "all in one step of the event loop"


async def test_an_answer_that_comes_while_changes_are_read_is_registered_before_they_are_applied(
    truth: FakeChangeLog,
) -> None:
    local: LocalInvalidation[Changed] = LocalInvalidation(truth, FakeDependencyIndex)
    local.add("acme", "first", 1, at(acme=3), b"leave".strip)
    truth.commit("acme", b"travel")
    truth.answers.clear()
    caught_up = asyncio.create_task(local.valid_until("acme", "first", 1, at(acme=4)))
    while not truth.asked:
        await asyncio.sleep(0)
    local.add("acme", "second", 1, at(acme=3), b"leave".strip)
    truth.answers.set()

    assert await caught_up == at(acme=4)
    assert await local.valid_until("acme", "second", 1, at(acme=4)) == at(acme=4)


async def test_an_answer_that_waits_vouches_for_its_own_computation_alone(
    truth: FakeChangeLog,
) -> None:
    local: LocalInvalidation[Changed] = LocalInvalidation(truth, FakeDependencyIndex)
    local.add("acme", "key", 2, at(acme=3), b"leave".strip)

    assert await local.valid_until("acme", "key", 1, at(acme=3)) is None
    assert await local.valid_until("acme", "key", 2, at(acme=3)) == at(acme=3)


async def test_no_changes_are_read_for_the_answers_of_another_history(
    truth: FakeChangeLog,
) -> None:
    local: LocalInvalidation[Changed] = LocalInvalidation(truth, FakeDependencyIndex)
    local.add("acme", "key", 1, Revisions("another", {"acme": 2}), b"leave".strip)

    assert await local.valid_until("acme", "key", 1, at(acme=3)) is None
    assert not truth.asked


async def test_an_answer_that_misses_an_applied_change_is_not_registered() -> None:
    registry: LocalRegistry[Changed] = LocalRegistry(FakeDependencyIndex)
    registry.add("first", 1, at(acme=0), b"leave")
    registry.apply([Changed(at().history, "acme", 2, frozenset({b"travel"}))], registry.reached)

    registry.add("late", 1, at(acme=1), b"travel")
    registry.add("in time", 1, at(acme=2), b"travel")

    assert registry.valid_until("late", 1) is None
    assert registry.valid_until("in time", 1) == at(acme=2)
    assert registry.valid_until("first", 1) == at(acme=2)


async def test_an_answer_that_misses_a_change_of_one_of_its_partitions_is_not_registered() -> None:
    registry: LocalRegistry[Changed] = LocalRegistry(FakeDependencyIndex)
    registry.add("first", 1, at(acme=0, public=4), b"leave")
    changes = Changed(at().history, "public", 5, frozenset({b"travel"}))
    registry.apply([changes], registry.reached)

    registry.add("late", 1, at(acme=1, public=4), b"travel")

    assert registry.valid_until("late", 1) is None
    assert registry.valid_until("first", 1) == at(acme=0, public=5)


async def test_an_answer_that_contains_a_change_survives_it() -> None:
    registry: LocalRegistry[Changed] = LocalRegistry(FakeDependencyIndex)
    registry.add("old", 1, at(acme=0), b"leave")
    registry.add("new", 1, at(acme=1), b"leave")

    changes = Changed(at().history, "acme", 1, frozenset({b"leave"}))
    registry.apply([changes], registry.reached)

    assert registry.valid_until("old", 1) is None
    assert registry.valid_until("new", 1) == at(acme=1)


async def test_another_history_begins_a_new_registry() -> None:
    registry: LocalRegistry[Changed] = LocalRegistry(FakeDependencyIndex)
    registry.add("key", 1, at(acme=5), b"leave")
    since = registry.reached

    registry.add("later", 1, Revisions("another", {"acme": 3}), b"leave")
    assert registry.valid_until("key", 1) is None
    registry.apply([Changed(since.history, "acme", 6, frozenset())], since)
    assert registry.valid_until("later", 1) == Revisions("another", {"acme": 3})


async def test_the_oldest_answers_of_a_tenant_give_way() -> None:
    registry: LocalRegistry[Changed] = LocalRegistry(FakeDependencyIndex)
    for number in range(local_registry.TENANT_ANSWERS_MAX + 1):
        registry.add(f"key {number}", 1, at(acme=0), b"leave")

    assert len(registry) == local_registry.TENANT_ANSWERS_MAX
    assert registry.valid_until("key 0", 1) is None
    assert registry.valid_until("key 1", 1) == at(acme=0)


THINGS = (b"leave", b"travel", b"prices")
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("commit"), st.sampled_from(("acme", "public")), st.sampled_from(THINGS)),
        st.tuples(st.just("ask"), st.integers(0, 3), st.sampled_from(THINGS)),
        st.tuples(st.just("fill late"), st.integers(0, 3), st.sampled_from(THINGS)),
    ),
    max_size=30,
)


@pytest.mark.slow
@hypothesis.settings(max_examples=examples(300))
@hypothesis.given(steps=STEPS)
async def test_every_answer_is_that_of_the_revision(
    steps: list[tuple[str, str | int, bytes]],
) -> None:
    """A body says at which change its thing was changed last; each key is always of one thing."""
    truth = FakeChangeLog(acme=0, public=0)
    local: LocalInvalidation[Changed] = LocalInvalidation(truth, FakeDependencyIndex)
    changed: dict[bytes, int] = dict.fromkeys(THINGS, 0)
    bodies: dict[str, int] = {}
    late: list[tuple[str, Revisions, bytes, int]] = []
    for number, (step, name, thing) in enumerate(steps, start=1):
        if step == "commit":
            truth.commit(str(name), thing)
            changed[thing] = number
            continue
        key, now = f"{name} {thing!r}", at(**truth.revisions)
        if step == "fill late":  # it is computed now, and registered after the next answer
            late.append((key, now, thing, changed[thing]))
            continue
        valid_until = await local.valid_until("acme", key, 1, now)
        if valid_until is not None:
            assert valid_until.reach(now)
            assert bodies[key] == changed[thing]
        else:
            bodies[key] = changed[thing]
            local.add("acme", key, 1, now, thing.strip)
        for filled, as_of, depends_on, body in late:
            bodies[filled] = body
            local.discard("acme", filled)
            local.add("acme", filled, 1, as_of, depends_on.strip)
        late.clear()
