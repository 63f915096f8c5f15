"""Backfill: a job that embeds a tenant's chunks that have no vector."""

from collections.abc import Mapping
from typing import Any

from gateway.extension import WorkerServices
from gateway.extensions._jobs.job_progress import report_progress
from gateway.extensions.reembed.embedding_migration import EmbeddingMigration
from gateway.extensions.reembed.reembedder import Reembedder, ReembedProgress
from index.jobs.job_queue import ClaimedJob, NewJob
from ingest.errors import JobRefused

BACKFILL = "embeddings.backfill"  # the kind of the job


def backfill_job(tenant: str, attempts_max: int) -> NewJob:
    return NewJob(
        tenant=tenant, kind=BACKFILL, target="vectors", payload=b"", attempts_max=attempts_max
    )


class BackfillJob:
    """Continues where an earlier attempt stopped: no chunk is embedded twice."""

    def __init__(self, services: WorkerServices) -> None:
        self._services = services

    async def __call__(self, claimed: ClaimedJob) -> Mapping[str, Any]:
        services, tenant = self._services, claimed.tenant
        space = await services.stores.documents.space(tenant)
        embedder = next((item for item in services.embedders if item.space == space), None)
        if space is None:
            return {"documents": 0, "embedded": 0}
        if embedder is None:
            raise JobRefused(f"The worker has no embedder for {space}. Configure it on the worker.")
        reembedder = Reembedder(
            services.stores.documents,
            EmbeddingMigration(services.stores.database),
            embedder,
            services.invalidation,
            services.writer.threads,
        )
        latest = ReembedProgress(1, 0, 0)

        def on_progress(progress: ReembedProgress) -> None:
            nonlocal latest
            latest = progress

        def counts() -> dict[str, int]:
            return {"documents": latest.documents, "embedded": latest.embedded}

        await report_progress(
            services.stores.jobs, claimed.run, reembedder.fill(tenant, on_progress), counts
        )
        return counts()
