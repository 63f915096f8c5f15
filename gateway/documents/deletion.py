"""Deletion: of a document with a receipt, of a tenant in the background; and the worker's jobs.

The local cache of a process may hold a deleted answer's bytes a little longer. The gateway never
serves them, because they are valid only up to an older revision; newer answers evict them.
"""

from collections.abc import Callable, Mapping
from typing import Any

import orjson
from starlette.responses import Response

from cache.protocol import Revisions
from gateway.auth.authenticated_request import AuthenticatedRequest
from gateway.bodies import schemas
from gateway.documents.deletion_schemas import DeletedCounts, DeletionAnswer
from gateway.documents.document_endpoints import document_id_of, written_response
from gateway.documents.document_services import DocumentServices
from gateway.documents.document_update import require_editable
from gateway.documents.preconditions import require_no_queued_write, require_preconditions
from gateway.http.request.request_context import RequestContext
from gateway.http.responses import queued_body, queued_response
from gateway.problems import problems
from index.errors import QueueFull
from index.jobs.job_queue import ClaimedJob, NewJob
from index.model.document import Document
from index.model.scope import PUBLIC
from index.tenants import tenant_deletion
from index.tenants.tenant_deletion import TenantDeletion
from index.vocabulary import pruning
from index.vocabulary.pruning import VocabularyPruning
from ingest.worker.job_turn import JobTurn

DROP_ANSWERS = (
    "cached_answers.drop"  # the kind of jobs that drop cached answers when Redis is available again
)
# Job kinds that every writer of the tenant may see: many deletions wait for one job.
TENANT_VISIBLE_KINDS = {DROP_ANSWERS, pruning.PRUNE}


async def delete_document(context: RequestContext[DocumentServices]) -> Response:
    """Delete a document; the response lists what is still pending."""
    caller = await context.authenticate()
    return await remove_document(context, caller, document_id_of(context), require_editable)


async def remove_document(
    context: RequestContext[DocumentServices],
    caller: AuthenticatedRequest,
    document_id: str,
    require: Callable[[AuthenticatedRequest, Document | None], Document],
    noun: str = "document",
) -> Response:
    """require: answers the stored document, or raises a `Problem` if it must not be deleted.

    noun: what a problem calls it.
    """
    services, tenant = context.services, caller.principal.tenant
    was_public = False

    def permit(stored: Document | None) -> None:
        nonlocal was_public
        was_public = PUBLIC in require(caller, stored).readers
        require_preconditions(context.request, stored, noun)

    await require_no_queued_write(context.request, services.stores.jobs, tenant, document_id)
    with context.span("write"):
        removal = await services.writer.remove(tenant, document_id, permit, forget=True)
    assert removal.forgotten is not None
    pending = {"vocabulary": queued_body(removal.forgotten.words_job).status_url}
    if not await _drop_invalid_answers(services, tenant, everywhere=was_public):
        pending["cached_answers"] = await _enqueue_drop(services, tenant, everywhere=was_public)
    return written_response(
        caller,
        DeletionAnswer(
            document_id=removal.document_id,
            revision=removal.revision,
            deleted=DeletedCounts(
                chunks=removal.removed,
                embeddings=removal.forgotten.embeddings,
                jobs=removal.forgotten.jobs,
            ),
            pending=pending,
        ),
        removal,
        202 if "cached_answers" in pending else 200,
    )


async def delete_tenant(context: RequestContext[DocumentServices]) -> Response:
    """Close the tenant at once: its keys, writes to it and new tenants of its name are refused.

    Other tenants no longer find its public documents: the new revision is committed before the
    response, and no cache serves an answer that this revision invalidates.
    """
    tenant = schemas.parse_value("tenant", schemas.TENANT, context.request.path_params["tenant"])
    closed = await TenantDeletion(context.services.stores.database).close(tenant)
    if closed is None:
        raise problems.not_found("tenant", "The tenant does not exist.")
    if closed.was_public:  # while Redis is unavailable the job does it
        await _drop_invalid_answers(context.services, tenant, everywhere=True)
    return queued_response(closed.job_id)


async def _drop_invalid_answers(
    services: DocumentServices, tenant: str, *, everywhere: bool
) -> bool:
    """Drop the cached answers that the tenant's changes invalidate; False if Redis is unavailable.

    everywhere: other tenants' answers too, because they may contain its public documents.
    """
    history, revisions = await services.stores.tenants.all_revisions()
    public_revision = revisions.pop(PUBLIC)
    for partition, revision in revisions.items():
        if everywhere or partition == tenant:
            current = Revisions(history, {partition: revision, PUBLIC: public_revision})
            if not await services.invalidation.drain_until_current(partition, current):
                return False
    return True


async def _enqueue_drop(services: DocumentServices, tenant: str, *, everywhere: bool) -> str:
    """Queue the drop and return its status URL; empty if the queue is full: searches drain then."""
    job = NewJob(
        tenant=tenant,
        kind=DROP_ANSWERS,
        target=f"cached_answers:{'everywhere' if everywhere else 'own'}",
        payload=orjson.dumps(everywhere),
        attempts_max=tenant_deletion.ATTEMPTS_MAX,
    )
    try:
        return queued_body(await services.stores.jobs.enqueue_once(job)).status_url
    except QueueFull:
        return ""


class CacheNotCleared(Exception):
    """Redis may still hold invalid answers; the job retries."""


class DropAnswersJob:
    def __init__(self, services: DocumentServices) -> None:
        self._services = services

    async def __call__(self, job: ClaimedJob) -> Mapping[str, Any]:
        if not await _drop_invalid_answers(
            self._services, job.tenant, everywhere=orjson.loads(job.payload)
        ):
            raise CacheNotCleared
        return {"cached_answers": "deleted"}


class PruneVocabularyJob:
    def __init__(self, services: DocumentServices) -> None:
        self._services = services

    async def __call__(self, job: ClaimedJob) -> Mapping[str, Any]:
        words = await VocabularyPruning(
            self._services.stores.database, self._services.writer.threads
        ).run(job.tenant)
        await _drop_invalid_answers(self._services, job.tenant, everywhere=False)
        return {"vocabulary_words": words}


class RemoveTenantJob:
    """Continues where an earlier attempt stopped. The result is the receipt."""

    def __init__(self, services: DocumentServices) -> None:
        self._services = services

    async def __call__(self, job: ClaimedJob) -> Mapping[str, Any]:
        services, run, turn = self._services, job.run, JobTurn()
        tenant = job.target.removeprefix(tenant_deletion.target(""))
        deletion = TenantDeletion(services.stores.database)
        counts = await deletion.progress(job.job_id)
        if await deletion.exists(tenant):
            await deletion.wait_for_writers(tenant)
            while await deletion.remove_documents(tenant, run, counts):
                turn.require()
            for kind in ("embeddings", "words", "event_versions"):
                while await deletion.remove_rows(tenant, kind, run, counts):
                    turn.require()
            await deletion.drop_partition(tenant)
            await deletion.end(tenant, run, counts)
        cached = await services.store.drop_tenant(tenant)
        if not await _drop_invalid_answers(services, tenant, everywhere=True):
            raise CacheNotCleared
        return {"tenant": tenant, **orjson.loads(job.payload), **counts, "cached": cached}
