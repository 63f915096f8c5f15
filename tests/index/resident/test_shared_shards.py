"""Workers of one machine share a shard: one loads it, and the others map its file."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from index.model.scope import everything, resolve
from index.postgres.database import Database
from index.postgres.session import Session
from index.resident import columns, exact_scores
from index.resident.building import loading, shard_folder, shard_source
from index.resident.building.shard_folder import ShardFolder
from index.resident.exact_scores import SumOrder
from index.resident.segment import ShardSegment
from index.resident.shard import Shard
from index.tenants.tenant_store import TenantStore
from ingest.write.writer import Writer
from tests.conftest import run_sql
from tests.index.support.residence import Residence, residence
from tests.index.support.samples import RecordingEmbedder, a_document
from tests.index.support.samples import put as put_document

pytestmark = pytest.mark.anyio

ANA = resolve("acme", "ana", [], ["private", "shared", "tenant"])
EDITION = "edition"
Open = Callable[..., Any]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "shards"


@pytest.fixture
async def worker(
    database: Database, tenants: TenantStore, embedder: RecordingEmbedder, path: Path
) -> AsyncIterator[Open]:
    """Opens the shards of one more worker, on the same folder."""
    async with AsyncExitStack() as stack:

        async def opened(*, edition: str = EDITION, **limits: Any) -> Residence:
            folder = ShardFolder(path, edition, limits.get("bytes_max", 1 << 30))
            return await stack.enter_async_context(
                residence(database, embedder, folder=folder, **limits)
            )

        yield opened


@pytest.fixture
def loads(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """The statements that read all of a partition, counted."""
    counted: Counter[str] = Counter()
    batches = Session.batches

    def counting(self: Session, name: str, *arguments: Any, size: int) -> Any:
        counted[name] += 1
        return batches(self, name, *arguments, size=size)

    monkeypatch.setattr(Session, "batches", counting)
    return counted


async def put(writer: Writer, document_id: str, text: str, **fields: Any) -> None:
    await put_document(writer, a_document(document_id, text, **fields))


def base_of(worker: Residence) -> ShardSegment:
    (shard,) = worker.shards.use(ANA) or []
    return shard.segments[0]


def files(path: Path, suffix: str = ".shard") -> list[Path]:
    return sorted(path.glob(f"*{suffix}"))


def mode_of(path: Path) -> int:
    return path.stat().st_mode & 0o777


async def test_the_second_worker_maps_what_the_first_has_loaded(
    worker: Open, writer: Writer, loads: Counter[str], path: Path
) -> None:
    await put(writer, "leave", "Everybody has 25 days of leave.")
    one, other = await worker(), await worker()
    await one.load(ANA)
    await other.load(ANA)

    assert (one.events, other.events) == ({"loaded": 1}, {"mapped": 1})
    assert loads == {"resident.tenant_documents": 1}
    assert await one.found(ANA, "days of leave") == ["leave"]
    assert await one.found(ANA, "days") == await other.found(ANA, "days")
    assert [mode_of(each) for each in (path, *files(path))] == [0o700, 0o600]
    assert files(path, ".new") == []


async def test_both_workers_hold_views_on_the_file_and_no_copy(
    worker: Open, writer: Writer
) -> None:
    await put(writer, "leave", "Everybody has 25 days of leave.")
    one, other = await worker(), await worker()
    await one.load(ANA)
    await other.load(ANA)

    for each in (one, other):
        for array in columns.split(base_of(each)).arrays.values():
            assert not array.flags.owndata
            assert not array.flags.writeable
        assert each.shards.size_bytes > 500  # mapped arrays count too


@pytest.mark.thorough
async def test_workers_that_search_at_once_load_once(
    worker: Open, writer: Writer, loads: Counter[str]
) -> None:
    await put(writer, "leave", "Everybody has 25 days of leave.")
    workers = [await worker() for _ in range(3)]
    await asyncio.gather(*(each.load(ANA) for each in workers))

    assert sum((each.events for each in workers), Counter()) == {"loaded": 1, "mapped": 2}
    assert loads == {"resident.tenant_documents": 1}


async def test_a_change_before_and_one_after_the_mapping_are_followed(
    worker: Open, writer: Writer, loads: Counter[str]
) -> None:
    await put(writer, "leave", "Everybody has 25 days of leave.")
    await put(writer, "travel", "Trains on days of leave.")
    one, other = await worker(), await worker()
    await one.load(ANA)
    await put(writer, "leave", "Nobody has days of leave.", owner="ben", readers=())
    await other.load(ANA)
    assert await other.found(ANA, "days of leave") == ["travel"]
    await put(writer, "bees", "Bees have no days of leave.")

    for each in (one, other):
        assert sorted(await each.found(ANA, "days of leave")) == ["bees", "travel"]
    assert loads == {"resident.tenant_documents": 1}


@pytest.mark.thorough
async def test_public_documents_are_shared_too(
    worker: Open, writer: Writer, loads: Counter[str]
) -> None:
    scope = everything("acme", "ana", [], receives_public=True)
    await put_document(writer, a_document("leave", "Leave.", readers=("public",)), "beta")
    await put(writer, "travel", "Trains on leave.")
    one, other = await worker(), await worker()
    for each in (one, other):
        await each.load(scope)
        assert sorted(await each.found(scope, "leave")) == ["leave", "travel"]
    assert other.events == {"mapped": 2}
    assert loads == {"resident.tenant_documents": 1, "resident.public_documents": 1}


@pytest.mark.thorough
async def test_one_worker_compacts_and_the_other_takes_its_base(
    worker: Open, writer: Writer, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("index.resident.resident_partition._CHANGED_ROWS_MAX", 3)
    compactions: list[Shard] = []
    compacted = Shard.compacted

    def counting(shard: Shard) -> Shard:
        compactions.append(shard)
        return compacted(shard)

    monkeypatch.setattr(Shard, "compacted", counting)
    for number in range(4):
        await put(writer, f"d{number}", f"Item {number} of the list.")
    one, other = await worker(), await worker()
    for each in (one, other):
        await each.load(ANA)
    for number in range(4, 9):
        await put(writer, f"d{number}", f"Item {number} of the list.")
    await one.found(ANA, "item of the list")
    await one.until(lambda: one.events["compacted"] == 1)
    await other.found(ANA, "item of the list")
    await other.until(lambda: other.events["mapped"] == 2)

    assert len(compactions) == 1
    for each in (one, other):
        assert len(base_of(each)) == 9
        assert not base_of(each).dense.flags.owndata
        assert len(await each.found(ANA, "item of the list")) == 5
    assert len(files(path)) == 1


async def test_a_file_of_an_ended_history_is_never_served(
    worker: Open, writer: Writer, tenants: TenantStore, loads: Counter[str]
) -> None:
    """As after a restore: the file has chunks of revisions that belong to another database."""
    await put(writer, "leave", "Everybody has 25 days of leave.")
    one = await worker()
    await one.load(ANA)
    await tenants.begin_history()
    other = await worker()
    await other.load(ANA)

    assert other.events == {"loaded": 1}
    assert await other.found(ANA, "days of leave") == ["leave"]
    third = await worker()
    await third.load(ANA)
    assert third.events == {"mapped": 1}  # what replaced it is of the new history


async def test_a_base_of_another_history_that_comes_while_a_search_waits_is_not_used(
    worker: Open, writer: Writer, monkeypatch: pytest.MonkeyPatch
) -> None:
    await put(writer, "leave", "Everybody has 25 days of leave.")
    one = await worker()
    await one.load(ANA)
    (shard,) = one.shards.use(ANA)
    resident = one.shards._residents["acme"]  # noqa: SLF001  where a compaction puts its base

    async def end_compaction(_database: Database, before: Shard) -> None:
        resident.shard = replace(before, history="another", revision=before.revision + 1)

    monkeypatch.setattr(shard_source, "follow", end_compaction)
    later = {"acme": shard.revision + 1}

    assert await one.shards.follow([shard], shard.history, later) is None
    assert one.events["outdated"] == 1


async def test_a_file_of_a_revision_that_the_database_lacks_is_never_served(
    worker: Open, writer: Writer, database_url: str
) -> None:
    await put(writer, "leave", "Everybody has 25 days of leave.")
    await put(writer, "travel", "Trains on days of leave.")
    one = await worker()
    await one.load(ANA)
    await run_sql(
        database_url,
        "UPDATE tenants SET revision = revision - 1 WHERE tenant = 'acme'",
    )
    other = await worker()
    await other.load(ANA)

    assert other.events == {"loaded": 1}


@pytest.mark.thorough
async def test_a_file_that_the_change_log_no_longer_reaches_back_to_is_replaced(
    worker: Open, writer: Writer, database_url: str
) -> None:
    await put(writer, "leave", "Everybody has 25 days of leave.")
    one = await worker()
    await one.load(ANA)
    await put(writer, "travel", "Trains on days of leave.")
    await run_sql(database_url, "DELETE FROM change_log WHERE tenant = 'acme'")
    for event in ("loaded", "mapped"):
        other = await worker()
        await other.load(ANA)
        assert other.events == {event: 1}
        assert sorted(await other.found(ANA, "days of leave")) == ["leave", "travel"]


async def test_a_broken_file_is_replaced(worker: Open, writer: Writer, path: Path) -> None:
    await put(writer, "leave", "Everybody has 25 days of leave.")
    one = await worker()
    await one.load(ANA)
    (file,) = files(path)
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 1
    other_file = path / "copy"  # writing in place would change what the first worker has mapped
    other_file.write_bytes(content)
    other_file.chmod(0o600)
    other_file.replace(file)

    for event in ("loaded", "mapped"):
        other = await worker()
        await other.load(ANA)
        assert other.events == {event: 1}
        assert await other.found(ANA, "days of leave") == ["leave"]


async def test_a_file_with_more_chunks_than_a_worker_may_hold_is_not_mapped(
    worker: Open, writer: Writer
) -> None:
    await put(writer, "leave", "Everybody has 25 days of leave.")
    await put(writer, "travel", "Trains on days of leave.")
    one, other = await worker(), await worker(chunks_max=1)
    await one.load(ANA)
    for _ in range(3):
        other.shards.use(ANA)
    await other.until(lambda: other.events["unsuitable"] == 1)

    assert other.shards.use(ANA) is None


@pytest.mark.thorough
async def test_a_file_of_another_edition_is_replaced(worker: Open, writer: Writer) -> None:
    await put(writer, "leave", "Everybody has 25 days of leave.")
    for edition, event in (("1", "loaded"), ("2", "loaded"), ("2", "mapped"), ("1", "loaded")):
        each = await worker(edition=edition)
        await each.load(ANA)
        assert each.events == {event: 1}


async def test_texts_are_views_on_the_file_and_are_followed(worker: Open, writer: Writer) -> None:
    await put(writer, "leave", "Everybody has 25 days of leave.")
    one, other = await worker(), await worker()
    for each in (one, other):
        await each.load(ANA)
        assert await each.found(ANA, "days of leave") == ["leave"]
    await put(writer, "travel", "Trains on days of leave.")

    assert sorted(await other.found(ANA, "days of leave")) == ["leave", "travel"]
    assert other.events == {"mapped": 1, "followed": 1}
    (shard,) = other.shards.use(ANA)
    mapped, added = (each.records for each in shard.segments)
    assert not mapped.json.flags.owndata
    assert mapped.fields(0)["text"] == "Everybody has 25 days of leave."
    assert added.fields(0)["text"] == "Trains on days of leave."


async def test_a_file_of_a_server_that_added_in_another_order_is_replaced(
    worker: Open, writer: Writer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As after an update of pgvector: the file is of the same history."""
    await put(writer, "leave", "Everybody has 25 days of leave.")
    probe = exact_scores.probe

    async def probe_another(session: Session) -> SumOrder | None:
        order = await probe(session)
        return order and replace(order, folds_lanes=not order.folds_lanes)

    with monkeypatch.context() as context:
        context.setattr(exact_scores, "probe", probe_another)
        one = await worker()
        await one.load(ANA)
    for event in ("loaded", "mapped"):
        other = await worker()
        await other.load(ANA)
        assert other.events == {event: 1}
        assert await other.found(ANA, "days of leave") == ["leave"]


@pytest.fixture(params=[0o755, 0o770, 0o701])
def open_path(request: pytest.FixtureRequest, path: Path) -> Path:
    """A folder to which others have some right."""
    path.mkdir()
    path.chmod(request.param)
    return path


async def test_a_folder_that_others_may_enter_is_not_used(
    worker: Open, writer: Writer, open_path: Path
) -> None:
    await put(writer, "leave", "Everybody has 25 days of leave.")
    for _ in range(2):
        each = await worker()
        await each.load(ANA)
        assert each.events == {"loaded": 1}
    assert files(open_path, "") == []


@pytest.fixture
def no_folder(path: Path) -> None:
    path.write_bytes(b"a file")


async def test_a_folder_that_cannot_be_made_is_not_used(
    worker: Open, writer: Writer, no_folder: None
) -> None:
    await put(writer, "leave", "Everybody has 25 days of leave.")
    each = await worker()
    await each.load(ANA)
    assert each.events == {"loaded": 1}


async def test_a_worker_that_waits_too_long_loads_by_itself(
    worker: Open, writer: Writer, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shard_folder, "_LOCK_ATTEMPTS", 3)
    monkeypatch.setattr(shard_folder, "_LOCK_POLL_S", 0.001)
    await put(writer, "leave", "Everybody has 25 days of leave.")
    async with ShardFolder(path, EDITION, 1 << 30).locked("acme") as is_locked:
        assert is_locked
        one = await worker()
        await one.load(ANA)
    assert one.events == {"loaded": 1}
    assert base_of(one).dense.flags.owndata  # nothing is written without the lock
    assert files(path) == []
    other = await worker()
    await other.load(ANA)
    assert len(files(path)) == 1


async def test_a_shard_that_postgresql_contradicted_is_loaded_and_not_mapped_again(
    worker: Open, writer: Writer, path: Path
) -> None:
    await put(writer, "leave", "Everybody has 25 days of leave.")
    one = await worker()
    await one.load(ANA)
    one.shards.refuse(["acme"])
    await one.until(lambda: files(path) == [])
    other = await worker()
    await other.load(ANA)
    assert other.events == {"loaded": 1}


async def test_a_load_that_is_cancelled_leaves_the_lock(
    worker: Open, writer: Writer, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await put(writer, "leave", "Everybody has 25 days of leave.")
    begun = asyncio.Event()

    async def hanging(*_arguments: Any, **_limits: Any) -> None:
        begun.set()
        await asyncio.Event().wait()

    with monkeypatch.context() as context:
        context.setattr(loading, "load", hanging)
        one = await worker()
        for _ in range(5):
            one.shards.use(ANA)
        await asyncio.wait_for(begun.wait(), 10)
        await one.shards.close()

    other = await worker()
    await other.load(ANA)
    assert other.events == {"loaded": 1}
    assert len(files(path)) == 1
