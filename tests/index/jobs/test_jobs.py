"""The queue: who gets which job, who may say what became of it, and what people can do about it."""

import asyncio
from dataclasses import replace
from uuid import UUID, uuid4

import asyncpg
import pytest

from gateway.extensions.jobs.job_store import Job
from index.documents.document_store import DocumentStore
from index.errors import JobLost, PayloadTooLarge, QueueFull, TenantMissing
from index.jobs import job_queue
from index.jobs.job_queue import ClaimedJob, JobLease, NewJob
from index.model.scope import Maker
from index.model.write_order import CONTENT
from index.postgres.database import Database
from index.tenants.tenant_store import TenantStore
from ingest.write.writer import Writer
from tests.index.support.jobs import Jobs
from tests.index.support.samples import PLAIN, put

pytestmark = pytest.mark.anyio

KINDS = ["work"]


@pytest.fixture
def queue(database: Database, tenants: TenantStore) -> Jobs:
    return Jobs(database)


def a_job(target: str = "document:leave", **fields: object) -> NewJob:
    job = NewJob(tenant="acme", kind="work", target=target, payload=b"{}")
    return replace(job, **fields)  # type: ignore[arg-type]  # the fields of a test


async def claim(
    queue: Jobs, lease: UUID | None = None, *, lease_s: float = 60.0, tenant_jobs_max: int = 100
) -> ClaimedJob | None:
    return await queue.claim(
        lease or uuid4(), lease_s=lease_s, tenant_jobs_max=tenant_jobs_max, kinds=KINDS
    )


async def claimed(queue: Jobs, lease: UUID | None = None, *, lease_s: float = 60.0) -> ClaimedJob:
    job = await claim(queue, lease, lease_s=lease_s)
    assert job is not None
    return job


async def shown(queue: Jobs, job_id: str) -> Job:
    job = await queue.get(None, job_id)
    assert job is not None
    return job


async def test_a_job_is_there_only_if_what_asked_for_it_is_committed(
    database: Database, queue: Jobs
) -> None:
    class RollBackError(Exception):
        pass

    async def ask_and_roll_back() -> None:
        async with database.transaction() as session:
            await job_queue.enqueue(session, a_job())
            raise RollBackError

    with pytest.raises(RollBackError):
        await ask_and_roll_back()
    async with database.transaction() as session:
        job_id = await job_queue.enqueue(session, a_job())
        assert await claim(queue) is None

    assert (await claimed(queue)).job_id == job_id


async def test_jobs_are_claimed_in_their_order_and_each_once(queue: Jobs) -> None:
    asked = [await queue.enqueue(a_job(f"document:{number}")) for number in range(20)]

    claims = await asyncio.gather(*(claim(queue) for _ in range(25)))

    got = [job for job in claims if job is not None]
    assert sorted(job.job_id for job in got) == sorted(asked)
    assert [job.job_id for job in sorted(got, key=lambda job: job.run.job_no)] == asked


async def test_a_finished_job_shows_its_result_and_keeps_no_payload(queue: Jobs) -> None:
    job_id = await queue.enqueue(a_job(payload=b'{"text": "secret"}'))
    job = await claimed(queue)

    assert job.payload == b'{"text": "secret"}'
    assert await queue.finish(job.run, {"revision": 7})
    after = await shown(queue, job_id)
    assert (after.state, after.result, after.payload) == ("done", {"revision": 7}, None)
    assert await claim(queue) is None


async def test_who_asks_for_too_much_is_told(
    queue: Jobs, connection: "asyncpg.Connection[asyncpg.Record]"
) -> None:
    with pytest.raises(PayloadTooLarge):
        await queue.enqueue(a_job(payload=bytes(job_queue.PAYLOAD_BYTES_MAX + 1)))
    with pytest.raises(TenantMissing):
        await queue.enqueue(a_job(tenant="nobody"))
    await connection.execute(
        "INSERT INTO jobs (job_id, tenant, kind, target, attempts_max) "
        "SELECT 'job_' || n, 'acme', 'work', 'x', 1 FROM generate_series(1, $1) AS n",
        job_queue.WAITING_MAX,
    )
    with pytest.raises(QueueFull):
        await queue.enqueue(a_job())
    assert await queue.enqueue(a_job(tenant="beta"))

    await connection.execute("UPDATE jobs SET state = 'failed', ended_at = now()")
    assert await queue.enqueue(a_job()), "no removal or reading waits for failed writes"
    with pytest.raises(QueueFull):
        await queue.enqueue_document("leave", replace(a_job(), parts=CONTENT))


async def test_the_bytes_of_queued_writes_have_a_limit_that_none_passes_beside_another(
    database: Database, queue: Jobs, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(job_queue, "QUEUED_BYTES_MAX", 1_000)
    writes = [a_job(f"document:{n}", parts=CONTENT, payload=b"-" * 600) for n in range(3)]

    async with database.transaction() as session:
        await job_queue.enqueue(session, writes[0])
        beside = asyncio.create_task(queue.enqueue_document("1", writes[1]))
        async with asyncio.timeout(60):
            while not (beside.done() or await session.connection.fetchval(_SOMEBODY_WAITS)):
                await asyncio.sleep(0.005)
    with pytest.raises(QueueFull):
        await beside

    assert await queue.enqueue_document("0", writes[0]), "what it replaces no longer counts"
    await queue.fail((await claimed(queue)).run, "refused")
    with pytest.raises(QueueFull):
        await queue.enqueue_document("1", writes[1])
    assert await queue.enqueue(a_job("source:wiki", payload=b"-" * 600)), "no write"


_SOMEBODY_WAITS = "SELECT EXISTS (SELECT FROM pg_locks WHERE NOT granted)"


class TestTenants:
    async def test_a_tenant_has_no_more_at_work_than_its_limit(self, queue: Jobs) -> None:
        for number in range(10):
            await queue.enqueue(a_job(f"document:{number}"))

        claims = await asyncio.gather(*(claim(queue, tenant_jobs_max=3) for _ in range(10)))

        got = [job for job in claims if job is not None]
        assert len(got) == 3
        await queue.finish(got[0].run, {})
        assert await claim(queue, tenant_jobs_max=3) is not None
        assert await claim(queue, tenant_jobs_max=3) is None

    async def test_a_tenant_runs_half_as_many_jobs_that_may_be_long(self, queue: Jobs) -> None:
        for number in range(4):
            await queue.enqueue(a_job(f"source:{number}", kind="read"))
        await queue.enqueue(a_job("document:leave"))

        async def claim_any() -> str | None:
            job = await queue.claim(
                uuid4(),
                lease_s=60,
                tenant_jobs_max=4,
                kinds=["work", "read"],
                long_kinds=["read"],
            )
            return None if job is None else job.kind

        assert [await claim_any() for _ in range(4)] == ["read", "read", "work", None]

    async def test_a_tenant_with_many_jobs_does_not_starve_the_others(self, queue: Jobs) -> None:
        for number in range(50):
            await queue.enqueue(a_job(f"document:{number}"))
        late = await queue.enqueue(a_job(tenant="beta"))

        first, second = await claimed(queue), await claimed(queue)

        assert first.tenant == "acme"
        assert second.job_id == late

    @pytest.mark.thorough
    @pytest.mark.slow
    async def test_many_tenants_are_served_in_turns(
        self, queue: Jobs, connection: "asyncpg.Connection[asyncpg.Record]"
    ) -> None:
        await connection.execute(
            "INSERT INTO tenants (tenant, name) SELECT 't' || n, '' FROM generate_series(1, 200) n"
        )
        await connection.execute(
            "INSERT INTO jobs (job_id, tenant, kind, target, attempts_max) "
            "SELECT 'job_' || n, 't' || 1 + n % 200, 'work', 'x' || n, 1 "
            "FROM generate_series(1, 2000) n"
        )

        got = [(await claimed(queue)).tenant for _ in range(200)]

        assert len(set(got)) == 200


class TestTargets:
    async def test_two_jobs_of_one_target_are_not_at_work_at_once(self, queue: Jobs) -> None:
        first = await queue.enqueue(a_job("source:handbook"))
        second = await queue.enqueue(a_job("source:handbook"))

        job = await claimed(queue)
        assert job.job_id == first
        assert await claim(queue) is None
        await queue.finish(job.run, {})
        assert (await claimed(queue)).job_id == second

    async def test_a_queued_write_of_a_document_takes_the_place_of_the_one_before(
        self, queue: Jobs
    ) -> None:
        first = await queue.enqueue_document("leave", a_job())
        second = await queue.enqueue_document("leave", a_job())

        assert (await claimed(queue)).job_id == second
        assert await claim(queue) is None
        assert (await shown(queue, first)).result == {"superseded": True}

    async def test_a_later_write_and_a_removal_end_what_is_queued_for_the_document(
        self, queue: Jobs, writer: Writer
    ) -> None:
        before_write = await queue.enqueue_document("leave", a_job())
        elsewhere = await queue.enqueue_document("travel", a_job("document:travel"))
        await put(writer, PLAIN)
        before_removal = await queue.enqueue_document("leave", a_job())
        await writer.remove("acme", "leave", lambda stored: stored)

        assert (await shown(queue, before_write)).result == {"superseded": True}
        assert (await shown(queue, before_removal)).result == {"superseded": True}
        assert (await shown(queue, elsewhere)).state == "waiting"

    async def test_a_write_that_is_refused_ends_nothing(self, queue: Jobs, writer: Writer) -> None:
        queued = await queue.enqueue_document("leave", a_job())

        def refuse(_: object) -> None:
            raise PermissionError

        with pytest.raises(PermissionError):
            await writer.remove("acme", "leave", refuse)

        assert (await shown(queue, queued)).state == "waiting"


class TestLeases:
    async def test_a_job_whose_worker_is_lost_runs_again(self, queue: Jobs) -> None:
        await queue.enqueue(a_job())
        lost = await claimed(queue, lease_s=0.0)

        again = await claimed(queue)

        assert again.job_id == lost.job_id
        assert again.run.attempts == 2

    @pytest.mark.slow
    async def test_a_lease_that_is_renewed_lasts(self, queue: Jobs) -> None:
        await queue.enqueue(a_job())
        lease = uuid4()
        job = await claimed(queue, lease, lease_s=0.0)  # anybody may take it

        await queue.renew(lease, [job.run.job_no], lease_s=60)

        assert await claim(queue) is None
        assert await queue.finish(job.run, {})

    async def test_nobody_takes_a_job_that_is_still_at_work_in_its_own_process(
        self, queue: Jobs
    ) -> None:
        await queue.enqueue(a_job())
        job = await claimed(queue, lease_s=0.0)

        own = await queue.claim(
            uuid4(), lease_s=60, tenant_jobs_max=9, kinds=KINDS, at_work=[job.run.job_no]
        )

        assert own is None
        assert await claim(queue) is not None

    async def test_a_kind_that_a_worker_does_not_know_waits_for_one_that_does(
        self, queue: Jobs
    ) -> None:
        await queue.enqueue(a_job(kind="of a later version"))

        assert await claim(queue) is None

    async def test_who_has_lost_a_job_changes_nothing_any_more(
        self, queue: Jobs, writer: Writer, documents: DocumentStore
    ) -> None:
        job_id = await queue.enqueue(a_job())
        lost = await claimed(queue, lease_s=0.0)
        again = await claimed(queue)

        assert not await queue.finish(lost.run, {})
        assert not await queue.fail(lost.run, "no")
        assert not await queue.reschedule(lost.run, "no", due_s=0)
        with pytest.raises(JobLost):
            await queue.progress(lost.run, {})
        with pytest.raises(JobLost):
            await writer.put("acme", "leave", lambda _: PLAIN, lost.run)

        assert await documents.stored("acme", "leave") is None
        assert (await shown(queue, job_id)).state == "running"
        await writer.put("acme", "leave", lambda _: PLAIN, again.run)
        assert await queue.finish(again.run, {})
        assert await documents.stored("acme", "leave") is not None

    async def test_a_job_that_costs_its_workers_their_lives_ends(self, queue: Jobs) -> None:
        job_id = await queue.enqueue(a_job(attempts_max=3))

        runs = [await claim(queue, lease_s=0.0) for _ in range(4)]

        assert [job.run.attempts if job else None for job in runs] == [1, 2, 3, None]
        after = await shown(queue, job_id)
        assert (after.state, after.error) == ("failed", "the worker was lost")

    async def test_what_is_put_off_waits_and_what_is_given_back_has_lost_no_attempt(
        self, queue: Jobs
    ) -> None:
        await queue.enqueue(a_job())
        await queue.reschedule((await claimed(queue)).run, None, due_s=0.0, counts=False)
        job = await claimed(queue)
        await queue.reschedule(job.run, "away", due_s=60.0)

        assert job.run.attempts == 1
        assert await claim(queue) is None
        assert 50 < (await queue.next_s() or 0) <= 60


class TestPeople:
    async def test_see_the_newest_first_page_by_page_and_only_what_is_theirs(
        self, queue: Jobs
    ) -> None:
        own = [await queue.enqueue(a_job(f"document:{n}", subject="ana")) for n in range(5)]
        await queue.enqueue(a_job("document:other", subject="ben"))
        await queue.enqueue(a_job(tenant="beta"))

        ana = Maker("acme", "ana")

        first = await queue.page("acme", maker=ana, limit=3)
        second = await queue.page("acme", maker=ana, before=first[-1].job_no, limit=3)

        assert [job.job_id for job in first + second] == own[::-1]
        assert len(await queue.page("acme", limit=10)) == 6
        assert len(await queue.page(None, limit=10)) == 7
        assert await queue.page("acme", state="failed", limit=10) == []
        assert await queue.get("beta", own[0]) is None

    async def test_replay_and_drop_what_has_failed(self, queue: Jobs) -> None:
        job_id = await queue.enqueue(a_job())
        assert not await queue.replay("acme", job_id)
        await queue.fail((await claimed(queue)).run, "refused")

        assert not await queue.replay("beta", job_id)
        assert await queue.replay("acme", job_id)
        job = await claimed(queue)
        assert job.run.attempts == 1
        assert not await queue.delete("acme", job_id)  # it is at work
        await queue.fail(job.run, "refused")
        assert not await queue.delete("beta", job_id)
        assert await queue.delete("acme", job_id)
        assert await queue.get("acme", job_id) is None

    async def test_what_is_done_is_forgotten_after_a_while_and_what_failed_is_not(
        self, queue: Jobs
    ) -> None:
        done, failed = await queue.enqueue(a_job("a")), await queue.enqueue(a_job("b"))
        await queue.finish((await claimed(queue)).run, {})
        await queue.fail((await claimed(queue)).run, "refused")

        await queue.delete_done(60.0)
        assert await queue.get(None, done) is not None
        await queue.delete_done(0.0)

        assert await queue.get(None, done) is None
        assert await queue.get(None, failed) is not None


async def test_a_run_is_told_from_another_of_the_same_worker(queue: Jobs) -> None:
    await queue.enqueue(a_job())
    lease = uuid4()
    first = await claimed(queue, lease, lease_s=0.0)
    second = await claimed(queue, lease)

    assert first.run == JobLease(second.run.job_no, lease, 1)
    assert not await queue.finish(first.run, {})
    assert await queue.finish(second.run, {})
