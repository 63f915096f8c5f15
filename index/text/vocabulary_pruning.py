"""What a tenant's vocabulary forgets: the words that no document holds that all of it may read.

Nobody counts words as documents come and go: they are read anew, while writers go on. What was
written meanwhile is read last, while writers wait.
"""

import asyncio
from collections.abc import Sequence

from index.jobs.job_queue import NewJob
from index.postgres.database import Database, Row, Session
from index.text import spelling

UNLEARN = "words"  # the kind of such jobs
_PAGE_DOCUMENTS = 50


def job(tenant: str, due_s: float) -> NewJob:
    """due_s: so that many deletions are one reading."""
    return NewJob(tenant=tenant, kind=UNLEARN, target="vocabulary", payload=b"", due_s=due_s)


class VocabularyPruning:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def run(self, tenant: str) -> int:
        """How many words are forgotten; nothing but the vocabulary and caches of it change."""
        async with self._database.transaction() as session:
            await session.rows("shelves.close", tenant)
            known = {row["word"] for row in await session.rows("unlearning.words", tenant)}
            version = await session.value("unlearning.version", tenant)
        after = 0
        while known:
            rows = await self._database.rows("unlearning.page", tenant, after, _PAGE_DOCUMENTS)
            if not rows:
                break
            known -= await _words(rows)
            after = rows[-1]["document_key"]
        if not known:
            return 0
        async with self._database.transaction() as session:
            await session.rows("shelves.close", tenant)
            known -= await _words(await session.rows("unlearning.since", tenant, version))
            return await _forget(session, tenant, sorted(known))


async def _forget(session: Session, tenant: str, words: Sequence[str]) -> int:
    """Answers that hang on the vocabulary can't be told from others, so all of the tenant's go."""
    gone: int = await session.value("unlearning.forget", tenant, words)
    if gone:
        await session.rows("unlearning.tell", tenant)
    return gone


async def _words(rows: Sequence[Row]) -> frozenset[str]:
    texts = [text for row in rows for text in (row["title"], row["text"], *row["summaries"])]
    return await asyncio.to_thread(spelling.vocabulary_words, texts)
