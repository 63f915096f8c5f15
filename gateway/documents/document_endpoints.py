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
from gateway.documents.document_services import DocumentServices
from gateway.http.request_context import RequestContext, full_scope
from gateway.http.responses import json_response, queued_body, queued_response
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


async def put_document(exchange: RequestContext[DocumentServices]) -> Response:
    admitted = await exchange.authenticate()
    document_id = document_id_of(exchange, schemas.NEW_DOCUMENT_ID)
    settings = exchange.services.settings
    sent = exchange.body
    body = exchange.parse_body(DocumentBody)
    revise = build_update(admitted, document_id, body, settings.language)
    if len(sent) > settings.document_inline_bytes_max or exchange.prefers("respond-async"):
        return await _put_later(exchange, admitted, document_id, body, sent, revise)
    tenant = admitted.principal.tenant
    try:
        done = await exchange.services.writer.put(tenant, document_id, revise, parts=parts_of(body))
    except EmbeddingUnavailable:  # the worker tries again
        return await _put_later(exchange, admitted, document_id, body, sent, revise)
    return json_response(write_answer(done))


async def _put_later(
    exchange: RequestContext[DocumentServices],
    admitted: AuthenticatedRequest,
    document_id: str,
    body: DocumentBody,
    sent: bytes,
    revise: Revise,
) -> Response:
    """Queue it, unless it would be refused already; the worker asks again who may do what."""
    principal = admitted.principal
    stored = await exchange.services.documents.stored(principal.tenant, document_id)
    revise(stored.document if stored else None)
    accepted = queued_response(
        await enqueue_write(exchange.services, admitted, document_id, body, sent)
    )
    if exchange.prefers("respond-async"):
        accepted.headers["Preference-Applied"] = "respond-async"
    if await exchange.services.usage_meter.is_budget_spent(principal.tenant):
        accepted.headers["Nearhit-Budget"] = "spent"  # so that it will wait
    return accepted


async def enqueue_write(
    services: DocumentServices,
    admitted: AuthenticatedRequest,
    document_id: str,
    body: DocumentBody,
    sent: bytes,
) -> str:
    """The job that will write it. Raises `SourceReserved`, for the worker would be refused too."""
    principal = admitted.principal
    await services.sources.require_open(principal.tenant, body.source, document_id)
    job = NewJob(
        tenant=principal.tenant,
        kind="document",
        target=job_queue.document_target(document_id),
        payload=sent,
        source=body.source,
        key_id=await _key_id(services, principal),
        subject=principal.subject,
        attempts_max=services.settings.job_attempts,
        parts=parts_of(body),
    )
    return await services.jobs.enqueue_document(document_id, job)


async def _key_id(services: DocumentServices, principal: Principal) -> str:
    """Of the key or token whose rights count when the job runs."""
    if principal.key_id is not None:
        return principal.key_id
    token = issue_job_token(principal, utc_now())
    if not await services.principals.create(principal.tenant, token):
        raise TenantMissing(principal.tenant)
    return token.key_id


async def put_batch(exchange: RequestContext[DocumentServices]) -> Response:
    """One result line for each line of the body, in order; a bad line does not stop the others."""
    await exchange.authenticate()
    body = exchange.body
    most = exchange.services.settings.batch_documents_max
    crowded = body.count(b"\n") > 2 * most  # blank lines are let pass, but not by the million
    lines = [] if crowded else [line for line in body.split(b"\n") if line.strip()]
    if crowded or not 1 <= len(lines) <= most:
        raise problems.invalid_field("body", f"must have 1 to {most:,} lines")
    return StreamingResponse(_put_lines(exchange, lines), media_type="application/x-ndjson")


async def _put_lines(
    exchange: RequestContext[DocumentServices], lines: list[bytes]
) -> AsyncIterator[bytes]:
    """A result line for each; once the sender or the database is gone, the rest fails alike."""
    final: Outcome | QueuedLine | None = None
    number = 0
    for batch in batches(lines, len):
        outcomes = [final] * len(batch) if final else await _put_together(exchange, batch)
        for outcome in outcomes:
            number += 1
            yield _result(exchange, number, outcome)
        final = next(filter(_is_final, outcomes), None)


async def _put_together(
    exchange: RequestContext[DocumentServices], lines: Sequence[bytes]
) -> list[Outcome | QueuedLine]:
    """Written as whoever the sender is by now; queued where the embedder gives no vectors."""
    try:
        admitted = await exchange.authenticate()
    except Exception as error:
        return [error] * len(lines)
    puts = [_put_line(exchange, admitted, line) for line in lines]
    good = [put for put in puts if isinstance(put, Put)]
    outcomes = iter(await exchange.services.writer.put_all(admitted.principal.tenant, good))
    results: list[Outcome | QueuedLine] = [
        next(outcomes) if isinstance(put, Put) else put for put in puts
    ]
    try:
        await _queue_lines(exchange, admitted, lines, results)
    except DatabaseUnavailable as away:
        return [away] * len(lines)
    return results


async def _queue_lines(
    exchange: RequestContext[DocumentServices],
    admitted: AuthenticatedRequest,
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
        document = _parse_line(exchange, lines[place])
        if place < done.get(document.document_id, 0):
            continue
        told = document.model_dump(mode="json", exclude={"document_id"}, exclude_unset=True)
        try:
            job_id = await enqueue_write(
                exchange.services, admitted, document.document_id, document, orjson.dumps(told)
            )
            results[place] = QueuedLine(job_id, isinstance(result, BudgetSpent))
        except (PayloadTooLarge, QueueFull, SourceReserved) as refused:
            results[place] = refused


def _put_line(
    exchange: RequestContext[DocumentServices], admitted: AuthenticatedRequest, line: bytes
) -> Put | Problem:
    try:
        document = _parse_line(exchange, line)
    except Problem as problem:
        return problem
    language = exchange.services.settings.language
    revise = build_update(admitted, document.document_id, document, language)
    return Put(document.document_id, revise, parts_of(document))


def _is_final(outcome: Outcome | QueuedLine) -> bool:
    """Whether it would happen to each further line too."""
    return isinstance(outcome, DatabaseUnavailable) or (
        isinstance(outcome, Problem) and outcome.status == 401
    )


def _result(
    exchange: RequestContext[DocumentServices], number: int, outcome: Outcome | QueuedLine
) -> bytes:
    if isinstance(outcome, Exception):
        problem = problems.from_exception(outcome, exchange.trace.request_id)
        result = {"line": number, **problem.body()}
    elif isinstance(outcome, QueuedLine):
        result = {"line": number, **queued_body(outcome.job_id).model_dump()}
        result |= {"budget": "spent"} if outcome.is_spent else {}
    else:
        result = write_answer(outcome).model_dump()
    return orjson.dumps(result, option=orjson.OPT_APPEND_NEWLINE)


def _parse_line(exchange: RequestContext[DocumentServices], line: bytes) -> BatchLine:
    bytes_max = exchange.services.settings.document_bytes_max
    if len(line) > bytes_max:
        raise problems.too_large(bytes_max)
    return schemas.parse(BatchLine, line)


async def get_document(exchange: RequestContext[DocumentServices]) -> Response:
    admitted = await exchange.authenticate()
    document = await exchange.services.documents.read(
        full_scope(admitted), admitted.principal.filter, document_id_of(exchange)
    )
    if document is None:
        raise no_such_document()
    exchange.services.read_log.documents(admitted.principal, [document.document_id])
    return json_response(DocumentAnswer(text=document.text, **_summary(document)))


async def list_documents(exchange: RequestContext[DocumentServices]) -> Response:
    """In the order of their identifiers; `cursor` is the last one of the page before."""
    admitted = await exchange.authenticate()
    query = exchange.request.query_params
    limit = query.get("limit", str(_PAGE_MAX))
    if not re.fullmatch("[0-9]{1,9}", limit) or not 1 <= int(limit) <= _PAGE_MAX:
        raise problems.invalid_field("limit", f"must be a number from 1 to {_PAGE_MAX}")
    page = await exchange.services.documents.page(
        full_scope(admitted),
        admitted.principal.filter,
        after=schemas.parse_value("cursor", schemas.LINE, query.get("cursor", "")),
        source=schemas.parse_value("source", schemas.LINE, query.get("source", "")) or None,
        limit=int(limit) + 1,
    )
    shown = page[: int(limit)]
    cursor = shown[-1].document_id if len(page) > len(shown) else None
    exchange.services.read_log.documents(admitted.principal, [each.document_id for each in shown])
    return json_response(
        DocumentsAnswer(
            documents=tuple(DocumentSummary(**_summary(document)) for document in shown),
            cursor=cursor,
        )
    )


async def patch_access(exchange: RequestContext[DocumentServices]) -> Response:
    admitted = await exchange.authenticate()
    body = exchange.parse_body(AccessBody)
    done = await exchange.services.writer.put_access(
        admitted.principal.tenant,
        document_id_of(exchange),
        lambda stored: _with_access(admitted, require_editable(admitted, stored), body),
        parts=parts_of(body) & ACCESS,
    )
    return json_response(RevisionAnswer(document_id=done.document_id, revision=done.revision))


def parts_of(body: DocumentBody | AccessBody) -> Parts:
    """What the body sets of its document: the content, and of owner and readers what it names."""
    owner: Parts = frozenset({"owner"} if "owner" in body.model_fields_set else ())
    readers: Parts = frozenset() if body.readers is None else frozenset({"readers"})
    return CONTENT | owner | readers


def build_update(
    admitted: AuthenticatedRequest, document_id: str, body: DocumentBody, default_language: str
) -> Revise:
    """What the body makes of the stored document, whose owner and readers stay unless named.

    It raises a `Problem` if the principal may not do so.
    """
    access = AccessBody.model_validate(
        body.model_dump(include={"owner", "readers"} & body.model_fields_set)
    )

    def revise(stored: Document | None) -> Document:
        if stored is not None:
            _require_replaceable(admitted, stored)
        document = Document(
            document_id=document_id,
            title=body.title,
            text=body.text,
            source=body.source,
            uri=body.uri,
            language=body.language or default_language,
            tags=body.tags,
            metadata=body.metadata,
            owner=stored.owner if stored else admitted.principal.subject,
            readers=stored.readers if stored else (),
            cut=body.cut or (stored.cut if stored else chunking_config.DEFAULT),
            summaries=body.summaries or (stored.summaries if stored else NO_SUMMARIES),
        )
        return _with_access(admitted, document, access)

    return revise


def _with_access(
    admitted: AuthenticatedRequest, document: Document, access: AccessBody
) -> Document:
    named = access.model_fields_set
    if "owner" in named and access.owner not in (document.owner, admitted.principal.subject):
        _require_admin(admitted, "Only an admin can make somebody else, or nobody, the owner.")
    return replace(
        document,
        owner=access.owner if "owner" in named else document.owner,
        readers=document.readers if access.readers is None else access.readers,
    )


def _require_replaceable(admitted: AuthenticatedRequest, stored: Document) -> None:
    if _owns(admitted, stored):
        return
    if _reads(admitted, stored):
        raise problems.forbidden("Only the owner or an admin can change this document.")
    raise problems.conflict("document_id", "This identifier is taken; choose another one.")


def require_editable(admitted: AuthenticatedRequest, stored: Document | None) -> Document:
    """The stored document; what the caller can't read does not exist for it."""
    if stored is None or not (_owns(admitted, stored) or _reads(admitted, stored)):
        raise no_such_document()
    if not _owns(admitted, stored):
        raise problems.forbidden("Only the owner or an admin can change this document.")
    return stored


def _owns(admitted: AuthenticatedRequest, document: Document) -> bool:
    principal = admitted.principal
    is_own = document.owner == principal.subject and "private" in principal.scopes
    return is_own or "admin" in principal.roles


def _reads(admitted: AuthenticatedRequest, document: Document) -> bool:
    return full_scope(admitted).admits(document.owner, document.readers)


def _require_admin(admitted: AuthenticatedRequest, detail: str) -> None:
    if "admin" not in admitted.principal.roles:
        raise problems.forbidden(detail)


def no_such_document() -> Problem:
    return problems.not_found("document_id", "There is no such document, or you may not read it.")


def document_id_of(
    exchange: RequestContext[DocumentServices], kind: TypeAdapter[str] = schemas.DOCUMENT_ID
) -> str:
    """The path's identifier, judged like the one of a batch line if it is a new one."""
    return schemas.parse_value("document_id", kind, exchange.request.path_params["document_id"])


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
