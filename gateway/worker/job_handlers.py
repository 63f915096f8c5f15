"""The handlers of each job kind; a job has the present rights of the key that created it."""

from collections.abc import Mapping
from functools import partial
from typing import Any

from cache.protocol import Revisions
from gateway.auth.authenticated_request import AuthenticatedRequest
from gateway.auth.authenticator import utc_now
from gateway.bodies import schemas
from gateway.documents import document_endpoints, document_update
from gateway.documents.deletion import (
    DROP_ANSWERS,
    DropAnswersJob,
    PruneVocabularyJob,
    RemoveTenantJob,
)
from gateway.documents.document_schemas import DocumentBody
from gateway.problems.problems import Problem
from gateway.worker.worker_services import WorkerServices
from index.errors import RightsLost
from index.jobs.job_queue import ClaimedJob
from index.tenants import tenant_deletion
from index.vocabulary.pruning import PRUNE
from ingest.errors import JobRefused
from ingest.worker.job_worker import Handler
from ingest.write.revision import require_written

SUPERSEDED = {"superseded": True}  # as in sql/jobs.sql


def handlers(services: WorkerServices) -> dict[str, Handler]:
    """The handler of each job kind; a worker leaves jobs of unknown kinds to newer workers."""
    return {
        "document.write": PutDocumentJob(services),
        DROP_ANSWERS: DropAnswersJob(services.document_services),
        PRUNE: PruneVocabularyJob(services.document_services),
        tenant_deletion.REMOVE: RemoveTenantJob(services.document_services),
        **services.handlers,
    }


class PutDocumentJob:
    """Writes a queued document. It is idempotent: an unchanged document makes no revision.

    The text, owner or readers that a later write has set are not overwritten.
    """

    def __init__(self, services: WorkerServices) -> None:
        self._services = services

    async def __call__(self, job: ClaimedJob) -> Mapping[str, Any]:
        caller = await _job_owner(self._services, job)
        document_id = job.target.removeprefix("document:")
        try:
            threads = self._services.writer.threads.of(job.tenant)
            parse = partial(schemas.parse, DocumentBody)
            (body,) = await threads.map(parse, [job.payload])
            language = self._services.settings.language
            put = document_update.put_of(caller, document_id, body, language)
            (outcome,) = await self._services.writer.put_all(job.tenant, [put], job.run)
            written = require_written(outcome)
        except Problem as problem:
            raise JobRefused(problem.detail) from None
        return (
            SUPERSEDED
            if written.is_superseded
            else document_endpoints.write_answer(written).model_dump()
        )


async def _job_owner(services: WorkerServices, job: ClaimedJob) -> AuthenticatedRequest:
    """The creator of the job with its present rights. Raises `JobRefused` and `RightsLost`."""
    assert job.key_id is not None, "a job of this kind has a key"
    principal = await services.stores.principals.holder_now(job.tenant, job.key_id)
    if principal is None or (
        principal.expires_at is not None and principal.expires_at <= utc_now()
    ):
        raise RightsLost
    if {"writer", "admin"}.isdisjoint(principal.roles):
        raise JobRefused("The key that created the job may no longer write.")
    revisions = Revisions(principal.history, {})
    return AuthenticatedRequest(principal, revisions, revisions)
