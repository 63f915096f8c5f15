"""Documents over HTTP: owners and admins write them, readers read them."""

import re
from dataclasses import replace
from typing import Any

from pydantic import BaseModel, TypeAdapter
from starlette.responses import Response

from gateway.auth.authenticated_request import AuthenticatedRequest
from gateway.auth.authenticator import utc_now
from gateway.auth.credentials import issue_job_token
from gateway.bodies import schemas
from gateway.bodies.document_address import address_of
from gateway.documents.document_schemas import (
    AccessBody,
    ChunksAnswer,
    DocumentAnswer,
    DocumentBody,
    DocumentChunkAnswer,
    DocumentSummary,
    RevisionAnswer,
    WarningAnswer,
    WrittenAnswer,
)
from gateway.documents.document_services import DocumentServices
from gateway.documents.document_update import (
    author_of,
    is_admin,
    may_publish,
    no_such_document,
    parts_of,
    put_of,
    require_editable,
    with_access,
)
from gateway.documents.preconditions import (
    has_preconditions,
    queued_write_exists,
    require_no_queued_write,
    with_etag,
    with_preconditions,
)
from gateway.http.request.request_context import RequestContext, full_scope
from gateway.http.responses import (
    encoded_page,
    json_response,
    queued_response,
    read_response,
    with_revision,
)
from gateway.problems import problems
from index.documents.rows import DatedDocument
from index.errors import EmbeddingUnavailable, TenantMissing
from index.jobs import job_queue
from index.jobs.job_queue import NewJob
from index.model.chunk_kind import kind_of
from index.model.document import Document
from index.model.query import Filter
from index.model.relations import relations_of
from index.tenants.principals import Principal
from ingest.chunkers.registry import rebuild_chunks
from ingest.summaries.summary import rebuild_summaries
from ingest.write.revision import Put, Written, require_accepted, require_written

_PAGE_MAX = 100
_COUNTED_MAX = 10_001  # documents of a list


async def put_document(context: RequestContext[DocumentServices]) -> Response:
    caller = await context.authenticate()
    document_id = document_id_of(context, schemas.NEW_DOCUMENT_ID)
    settings = context.services.settings
    payload = context.body
    body = await context.parse_body(DocumentBody)
    put = put_of(caller, document_id, body, settings.language)
    put = replace(put, revise=with_preconditions(context.request, put.revise))
    if len(payload) > settings.document_inline_bytes_max or context.prefers("respond-async"):
        return await _queue_put(context, caller, put, body, payload)
    tenant = caller.principal.tenant
    await require_no_queued_write(
        context.request, context.services.stores.jobs, tenant, document_id
    )
    try:
        with context.span("write"):
            (outcome,) = await context.services.writer.put_all(tenant, [put])
            written = require_written(outcome)
    except EmbeddingUnavailable:  # the worker retries
        return await _queue_put(context, caller, put, body, payload)
    return written_response(caller, write_answer(written), written)


async def _queue_put(
    context: RequestContext[DocumentServices],
    caller: AuthenticatedRequest,
    put: Put,
    body: DocumentBody,
    payload: bytes,
) -> Response:
    """Queue the write if the caller may make it now; the worker checks the rights again."""
    principal, document_id = caller.principal, put.document_id
    stored = await context.services.stores.documents.stored(principal.tenant, document_id)
    require_accepted(put, stored)
    expected = None
    if has_preconditions(context.request):
        expected = stored.version if stored else 0
    job_id = await enqueue_write(
        context.services, caller, document_id, body, payload, expected_version=expected
    )
    accepted = queued_response(job_id)
    if context.prefers("respond-async"):
        accepted.headers["Preference-Applied"] = "respond-async"
    if await context.services.usage_meter.is_budget_spent(principal.tenant):
        accepted.headers["Nearhit-Budget"] = (
            "exceeded"  # the job waits for the next month or a higher budget
        )
    return accepted


async def enqueue_write(
    services: DocumentServices,
    caller: AuthenticatedRequest,
    document_id: str,
    body: DocumentBody,
    payload: bytes,
    *,
    expected_version: int | None = None,
) -> str:
    """Queue the write and return the job's id. Raises `SourceReserved`, as the write would.

    expected_version: which must be stored, and awaited by no other write, else a 412 `Problem`.
    """
    principal = caller.principal
    await services.stores.documents.require_open(principal.tenant, body.source, document_id)
    job = NewJob(
        tenant=principal.tenant,
        kind="document.write",
        target=job_queue.document_target(document_id),
        payload=payload,
        source=body.source,
        key_id=await _key_id(services, principal),
        subject=principal.subject,
        attempts_max=services.settings.job_attempts_max,
        parts=parts_of(body),
    )
    if expected_version is None:
        return await services.stores.jobs.enqueue_document(document_id, job)
    job_id = await services.stores.jobs.enqueue_if_unchanged(document_id, job, expected_version)
    if job_id is None:
        raise queued_write_exists()
    return job_id


async def _key_id(services: DocumentServices, principal: Principal) -> str:
    """The id of the key or token whose rights the job has when it runs."""
    if principal.key_id is not None:
        return principal.key_id
    token = issue_job_token(principal, utc_now())
    if not await services.stores.keys.create(principal.tenant, token):
        raise TenantMissing(principal.tenant)
    return token.key_id


async def get_document(context: RequestContext[DocumentServices]) -> Response:
    """Get a document; `tenant` names another tenant, whose document must be public.

    With `chunks=true` it comes with its chunks, as they are stored.
    """
    caller = await context.authenticate()
    with_chunks = _is_asked_for(context, "chunks")
    own_tenant = caller.principal.tenant
    tenant = context.request.query_params.get("tenant", own_tenant)
    tenant = schemas.parse_value("tenant", schemas.TENANT, tenant)
    dated = await context.services.stores.visible_documents.read_of(
        full_scope(caller),
        caller.principal.filter,
        tenant,
        document_id_of(context),
        sees_inactive=is_admin(caller),
        with_chunks=with_chunks,
    )
    if dated is None:
        raise no_such_document()
    document = dated.document
    address = address_of(own_tenant, tenant, document.document_id)
    context.services.read_log.documents(caller.principal, [address])
    for watch in context.services.reading_watchers:
        await watch(caller.principal, full_scope(caller), tenant, document.document_id)
    others = None if tenant == own_tenant else tenant
    threads = context.services.writer.threads
    chunks = None if dated.chunks is None else await threads.run(own_tenant, _chunks, dated)
    answer = DocumentAnswer(
        text=document.text,
        revision=dated.revision,
        tenant=others,
        chunks=chunks,
        **_summary(dated),
    )
    response = with_revision(read_response(answer), caller.revisions, own_tenant)
    return with_etag(context.request, document, response)


def _chunks(dated: DatedDocument) -> tuple[DocumentChunkAnswer, ...]:
    """The stored chunks, with the headings that the text says are above them."""
    document, stored = dated.document, dated.chunks or ()
    spans = [(chunk.start, chunk.end) for chunk in stored if kind_of(chunk.chunk_id) == "text"]
    rebuilt = rebuild_chunks(document.text, document.chunker, spans) if spans else []
    parts = [
        (chunk.start, chunk.end, chunk.text)
        for chunk in stored
        if kind_of(chunk.chunk_id) == "summary"
    ]
    headings = {
        (chunk.kind, chunk.start, chunk.end): chunk.headings
        for chunk in (*rebuilt, *rebuild_summaries(document.text, parts))
    }
    return tuple(
        DocumentChunkAnswer(
            chunk_id=chunk.chunk_id,
            kind=kind,
            start=chunk.start,
            end=chunk.end,
            headings=headings.get((kind, chunk.start, chunk.end)),
            text=chunk.text,
        )
        for chunk in stored
        for kind in [kind_of(chunk.chunk_id)]
    )


async def list_documents(context: RequestContext[DocumentServices]) -> Response:
    """List documents by identifier; `cursor` is the last identifier of the previous page.

    `source`, `prefix`, `language` and `tag` narrow the list; `total=true` counts it.
    """
    caller = await context.authenticate()
    query = context.request.query_params
    limit = query.get("limit", str(_PAGE_MAX))
    if not re.fullmatch("[0-9]{1,9}", limit) or not 1 <= int(limit) <= _PAGE_MAX:
        raise problems.invalid_field("limit", f"must be a number from 1 to {_PAGE_MAX}")
    line = {
        name: schemas.parse_value(name, schemas.LINE, query.get(name, ""))
        for name in ("cursor", "source", "prefix", "language", "tag")
    }
    narrower = Filter(
        languages=(line["language"],) if line["language"] else None,
        tags_all=(line["tag"],) if line["tag"] else None,
    )
    visible = context.services.stores.visible_documents
    admitted = full_scope(caller), narrower.narrowed(caller.principal.filter)
    source, prefix, sees_inactive = line["source"] or None, line["prefix"], is_admin(caller)
    rows = await visible.page(
        *admitted,
        after=line["cursor"],
        source=source,
        prefix=prefix,
        limit=int(limit) + 1,
        sees_inactive=sees_inactive,
    )
    total = None
    if _is_asked_for(context, "total"):
        total = await visible.total(
            *admitted,
            source=source,
            prefix=prefix,
            limit=_COUNTED_MAX,
            sees_inactive=sees_inactive,
        )
    page = rows[: int(limit)]
    cursor = page[-1].document.document_id if len(rows) > len(page) else None
    document_ids = [dated.document.document_id for dated in page]
    context.services.read_log.documents(caller.principal, document_ids)
    body = await encoded_page("documents", page, _listed_document, cursor)
    return read_response(body if total is None else b'%b,"total":%d}' % (body[:-1], total))


def _is_asked_for(context: RequestContext[DocumentServices], name: str) -> bool:
    """Whether the query has the parameter as `true`."""
    value = context.request.query_params.get(name, "false")
    if value not in {"false", "true"}:
        raise problems.invalid_field(name, "must be true or false")
    return value == "true"


def _listed_document(dated: DatedDocument) -> DocumentSummary:
    return DocumentSummary(**_summary(dated))


async def patch_access(context: RequestContext[DocumentServices]) -> Response:
    caller = await context.authenticate()
    body, document_id = await context.parse_body(AccessBody), document_id_of(context)
    tenant, parts = caller.principal.tenant, parts_of(body)

    def change(stored: Document | None) -> Document:
        return with_access(caller, require_editable(caller, stored), body)

    revise = with_preconditions(context.request, change)
    await require_no_queued_write(
        context.request, context.services.stores.jobs, tenant, document_id
    )
    publishes, author = may_publish(caller.principal), author_of(caller.principal)
    # What enters or leaves the index has its chunks written; other changes move no vector.
    writer = context.services.writer
    with context.span("write"):
        if body.active is None:
            written = await writer.put_access(
                tenant, document_id, revise, parts=parts, may_publish=publishes, author=author
            )
        else:
            written = await writer.put(
                tenant, document_id, revise, parts=parts, may_publish=publishes, author=author
            )
    answer = RevisionAnswer(document_id=written.document_id, revision=written.revision)
    return written_response(caller, answer, written)


def document_id_of(
    context: RequestContext[object], kind: TypeAdapter[str] = schemas.DOCUMENT_ID
) -> str:
    """The identifier in the path; `kind` decides which identifiers are valid."""
    return schemas.parse_value("document_id", kind, context.request.path_params["document_id"])


def _summary(dated: DatedDocument) -> dict[str, Any]:
    document = dated.document
    return {
        "document_id": document.document_id,
        "title": document.title,
        "source": document.source,
        "uri": document.uri,
        "language": document.language,
        "tags": document.tags,
        "metadata": dict(document.metadata),
        "relates_to": relations_of(document.metadata) or None,
        "owner": document.owner,
        "readers": document.readers,
        "chunker": document.chunker,
        "summaries": document.summaries,
        "active": document.is_active,
        "provenance": document.provenance.to_json() or None,
        "created_at": dated.created_at,
        "updated_at": dated.updated_at,
    }


def written_response(
    caller: AuthenticatedRequest, answer: BaseModel, written: Written, status: int = 200
) -> Response:
    """The response to a write, with its revision."""
    tenant = caller.principal.tenant
    revisions = written.revisions(tenant, caller.revisions.history)
    return with_revision(json_response(answer, status), revisions, tenant)


def write_answer(written: Written) -> WrittenAnswer:
    return WrittenAnswer(
        document_id=written.document_id,
        revision=written.revision,
        chunks=ChunksAnswer(
            added=written.added,
            unchanged=written.kept,
            removed=written.removed,
            embedded=written.embedded,
        ),
        warnings=tuple(
            WarningAnswer(code=warning.code, detail=warning.detail) for warning in written.warnings
        ),
    )
