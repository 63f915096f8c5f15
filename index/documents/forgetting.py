"""What goes with a document that is forgotten, beside the rows that hang on it.

A vector belongs to words, not to a document: it goes if no document of the tenant has those words
any more. Whoever forgets asks so, and whoever writes keeps its vectors once more, with the tenant's
row locked; so neither misses the other's commit.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from index.jobs import job_queue
from index.jobs.job_queue import document_target
from index.postgres.database import Session
from index.text import vocabulary_pruning


@dataclass(frozen=True, slots=True)
class Forgotten:
    """How many vectors went with a document, and jobs that still held a version of it.

    words_job: the job that its words wait for.
    """

    embeddings: int
    jobs: int
    words_job: str


async def digests(session: Session, document_key: int) -> list[bytes]:
    """Of all that the document holds, and held in earlier versions; for `forget`."""
    return [row["digest"] for row in await session.rows("forgetting.digests", document_key)]


async def forget(
    session: Session, tenant: str, document_id: str, digests: Sequence[bytes], *, unlearn_s: float
) -> Forgotten:
    """After the revision was raised, which locks the tenant's row. Raises `QueueFull`.

    unlearn_s: in how many seconds its words are forgotten.
    """
    return Forgotten(
        embeddings=await session.value("forgetting.embeddings", tenant, digests),
        jobs=await forget_failed(session, tenant, document_id),
        words_job=await job_queue.enqueue_once(session, vocabulary_pruning.job(tenant, unlearn_s)),
    )


async def forget_failed(session: Session, tenant: str, document_id: str) -> int:
    """Forget the failed jobs that still hold a version of the document; how many there were."""
    count: int = await session.value("forgetting.jobs", tenant, document_target(document_id))
    return count


async def unmark_forgotten(
    session: Session, tenant: str, space: str, chunk_ids: Sequence[int]
) -> None:
    """Keep the vectors of new chunks, which somebody may have forgotten since they were looked up.

    After the revision was raised, which locks the tenant's row.
    """
    await session.rows("forgetting.keep_again", tenant, space, chunk_ids)
