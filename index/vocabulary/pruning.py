"""Prunes a tenant's vocabulary: removes words that no document has any more for its readers.

Words are not counted as documents change: a pruning reads all documents again, while writers
continue. It reads what they wrote meanwhile last, while writers wait.
"""

from collections.abc import Sequence

from common.shares.threads import FairThreads
from index.jobs.job_queue import NewJob
from index.postgres.database import Database
from index.postgres.session import Row, Session
from index.text import spelling
from index.vocabulary import vocabulary

PRUNE = "vocabulary.prune"  # the kind of such jobs
_PAGE_DOCUMENTS = 50


def job(tenant: str, due_s: float) -> NewJob:
    """The job that prunes; due_s: a delay, so that many deletions share one pruning."""
    return NewJob(tenant=tenant, kind=PRUNE, target="vocabulary", payload=b"", due_s=due_s)


class VocabularyPruning:
    def __init__(self, database: Database, threads: FairThreads) -> None:
        self._database = database
        self._threads = threads

    async def run(self, tenant: str) -> int:
        """Prune the vocabulary; return the number of removed entries. Raises `Saturated`."""
        async with self._database.transaction() as session:
            await session.rows("partitions.lock_tenant", tenant)
            unused = {row["entry"] for row in await session.rows("vocabulary.entries", tenant)}
            version = await session.value("vocabulary.prune_version", tenant)
        after = ""
        while unused:
            rows = await self._database.rows(
                "vocabulary.prune_page", tenant, after, _PAGE_DOCUMENTS
            )
            if not rows:
                break
            unused -= await self._threads.run(tenant, _entries, rows)
            after = rows[-1]["document_id"]
        if not unused:
            return 0
        async with self._database.transaction() as session:
            await session.rows("partitions.lock_tenant", tenant)
            rows = await session.rows("vocabulary.prune_since", tenant, version)
            unused -= await self._threads.run(tenant, _entries, rows)
            return await _forget(session, tenant, sorted(unused))


async def _forget(session: Session, tenant: str, entries: Sequence[str]) -> int:
    """Remove entries, and invalidate all of the tenant's answers, as any may depend on them."""
    removed: int = await session.value("vocabulary.prune_delete", tenant, entries)
    if removed:
        await session.rows("vocabulary.prune_skip_revision", tenant)
    return removed


def _entries(rows: Sequence[Row]) -> frozenset[str]:
    """What the vocabulary keeps of these documents."""
    return frozenset(
        entry
        for row in rows
        for entry in vocabulary.entries(
            row["readers"],
            spelling.vocabulary_words((row["title"], row["text"], *row["summaries"])),
        )
    )
