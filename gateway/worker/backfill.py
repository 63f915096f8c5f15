"""Backfill: a tenant's texts that have no vector in its space get one, through the queue."""

from collections.abc import Mapping
from typing import Any

from gateway.worker.worker_services import WorkerServices
from index.embedders.embedding_migration import EmbeddingMigration
from index.jobs.job_queue import ClaimedJob, NewJob
from ingest.errors import JobRefused
from ingest.worker.job_progress import report_progress
from ingest.write.reembed import Reembedder, ReembedProgress

BACKFILL = "backfill"  # the kind of such jobs


def job(tenant: str, attempts_max: int) -> NewJob:
    return NewJob(
        tenant=tenant, kind=BACKFILL, target="vectors", payload=b"", attempts_max=attempts_max
    )


class BackfillJob:
    """What is interrupted goes on where it stopped: no vector that is there is paid for again."""

    def __init__(self, services: WorkerServices) -> None:
        self._services = services

    async def __call__(self, claimed: ClaimedJob) -> Mapping[str, Any]:
        services, tenant = self._services, claimed.tenant
        space = await services.stores.documents.space(tenant)
        embedder = next((each for each in services.embedders if each.space == space), None)
        if space is None:
            return {"documents": 0, "embedded": 0}
        if embedder is None:
            raise JobRefused(f"No embedder for {space} is configured where the worker runs.")
        filler = Reembedder(
            services.stores.documents,
            EmbeddingMigration(services.stores.database),
            embedder,
            services.invalidation,
        )
        so_far = ReembedProgress(1, 0, 0)

        def note(progress: ReembedProgress) -> None:
            nonlocal so_far
            so_far = progress

        def told() -> dict[str, int]:
            return {"documents": so_far.documents, "embedded": so_far.embedded}

        await report_progress(services.stores.jobs, claimed.run, filler.fill(tenant, note), told)
        return told()
