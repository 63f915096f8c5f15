"""Documents over HTTP: written by their owners and the tenant's admins, read by their readers."""

import re
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import orjson
from pydantic import TypeAdapter
from starlette.responses import Response, StreamingResponse

from gateway import problems, schemas
from gateway.auth.authenticator import AuthenticatedRequest, utc_now
from gateway.auth.credentials import issue_job_token
from gateway.documents.document_schemas import (
    AccessBody,
    BatchLine,
    ChunksAnswer,
    DocumentAnswer,
    DocumentBody,
    DocumentsAnswer,
    DocumentSummary,
    RevisionAnswer,
    WrittenAnswer,
)
from gateway.http.request_context import (
    RequestContext,
    full_scope,
    json_response,
    queued_body,
    queued_response,
)
from gateway.problems import Problem
from index.errors import (
    BudgetSpent,
    DatabaseUnavailable,
    EmbeddingUnavailable,
    PayloadTooLarge,
    QueueFull,
    SourceReserved,
    TenantMissing,
)
from index.jobs import job_queue
from index.jobs.job_queue import NewJob
from index.model import chunking_config
from index.model.document import NO_SUMMARIES, Document
from index.model.write_order import ACCESS, CONTENT, Parts
from index.tenants.principals import Principal
from ingest.write.batch import batches
from ingest.write.revision import Outcome, Put, Revise, Written

_PAGE_MAX = 100


@dataclass(frozen=True, slots=True)
class QueuedLine:
    """What became of a line of a batch that has to wait; for money, if that is spent."""

    job_id: str
    is_spent: bool


async def put_document(context: RequestContext) -> Response:
    caller = await context.authenticate()
    document_id = document_id_of(context, schemas.NEW_DOCUMENT_ID)
    settings = context.services.settings
    sent = context.body
    body = context.parse_body(DocumentBody)
    revise = build_update(caller, document_id, body, settings.language)
    if len(sent) > settings.document_inline_bytes_max or context.prefers("respond-async"):
        return await _put_later(context, caller, document_id, body, sent, revise)
    tenant = caller.principal.tenant
    try:
        done = await context.services.writer.put(tenant, document_id, revise, parts=parts_of(body))
    except EmbeddingUnavailable:  # the worker tries again
        return await _put_later(context, caller, document_id, body, sent, revise)
    return json_response(write_answer(done))


async def _put_later(
    context: RequestContext,
    caller: AuthenticatedRequest,
    document_id: str,
    body: DocumentBody,
    sent: bytes,
    revise: Revise,
) -> Response:
    """Queue it, unless it would be refused already; the worker asks again who may do what."""
    principal = caller.principal
    stored = await context.services.documents.stored(principal.tenant, document_id)
    revise(stored.document if stored else None)
    accepted = queued_response(await enqueue_write(context, caller, document_id, body, sent))
    if context.prefers("respond-async"):
        accepted.headers["Preference-Applied"] = "respond-async"
    if await context.services.usage_meter.is_budget_spent(principal.tenant):
        accepted.headers["Nearhit-Budget"] = "spent"  # so that it will wait
    return accepted


async def enqueue_write(
    context: RequestContext,
    caller: AuthenticatedRequest,
    document_id: str,
    body: DocumentBody,
    sent: bytes,
) -> str:
    """The job that will write it. Raises `SourceReserved`, for the worker would be refused too."""
    principal = caller.principal
    await context.services.sources.require_open(principal.tenant, body.source, document_id)
    job = NewJob(
        tenant=principal.tenant,
        kind="document",
        target=job_queue.document_target(document_id),
        payload=sent,
        source=body.source,
        key_id=await _key_id(context, principal),
        subject=principal.subject,
        attempts_max=context.services.settings.job_attempts,
        parts=parts_of(body),
    )
    return await context.services.jobs.enqueue_document(document_id, job)


async def _key_id(context: RequestContext, principal: Principal) -> str:
    """Of the key or token whose rights count when the job runs."""
    if principal.key_id is not None:
        return principal.key_id
    token = issue_job_token(principal, utc_now())
    if not await context.services.principals.create(principal.tenant, token):
        raise TenantMissing(principal.tenant)
    return token.key_id


async def put_batch(context: RequestContext) -> Response:
    """One result line for each line of the body, in order; a bad line does not stop the others."""
    await context.authenticate()
    body = context.body
    most = context.services.settings.batch_documents_max
    crowded = body.count(b"\n") > 2 * most  # blank lines are let pass, but not by the million
    lines = [] if crowded else [line for line in body.split(b"\n") if line.strip()]
    if crowded or not 1 <= len(lines) <= most:
        raise problems.invalid_field("body", f"must have 1 to {most:,} lines")
    return StreamingResponse(_put_lines(context, lines), media_type="application/x-ndjson")


async def _put_lines(context: RequestContext, lines: list[bytes]) -> AsyncIterator[bytes]:
    """A result line for each; once the sender or the database is gone, the rest fails alike."""
    final: Outcome | QueuedLine | None = None
    number = 0
    for batch in batches(lines, len):
        outcomes = [final] * len(batch) if final else await _put_together(context, batch)
        for outcome in outcomes:
            number += 1
            yield _result(context, number, outcome)
        final = next(filter(_is_final, outcomes), None)


async def _put_together(
    context: RequestContext, lines: Sequence[bytes]
) -> list[Outcome | QueuedLine]:
    """Written as whoever the sender is by now; queued where the embedder gives no vectors."""
    try:
        caller = await context.authenticate()
    except Exception as error:
        return [error] * len(lines)
    puts = [_put_line(context, caller, line) for line in lines]
    good = [put for put in puts if isinstance(put, Put)]
    outcomes = iter(await context.services.writer.put_all(caller.principal.tenant, good))
    results: list[Outcome | QueuedLine] = [
        next(outcomes) if isinstance(put, Put) else put for put in puts
    ]
    try:
        await _queue_lines(context, caller, lines, results)
    except DatabaseUnavailable as away:
        return [away] * len(lines)
    return results


async def _queue_lines(
    context: RequestContext,
    caller: AuthenticatedRequest,
    lines: Sequence[bytes],
    results: list[Outcome | QueuedLine],
) -> None:
    """Queue what the embedder gave no vectors for, unless a later line has written the document."""
    done = {
        result.document_id: place
        for place, result in enumerate(results)
        if isinstance(result, Written)
    }
    for place, result in enumerate(results):
        if not isinstance(result, EmbeddingUnavailable):
            continue
        document = _parse_line(context, lines[place])
        if place < done.get(document.document_id, 0):
            continue
        told = document.model_dump(mode="json", exclude={"document_id"}, exclude_unset=True)
        try:
            job_id = await enqueue_write(
                context, caller, document.document_id, document, orjson.dumps(told)
            )
            results[place] = QueuedLine(job_id, isinstance(result, BudgetSpent))
        except (PayloadTooLarge, QueueFull, SourceReserved) as refused:
            results[place] = refused


def _put_line(context: RequestContext, caller: AuthenticatedRequest, line: bytes) -> Put | Problem:
    try:
        document = _parse_line(context, line)
    except Problem as problem:
        return problem
    language = context.services.settings.language
    revise = build_update(caller, document.document_id, document, language)
    return Put(document.document_id, revise, parts_of(document))


def _is_final(outcome: Outcome | QueuedLine) -> bool:
    """Whether it would happen to each further line too."""
    return isinstance(outcome, DatabaseUnavailable) or (
        isinstance(outcome, Problem) and outcome.status == 401
    )


def _result(context: RequestContext, number: int, outcome: Outcome | QueuedLine) -> bytes:
    if isinstance(outcome, Exception):
        problem = problems.from_exception(outcome, context.trace.request_id)
        result = {"line": number, **problem.body()}
    elif isinstance(outcome, QueuedLine):
        result = {"line": number, **queued_body(outcome.job_id).model_dump()}
        result |= {"budget": "spent"} if outcome.is_spent else {}
    else:
        result = write_answer(outcome).model_dump()
    return orjson.dumps(result, option=orjson.OPT_APPEND_NEWLINE)


def _parse_line(context: RequestContext, line: bytes) -> BatchLine:
    bytes_max = context.services.settings.document_bytes_max
    if len(line) > bytes_max:
        raise problems.too_large(bytes_max)
    return schemas.parse(BatchLine, line)


async def get_document(context: RequestContext) -> Response:
    caller = await context.authenticate()
    document = await context.services.documents.read(
        full_scope(caller), caller.principal.filter, document_id_of(context)
    )
    if document is None:
        raise no_such_document()
    context.services.read_log.documents(caller.principal, [document.document_id])
    return json_response(DocumentAnswer(text=document.text, **_summary(document)))


async def list_documents(context: RequestContext) -> Response:
    """In the order of their identifiers; `cursor` is the last one of the page before."""
    caller = await context.authenticate()
    query = context.request.query_params
    limit = query.get("limit", str(_PAGE_MAX))
    if not re.fullmatch("[0-9]{1,9}", limit) or not 1 <= int(limit) <= _PAGE_MAX:
        raise problems.invalid_field("limit", f"must be a number from 1 to {_PAGE_MAX}")
    page = await context.services.documents.page(
        full_scope(caller),
        caller.principal.filter,
        after=schemas.parse_value("cursor", schemas.LINE, query.get("cursor", "")),
        source=schemas.parse_value("source", schemas.LINE, query.get("source", "")) or None,
        limit=int(limit) + 1,
    )
    shown = page[: int(limit)]
    cursor = shown[-1].document_id if len(page) > len(shown) else None
    context.services.read_log.documents(caller.principal, [each.document_id for each in shown])
    return json_response(
        DocumentsAnswer(
            documents=tuple(DocumentSummary(**_summary(document)) for document in shown),
            cursor=cursor,
        )
    )


async def patch_access(context: RequestContext) -> Response:
    caller = await context.authenticate()
    body = context.parse_body(AccessBody)
    done = await context.services.writer.put_access(
        caller.principal.tenant,
        document_id_of(context),
        lambda stored: _with_access(caller, require_editable(caller, stored), body),
        parts=parts_of(body) & ACCESS,
    )
    return json_response(RevisionAnswer(document_id=done.document_id, revision=done.revision))


def parts_of(body: DocumentBody | AccessBody) -> Parts:
    """What the body sets of its document: the content, and of owner and readers what it names."""
    owner: Parts = frozenset({"owner"} if "owner" in body.model_fields_set else ())
    readers: Parts = frozenset() if body.readers is None else frozenset({"readers"})
    return CONTENT | owner | readers


def build_update(
    caller: AuthenticatedRequest, document_id: str, body: DocumentBody, default_language: str
) -> Revise:
    """What the body makes of the stored document, whose owner and readers stay unless named.

    It raises a `Problem` if the principal may not do so.
    """
    access = AccessBody.model_validate(
        body.model_dump(include={"owner", "readers"} & body.model_fields_set)
    )

    def revise(stored: Document | None) -> Document:
        if stored is not None:
            _require_replaceable(caller, stored)
        document = Document(
            document_id=document_id,
            title=body.title,
            text=body.text,
            source=body.source,
            uri=body.uri,
            language=body.language or default_language,
            tags=body.tags,
            metadata=body.metadata,
            owner=stored.owner if stored else caller.principal.subject,
            readers=stored.readers if stored else (),
            cut=body.cut or (stored.cut if stored else chunking_config.DEFAULT),
            summaries=body.summaries or (stored.summaries if stored else NO_SUMMARIES),
        )
        return _with_access(caller, document, access)

    return revise


def _with_access(caller: AuthenticatedRequest, document: Document, access: AccessBody) -> Document:
    named = access.model_fields_set
    if "owner" in named and access.owner not in (document.owner, caller.principal.subject):
        _require_admin(caller, "Only an admin can make somebody else, or nobody, the owner.")
    return replace(
        document,
        owner=access.owner if "owner" in named else document.owner,
        readers=document.readers if access.readers is None else access.readers,
    )


def _require_replaceable(caller: AuthenticatedRequest, stored: Document) -> None:
    if _owns(caller, stored):
        return
    if _reads(caller, stored):
        raise problems.forbidden("Only the owner or an admin can change this document.")
    raise problems.conflict("document_id", "This identifier is taken; choose another one.")


def require_editable(caller: AuthenticatedRequest, stored: Document | None) -> Document:
    """The stored document; what the caller can't read does not exist for it."""
    if stored is None or not (_owns(caller, stored) or _reads(caller, stored)):
        raise no_such_document()
    if not _owns(caller, stored):
        raise problems.forbidden("Only the owner or an admin can change this document.")
    return stored


def _owns(caller: AuthenticatedRequest, document: Document) -> bool:
    principal = caller.principal
    is_own = document.owner == principal.subject and "private" in principal.scopes
    return is_own or "admin" in principal.roles


def _reads(caller: AuthenticatedRequest, document: Document) -> bool:
    return full_scope(caller).admits(document.owner, document.readers)


def _require_admin(caller: AuthenticatedRequest, detail: str) -> None:
    if "admin" not in caller.principal.roles:
        raise problems.forbidden(detail)


def no_such_document() -> Problem:
    return problems.not_found("document_id", "There is no such document, or you may not read it.")


def document_id_of(context: RequestContext, kind: TypeAdapter[str] = schemas.DOCUMENT_ID) -> str:
    """The path's identifier, judged like the one of a batch line if it is a new one."""
    return schemas.parse_value("document_id", kind, context.request.path_params["document_id"])


def _summary(document: Document) -> dict[str, Any]:
    return {
        "document_id": document.document_id,
        "title": document.title,
        "source": document.source,
        "uri": document.uri,
        "language": document.language,
        "tags": document.tags,
        "metadata": dict(document.metadata),
        "owner": document.owner,
        "readers": document.readers,
        "cut": document.cut,
        "summaries": document.summaries,
    }


def write_answer(done: Written) -> WrittenAnswer:
    return WrittenAnswer(
        document_id=done.document_id,
        revision=done.revision,
        chunks=ChunksAnswer(
            added=done.added,
            kept=done.kept,
            removed=done.removed,
            embedded=done.embedded,
        ),
    )
