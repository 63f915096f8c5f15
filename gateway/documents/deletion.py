"""Forgetting: a document with a receipt, a tenant in the background; and what a worker does of it.

A process's own memory may hold the bytes of an answer a little longer: nobody is served them, for
they are known good up to an older revision only, and the next answers push them out.
"""

from collections.abc import Mapping
from typing import Any

import orjson
from starlette.responses import Response

from cache.protocol import Revisions
from gateway import problems, schemas
from gateway.documents.deletion_schemas import DeletedCounts, DeletionAnswer
from gateway.documents.document_endpoints import document_id_of, require_editable
from gateway.http.request_context import RequestContext, json_response, queued_body, queued_response
from gateway.services import Services
from index.errors import QueueFull
from index.jobs.job_queue import ClaimedJob, NewJob
from index.model.document import Document
from index.model.scope import PUBLIC
from index.tenants import tenant_deletion
from index.tenants.tenant_deletion import TenantDeletion
from index.text import vocabulary_pruning
from index.text.vocabulary_pruning import VocabularyPruning

ANSWERS = "answers"  # the kind of jobs that drop cached answers once Redis is back
EVERYBODYS = {ANSWERS, vocabulary_pruning.UNLEARN}  # kinds of jobs that many documents wait for


async def delete_document(exchange: RequestContext) -> Response:
    """All of it is gone once this is answered, but for what the answer calls pending."""
    admitted = await exchange.authenticate()
    services, tenant = exchange.services, admitted.principal.tenant
    was_public = False

    def permit(stored: Document | None) -> None:
        nonlocal was_public
        was_public = PUBLIC in require_editable(admitted, stored).readers

    done = await services.writer.remove(tenant, document_id_of(exchange), permit, forget=True)
    assert done.forgotten is not None
    pending = {"words": queued_body(done.forgotten.words_job).status_url}
    if not await _dropped(services, tenant, everywhere=was_public):
        pending["answers"] = await _later(services, tenant, everywhere=was_public)
    return json_response(
        DeletionAnswer(
            document_id=done.document_id,
            revision=done.revision,
            forgotten=DeletedCounts(
                chunks=done.removed,
                embeddings=done.forgotten.embeddings,
                jobs=done.forgotten.jobs,
            ),
            pending=pending,
        ),
        202 if "answers" in pending else 200,
    )


async def delete_tenant(exchange: RequestContext) -> Response:
    """It is closed at once: no key of it, no write to it and no name like it is taken any more.

    Other tenants find nothing of it from here on: the revision that says so is committed before the
    answer, and no cache serves an answer that has not survived it.
    """
    tenant = schemas.parse_value("tenant", schemas.TENANT, exchange.request.path_params["tenant"])
    closed = await TenantDeletion(exchange.services.database).close(tenant)
    if closed is None:
        raise problems.not_found("tenant", "There is no such tenant.")
    if closed.was_public:  # while Redis is away the job does it
        await _dropped(exchange.services, tenant, everywhere=True)
    return queued_response(closed.job_id)


async def _dropped(services: Services, tenant: str, *, everywhere: bool) -> bool:
    """Whether Redis holds no answer any more that the tenant's changes so far doom.

    everywhere: in other tenants' answers too, for all of them may have read it.
    """
    history, revisions = await services.tenants.all_revisions()
    everyone = revisions.pop(PUBLIC)
    for home, revision in revisions.items():
        if everywhere or home == tenant:
            now = Revisions(history, {home: revision, PUBLIC: everyone})
            if not await services.invalidation.drain_until_current(home, now):
                return False
    return True


async def _later(services: Services, tenant: str, *, everywhere: bool) -> str:
    """Where to see how far that is; empty if no more can be queued: the next reader drops them."""
    job = NewJob(
        tenant=tenant,
        kind=ANSWERS,
        target=f"{ANSWERS}:{'everywhere' if everywhere else 'own'}",
        payload=orjson.dumps(everywhere),
        attempts_max=tenant_deletion.ATTEMPTS_MAX,
    )
    try:
        return queued_body(await services.jobs.enqueue_once(job)).status_url
    except QueueFull:
        return ""


class CacheNotCleared(Exception):
    """Try again: what Redis holds may still have to be dropped."""


class DropAnswersJob:
    def __init__(self, services: Services) -> None:
        self._services = services

    async def __call__(self, job: ClaimedJob) -> Mapping[str, Any]:
        if not await _dropped(self._services, job.tenant, everywhere=orjson.loads(job.payload)):
            raise CacheNotCleared
        return {"answers": "gone"}


class PruneVocabularyJob:
    def __init__(self, services: Services) -> None:
        self._services = services

    async def __call__(self, job: ClaimedJob) -> Mapping[str, Any]:
        words = await VocabularyPruning(self._services.database).run(job.tenant)
        await _dropped(self._services, job.tenant, everywhere=False)
        return {"words": words}


class RemoveTenantJob:
    """Goes on where an earlier attempt ended. The result is the receipt."""

    def __init__(self, services: Services) -> None:
        self._services = services

    async def __call__(self, job: ClaimedJob) -> Mapping[str, Any]:
        services, run = self._services, job.run
        tenant, left = (
            job.target.removeprefix(tenant_deletion.target("")),
            TenantDeletion(services.database),
        )
        told = await left.progress(job.job_id)
        if await left.exists(tenant):
            await left.wait_for_writers(tenant)
            while await left.remove_documents(tenant, run, told):
                pass
            for kind in ("embeddings", "words", "event_versions"):
                while await left.remove_rows(tenant, kind, run, told):
                    pass
            await left.drop_shelf(tenant)
            await left.end(tenant, run, told)
        cached = await services.store.drop_tenant(tenant)
        if not await _dropped(services, tenant, everywhere=True):
            raise CacheNotCleared
        return {"tenant": tenant, **orjson.loads(job.payload), **told, "cached": cached}
