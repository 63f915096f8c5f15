"""The migration of chunks to this version's analyser of words, while searches and writes go on.

Until it is done, a search compares its words with those of older chunks too: what both analysers
read alike is found as before. An older version writes nothing from the first start of this one on.
"""

from index.jobs import job_queue
from index.jobs.job_queue import NewJob
from index.postgres.database import Database
from index.text import lexical

REANALYSE = "words.analyse"  # the kind of its jobs
_ATTEMPTS_MAX = 3  # the worker starts another one anyway


class AnalyserMigration:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def enqueue_due(self) -> list[str]:
        """Queue a job for each tenant with chunks of an older analyser; returns the tenants."""
        async with self._database.transaction() as session:
            await session.rows("jobs.lock_claims")
            tenants = [
                row["tenant"] for row in await session.rows("analyser_migration.due", REANALYSE)
            ]
            for tenant in tenants:
                await job_queue.enqueue_once(session, _job(tenant))
        return tenants

    async def is_due(self, tenant: str) -> bool:
        """Whether the tenant has chunks of an older analyser; none if it does not exist."""
        return await self._database.row("analyser_migration.is_due", tenant) is not None

    async def documents(self, tenant: str, *, after: str, limit: int) -> list[str]:
        """The documents with chunks whose identifiers come after this one, by identifier."""
        rows = await self._database.rows("analyser_migration.documents", tenant, after, limit)
        return [row["document_id"] for row in rows]

    async def finish(self, tenant: str) -> None:
        """All chunks of the tenant are of this version's analyser."""
        await self._database.rows("analyser_migration.finish", tenant, lexical.ANALYSER)


def _job(tenant: str) -> NewJob:
    return NewJob(
        tenant=tenant, kind=REANALYSE, target="words", payload=b"", attempts_max=_ATTEMPTS_MAX
    )
