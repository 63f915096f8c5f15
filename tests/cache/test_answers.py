"""The layers on a real server: what is served, refused and dropped."""

import asyncio
from collections.abc import Callable, Mapping

import pytest
from redis.asyncio import Redis

from cache.answers import Computed
from cache.store import Store
from tests.cache.worker import Worker

pytestmark = pytest.mark.anyio

NewWorker = Callable[[], Worker]


class Index:
    """Stands for the search: what it answers, as of which revisions, and how often it was asked."""

    def __init__(self, body: bytes, **revisions: int) -> None:
        self.body = body
        self.revisions: Mapping[str, int] = revisions
        self.asked = 0
        self.may_end = asyncio.Event()
        self.may_end.set()

    async def __call__(self) -> Computed:
        self.asked += 1
        computed = Computed(self.body, dict(self.revisions))  # the snapshot is taken here
        await self.may_end.wait()
        return computed

    async def begun(self) -> None:
        while self.asked == 0:
            await asyncio.sleep(0)


async def raw(redis: Redis, name: str) -> bytes:
    value = await redis.get(name)
    assert isinstance(value, bytes)
    return value


async def test_a_repeated_question_is_answered_from_memory(new_worker: NewWorker) -> None:
    worker, index = new_worker(), Index(b"one", acme=3)

    first = await worker.answers.get("key", {"acme": 3}, index)
    second = await worker.answers.get("key", {"acme": 3}, index)

    assert (first.tier, second.tier) == ("miss", "memory")
    assert first.body == second.body == b"one"
    assert index.asked == 1


async def test_another_worker_is_answered_from_redis(new_worker: NewWorker) -> None:
    index = Index(b"one", acme=3)
    await new_worker().answers.get("key", {"acme": 3}, index)

    served = await new_worker().answers.get("key", {"acme": 3}, index)

    assert (served.tier, served.body, dict(served.good)) == ("redis", b"one", {"acme": 3})
    assert index.asked == 1


async def test_after_a_change_no_worker_serves_the_old_answer(new_worker: NewWorker) -> None:
    writer, other = new_worker(), new_worker()
    old, new = Index(b"old", acme=3), Index(b"new", acme=4)
    await writer.answers.get("key", {"acme": 3}, old)
    await other.answers.get("key", {"acme": 3}, old)

    await writer.answers.drain("acme", 4)

    for worker in (writer, other, new_worker()):
        assert (await worker.answers.get("key", {"acme": 4}, new)).body == b"new"
    assert new.asked == 1


async def test_a_change_that_nobody_drained_is_seen_by_the_next_reader(
    new_worker: NewWorker,
) -> None:
    await new_worker().answers.get("key", {"acme": 3}, Index(b"old", acme=3))
    new = Index(b"new", acme=4)

    reader = new_worker()
    served = await reader.answers.get("key", {"acme": 4}, new)

    assert (served.tier, served.body) == ("miss", b"new")
    assert "drained" in reader.events
    assert (await new_worker().answers.get("key", {"acme": 4}, new)).tier == "redis"


async def test_a_racing_fill_that_missed_the_change_is_refused(new_worker: NewWorker) -> None:
    filler, writer = new_worker(), new_worker()
    old, new = Index(b"old", acme=3), Index(b"new", acme=4)
    old.may_end.clear()
    fill = asyncio.create_task(filler.answers.get("key", {"acme": 3}, old))
    await old.begun()  # its rows are read, its fill is not written yet

    await writer.answers.drain("acme", 4)
    old.may_end.set()
    served = await fill

    assert (served.body, served.stored) == (b"old", False)  # right for who asked at revision 3
    assert "refused" in filler.events
    assert (await new_worker().answers.get("key", {"acme": 4}, new)).body == b"new"


async def test_a_fill_that_saw_the_change_is_kept(new_worker: NewWorker) -> None:
    writer, new = new_worker(), Index(b"new", acme=4)
    await new_worker().answers.get("other", {"acme": 3}, Index(b"old", acme=3))

    await writer.answers.drain("acme", 4)
    await writer.answers.get("key", {"acme": 4}, new)

    assert (await new_worker().answers.get("key", {"acme": 4}, new)).tier == "redis"


async def test_an_answer_is_served_only_if_both_its_partitions_vouch_for_it(
    new_worker: NewWorker,
) -> None:
    before, after = {"acme": 3, "public": 7}, {"acme": 3, "public": 8}
    await new_worker().answers.get("key", before, Index(b"old", acme=3, public=7))
    assert (await new_worker().answers.get("key", before, Index(b"", **before))).tier == "redis"

    await new_worker().answers.drain("public", 8)
    served = await new_worker().answers.get("key", after, Index(b"new", acme=3, public=8))

    assert (served.tier, served.body) == ("miss", b"new")


async def test_marks_of_different_bodies_do_not_vouch_for_each_other(
    new_worker: NewWorker, store: Store
) -> None:
    revisions = {"acme": 3, "public": 7}
    await new_worker().answers.get("key", revisions, Index(b"old", acme=3, public=7))
    # Another filler, with the public change, was refused in acme and got through in public only.
    await new_worker().answers.drain("public", 8)
    await new_worker().answers.get("key", {"public": 8}, Index(b"new", public=8))

    served = await new_worker().answers.get(
        "key", {"acme": 3, "public": 8}, Index(b"right", acme=3, public=8)
    )

    assert served.body == b"right"


async def test_an_answer_that_lacks_a_part_is_served_and_not_kept(new_worker: NewWorker) -> None:
    worker = new_worker()

    async def partial() -> Computed:
        return Computed(b"partial", {"acme": 3}, whole=False)

    served = await worker.answers.get("key", {"acme": 3}, partial)
    again = await worker.answers.get("key", {"acme": 3}, Index(b"whole", acme=3))

    assert (served.body, served.whole) == (b"partial", False)
    assert (again.tier, again.body) == ("miss", b"whole")


async def test_callers_who_know_of_a_newer_change_do_not_join_an_older_fill(
    new_worker: NewWorker,
) -> None:
    worker, old, new = new_worker(), Index(b"old", acme=3), Index(b"new", acme=4)
    old.may_end.clear()
    early = asyncio.create_task(worker.answers.get("key", {"acme": 3}, old))
    await old.begun()

    late = await worker.answers.get("key", {"acme": 4}, new)
    old.may_end.set()

    assert late.body == b"new"
    assert (await early).body == b"old"
    assert (await worker.answers.get("key", {"acme": 4}, new)).body == b"new"


@pytest.mark.parametrize("lost", ["state", "entries", "key"])
async def test_whatever_redis_evicts_the_answer_stays_right(
    new_worker: NewWorker, store: Store, redis: Redis, lost: str
) -> None:
    await new_worker().answers.get("key", {"acme": 3}, Index(b"old", acme=3))

    await redis.delete(store.name("acme", lost))
    await new_worker().answers.drain("acme", 4)
    served = await new_worker().answers.get("key", {"acme": 4}, Index(b"new", acme=4))

    assert served.body == b"new"


async def test_an_entry_that_outlived_an_evicted_state_is_no_entry(
    new_worker: NewWorker, store: Store, redis: Redis
) -> None:
    await new_worker().answers.get("key", {"acme": 3}, Index(b"old", acme=3))

    await redis.delete(store.name("acme", "state"))
    served = await new_worker().answers.get("key", {"acme": 3}, Index(b"again", acme=3))

    assert (served.tier, served.body) == ("miss", b"again")


async def test_a_state_made_on_another_process_counts_as_none(
    new_worker: NewWorker, store: Store, redis: Redis
) -> None:
    await new_worker().answers.get("key", {"acme": 3}, Index(b"old", acme=3))
    state = await raw(redis, store.name("acme", "state"))
    run = state.split()[1]

    # As after a failover to a replica that has everything but is another process.
    await redis.set(store.name("acme", "state"), state.replace(run, b"0" * 40))
    worker = new_worker()
    served = await worker.answers.get("key", {"acme": 3}, Index(b"again", acme=3))

    assert (served.tier, served.body) == ("miss", b"again")
    assert "reset" in worker.events


async def test_a_poisoned_body_is_not_served(
    new_worker: NewWorker, store: Store, redis: Redis
) -> None:
    await new_worker().answers.get("key", {"acme": 3}, Index(b"old", acme=3))
    name = store.name("acme", "key")

    await redis.set(name, (await raw(redis, name))[:-1] + b"X")
    served = await new_worker().answers.get("key", {"acme": 3}, Index(b"right", acme=3))

    assert (served.tier, served.body) == ("miss", b"right")


async def test_drains_of_many_writers_at_once_all_get_through(new_worker: NewWorker) -> None:
    workers = [new_worker() for _ in range(4)]
    await workers[0].answers.get("key", {"acme": 0}, Index(b"old", acme=0))

    await asyncio.gather(
        *(worker.answers.drain("acme", revision) for worker in workers for revision in range(1, 9))
    )
    new = Index(b"new", acme=8)
    await workers[0].answers.get("key", {"acme": 8}, new)
    served = await new_worker().answers.get("key", {"acme": 8}, new)

    assert (served.tier, served.body) == ("redis", b"new")
