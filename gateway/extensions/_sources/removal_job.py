"""The job that removes a source, also one that is a vector store."""

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from gateway.extension import Stores
from gateway.extensions._jobs.job_progress import REPORT_S
from gateway.extensions._sources.source_store import SourceStore
from index.documents.write_causes import Reading
from index.jobs.job_queue import ClaimedJob
from index.model.document import Document
from ingest.worker.job_turn import TURN_S_MAX, JobTurn
from ingest.write.writer import Writer


@dataclass(frozen=True, slots=True)
class RemoveSourceJob:
    """Removes a source and its documents, each with the same deletion as by its owner.

    Documents written after the removal was requested stay, and so does the source.
    turn_s: after which another job has its turn.
    """

    stores: Stores
    sources: SourceStore
    writer: Writer
    turn_s: float = TURN_S_MAX

    async def __call__(self, job: ClaimedJob) -> Mapping[str, Any]:
        assert job.source is not None, "a job of this kind has a source"
        removed: int = job.progress.get("removed", 0)
        reading, turn = Reading(job.run.sequence, job.run), JobTurn(self.turn_s)
        reported_s = now_s = asyncio.get_running_loop().time()
        while documents := await self.stores.documents.of_source(
            job.tenant, job.source, until=reading.sequence
        ):
            for document_id in documents:
                with suppress(_AlreadyRemoved):
                    await self.writer.remove(
                        job.tenant, document_id, _require_stored, reading, forget=True
                    )
                    removed += 1
                now_s = asyncio.get_running_loop().time()
                if now_s - reported_s > REPORT_S or turn.is_over:
                    reported_s = now_s
                    await self.stores.jobs.progress(job.run, {"removed": removed})
                    turn.require()
        await self.sources.remove(job.tenant, job.source)
        return {"removed": removed}


class _AlreadyRemoved(Exception):
    """Another process has removed the document."""


def _require_stored(stored: Document | None) -> None:
    if stored is None:
        raise _AlreadyRemoved
