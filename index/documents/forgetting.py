"""Deletes what remains of a forgotten document beside its own rows.

A vector belongs to a text, not to a document: it is deleted once no document of the tenant has that
text. A deletion checks this, and `documents.advance` stores the vectors of a write again, both with
the tenant's row locked; so neither misses the other's commit.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from index.jobs import job_queue
from index.jobs.job_queue import document_target
from index.postgres.session import Session
from index.vocabulary import pruning


@dataclass(frozen=True, slots=True)
class Forgotten:
    """The number of vectors deleted with a document, and of jobs that still held a version of it.

    words_job: the job that will prune its words from the vocabulary.
    """

    embeddings: int
    jobs: int
    words_job: str


async def digests(session: Session, document_key: int) -> list[bytes]:
    """The digests of all chunks of the document and of its earlier versions; for `forget`."""
    return [row["digest"] for row in await session.rows("forgetting.digests", document_key)]


async def forget(
    session: Session, tenant: str, document_id: str, digests: Sequence[bytes], *, unlearn_s: float
) -> Forgotten:
    """Delete what remains of the document. Raises `QueueFull`.

    The caller has raised the revision, which locks the tenant's row.
    unlearn_s: the delay until its words are pruned from the vocabulary.
    """
    await session.rows("forgetting.delete_past", tenant, document_id)
    return Forgotten(
        embeddings=await session.value("forgetting.delete_embeddings", tenant, digests),
        jobs=await forget_failed(session, tenant, document_id),
        words_job=await job_queue.enqueue_once(session, pruning.job(tenant, unlearn_s)),
    )


async def forget_failed(session: Session, tenant: str, document_id: str) -> int:
    """Delete the failed jobs that still hold a version of the document; return their number."""
    count: int = await session.value(
        "forgetting.delete_failed_jobs", tenant, document_target(document_id)
    )
    return count
