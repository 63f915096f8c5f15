"""The audit compares the index with its texts, and reports and repairs each problem."""

import asyncio
from collections import Counter

import asyncpg
import pytest

from gateway.extensions.audits.consistency_counts import ConsistencyReader
from gateway.extensions.audits.index_audit import IndexAudit
from gateway.extensions.jobs.job_store import JobStore
from gateway.worker.index_problem import IndexProblem
from index.documents.document_store import DocumentStore
from index.embedders.index_version import check_or_create
from index.jobs.job_queue import JobQueue, NewJob, document_target
from index.model.query import Query
from index.model.scope import everything
from index.postgres.database import Database
from index.search.searcher import Searcher
from ingest.write.writer import Writer
from tests.index.support.samples import RecordingEmbedder, RecordingInvalidation, a_document, put

pytestmark = pytest.mark.anyio

ANA = everything("acme", "ana", [], receives_public=True)
PARTS = "\n\n".join(f"# Part {number}\n\nWhat part {number} says." for number in range(4))
# The second chunk of the document `parts`; what is done to it, and which problems that makes.
VICTIM = """
    CREATE TEMP TABLE victim AS
    SELECT chunk_id, document_key, digest FROM chunk_texts JOIN documents USING (document_key)
    WHERE tenant = 'acme' AND document_id = 'parts' ORDER BY chunk_id OFFSET 1 LIMIT 1
"""
DAMAGES = {
    "a vector is lost": (
        "DELETE FROM chunks WHERE chunk_id = (SELECT chunk_id FROM victim)",
        {"orphan"},
    ),
    "a text is lost": (
        "DELETE FROM chunk_texts WHERE chunk_id = (SELECT chunk_id FROM victim)",
        {"orphan", "digest", "count"},
    ),
    "a vector is another's": (
        """
        UPDATE chunks SET dense = embeddings.dense FROM embeddings, victim
        WHERE embeddings.digest <> victim.digest AND chunks.chunk_id = victim.chunk_id
        """,
        {"vector"},
    ),
    "a vector is of another space": (
        "UPDATE chunks SET dense = '[1,2,3]' WHERE chunk_id = (SELECT chunk_id FROM victim)",
        {"vector"},
    ),
    "what was embedded is forgotten": (
        "DELETE FROM embeddings WHERE digest = (SELECT digest FROM victim)",
        {"vector"},
    ),
    "a digest is none of its text": (
        """
        UPDATE chunk_texts SET digest = '\\x00' WHERE chunk_id = (SELECT chunk_id FROM victim)
        """,
        {"digest", "vector"},
    ),
    "a chunk stands elsewhere in the text": (
        """
        UPDATE chunk_texts SET start_at = start_at + 1
        WHERE chunk_id = (SELECT chunk_id FROM victim)
        """,
        {"digest"},
    ),
    "a chunk is there twice": (
        """
        INSERT INTO chunks (partition_no, tenant, document_key, dense, lexical)
        SELECT partition_no, tenant, document_key, dense, lexical FROM chunks
        WHERE chunk_id = (SELECT chunk_id FROM victim)
        """,
        {"orphan"},
    ),
    "its chunks are counted wrongly": (
        "UPDATE documents SET chunks = 3 WHERE document_id = 'parts' AND tenant = 'acme'",
        {"count"},
    ),
    "the tenant's chunks are counted wrongly": (
        "UPDATE tenants SET chunks = chunks + 1, public_chunks = 7 WHERE tenant = 'acme'",
        {"count"},
    ),
    "public chunks are counted wrongly": (
        "UPDATE tenants SET chunks = chunks + 1 WHERE tenant = 'public'",
        {"count"},
    ),
    "an old space is left": (
        "INSERT INTO embeddings SELECT tenant, 'old', digest, dense FROM embeddings",
        {"space"},
    ),
    "the text is another's": (
        """
        UPDATE document_texts SET text = text || ' More.'
        WHERE document_key = (SELECT document_key FROM victim)
        """,
        {"count", "digest"},
    ),
}


@pytest.fixture(autouse=True)
async def full(
    database: Database,
    writer: Writer,
    embedder: RecordingEmbedder,
    connection: "asyncpg.Connection[asyncpg.Record]",
) -> None:
    await check_or_create(database, embedder)
    await put(writer, a_document("parts", PARTS))
    await put(writer, a_document("leave", readers=["public"]))
    await put(writer, a_document("gas", "Ours burns gas."), tenant="beta")
    await connection.execute(VICTIM)


@pytest.fixture
def jobs(database: Database) -> JobQueue:
    return JobQueue(database)


async def audited(
    database: Database, writer: Writer, *, repair: bool = False
) -> list[IndexProblem]:
    audit = IndexAudit(ConsistencyReader(database), writer, ["coming"], repair)
    return [problem async for problem in audit.problems("acme", lambda _: None)]


async def shown(searcher: Searcher) -> list[tuple[str, str, float]]:
    """What a search shows, but for the identifiers of chunks."""
    found = await searcher.search(ANA, Query("what part 1 of the leave says", top_k=10))
    return [(hit.document_id, hit.text, hit.score) for hit in found.hits]


async def test_a_sound_index_has_no_problems(database: Database, writer: Writer) -> None:
    assert await audited(database, writer) == []


@pytest.mark.slow
@pytest.mark.parametrize(
    "chunker", ["characters:200/50", "tokens:50/10", "messages:10", "model", "whole"]
)
async def test_however_a_text_is_cut_that_is_no_problem(
    database: Database, writer: Writer, chunker: str
) -> None:
    await put(writer, a_document("book", PARTS * 5, chunker=chunker))

    assert await audited(database, writer) == []


async def test_each_problem_is_reported_and_repaired(
    database: Database,
    writer: Writer,
    searcher: Searcher,
    connection: "asyncpg.Connection[asyncpg.Record]",
) -> None:
    before = await shown(searcher)
    for name, (statement, kinds) in DAMAGES.items():
        await connection.execute(statement)

        problems = await audited(database, writer)
        mended = await audited(database, writer, repair=True)

        assert {problem.kind for problem in problems} == kinds, name
        assert not any(problem.is_repaired for problem in problems), name
        assert {problem.kind for problem in mended} == kinds, name
        assert all(problem.is_repaired for problem in mended), name
        assert await audited(database, writer) == [], name
        assert {problem.where for problem in problems} <= {"parts", "", "old"}, name
        if name != "the text is another's":  # the last one
            assert await shown(searcher) == before, name
        await connection.execute(f"DROP TABLE victim; {VICTIM}")  # which has other chunks now


async def test_what_is_lost_is_not_mended(
    database: Database, writer: Writer, connection: "asyncpg.Connection[asyncpg.Record]"
) -> None:
    await connection.execute(
        "DELETE FROM document_texts WHERE document_key = (SELECT document_key FROM victim)"
    )

    problem, count = await audited(database, writer, repair=True)

    assert (count.kind, count.is_repaired) == ("count", True)  # of the tenant's bytes
    assert (problem.kind, problem.where, problem.is_repaired) == ("text", "parts", False)


async def test_mending_is_a_change_that_caches_hear_of_and_costs_nothing(
    database: Database,
    writer: Writer,
    documents: DocumentStore,
    embedder: RecordingEmbedder,
    invalidation: RecordingInvalidation,
    connection: "asyncpg.Connection[asyncpg.Record]",
) -> None:
    before = await documents.stored("acme", "parts")
    assert before is not None
    await connection.execute(DAMAGES["a chunk is there twice"][0])
    embedder.texts.clear()

    await audited(database, writer, repair=True)

    after = await documents.stored("acme", "parts")
    assert after is not None
    tenant, revisions = invalidation.drained[-1]
    change = await connection.fetchrow(
        "SELECT * FROM change_log WHERE tenant = 'acme' ORDER BY revision DESC"
    )
    assert change is not None
    assert embedder.texts == []
    assert (tenant, revisions["acme"]) == ("acme", before.revision + 1)
    assert set(before.chunk_ids) < set(change["removed_chunks"])
    assert len(change["removed_chunks"]) == len(before.chunk_ids) + 1
    assert tuple(change["added_chunks"]) == after.chunk_ids


async def test_mending_overtakes_nothing_that_is_queued(
    database: Database,
    writer: Writer,
    jobs: JobQueue,
    connection: "asyncpg.Connection[asyncpg.Record]",
) -> None:
    job = NewJob(
        tenant="acme", kind="document.write", target=document_target("parts"), payload=b"{}"
    )
    job_id = await jobs.enqueue_document("parts", job)
    await connection.execute(DAMAGES["a vector is lost"][0])

    assert await audited(database, writer, repair=True)

    queued = await JobStore(database).get("acme", job_id)
    assert queued is not None
    assert queued.state == "waiting"


@pytest.mark.thorough
@pytest.mark.slow
async def test_who_writes_meanwhile_is_taken_for_no_problem(
    database: Database, writer: Writer
) -> None:
    done = asyncio.Event()

    async def write() -> None:
        for number in range(60):
            await put(writer, a_document(f"d{number % 7}", PARTS + f" Version {number}."))
        done.set()

    async def audit() -> Counter[str]:
        found: Counter[str] = Counter()
        while not done.is_set():
            found.update(problem.kind for problem in await audited(database, writer))
        return found

    _, found = await asyncio.gather(write(), audit())

    assert found == {}
