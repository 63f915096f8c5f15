"""Reanalysis: a job that analyses the words of a tenant's chunks as this version does."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import structlog

from gateway.extension import WorkerServices
from gateway.extensions._jobs.job_progress import report_progress
from gateway.extensions.reembed.analyser_migration import AnalyserMigration
from index.documents.stored_document import StoredDocument
from index.jobs.job_queue import ClaimedJob
from ingest.worker import job_slot

_PAGE_DOCUMENTS = 100  # a starting value, not measured

log = structlog.get_logger()


async def enqueue_reanalyses(services: WorkerServices) -> None:
    """Queue the analysis of words for each tenant with chunks of an older analyser."""
    for tenant in await AnalyserMigration(services.stores.database).enqueue_due():
        log.info("reanalysis", state="due", tenant=tenant)


def _without_words(stored: StoredDocument) -> StoredDocument:
    """What lacks only the words of its chunks: those of no language are analysed otherwise."""
    return replace(stored, document=replace(stored.document, language=""))


class ReanalysisJob:
    """An interrupted job begins again: to analyse a chunk twice changes nothing."""

    def __init__(self, services: WorkerServices) -> None:
        self._services = services

    async def __call__(self, claimed: ClaimedJob) -> Mapping[str, Any]:
        services, tenant = self._services, claimed.tenant
        migration = AnalyserMigration(services.stores.database)
        documents = 0

        async def analyse() -> None:
            nonlocal documents
            after = ""
            while page := await migration.documents(tenant, after=after, limit=_PAGE_DOCUMENTS):
                for document_id in page:
                    await job_slot.in_turns(
                        services.writer.write_again(
                            tenant, document_id, _without_words, claimed.run
                        )
                    )
                documents += len(page)
                after = page[-1]
            await migration.finish(tenant)

        def counts() -> dict[str, int]:
            return {"documents": documents}

        if await migration.is_due(tenant):
            await report_progress(services.stores.jobs, claimed.run, analyse(), counts)
        return counts()
