"""The audit log over HTTP: an admin reads who read and who changed the tenant's documents."""

import re
from datetime import datetime

from pydantic import TypeAdapter, ValidationError
from starlette.datastructures import QueryParams
from starlette.responses import Response

from gateway.extension import RequestContext, json_response, problems, schemas
from gateway.extensions._audit_log import audit_chain
from gateway.extensions._audit_log.audit_chain import AuditHead
from gateway.extensions._audit_log.audit_log_reader import (
    AuditLogFilter,
    AuditLogReader,
    ShownDocument,
)
from gateway.extensions.activity.activity_services import ActivityServices
from gateway.extensions.activity.audit_log_schemas import (
    HEAD_PATTERN,
    AuditLogAnswer,
    ChunkViewsAnswer,
    ChunkViewsBody,
    LoggedBody,
    RecipientBody,
    RecipientsAnswer,
    VerifiedAnswer,
)
from index.model.conditions.times import Instant

_PAGE_MAX = 100
_NUMBER = "[0-9]{1,18}"
_SECONDS = r"[-+0-9.eE_\s]*"
_INSTANT: TypeAdapter[datetime] = TypeAdapter(Instant)


async def get_audit_log(context: RequestContext[ActivityServices]) -> Response:
    """List rows, newest first; `cursor` is the `cursor` of the previous page."""
    caller = await context.authenticate()
    query = context.request.query_params
    limit = query.get("limit", str(_PAGE_MAX))
    if not re.fullmatch(_NUMBER, limit) or not 1 <= int(limit) <= _PAGE_MAX:
        raise problems.invalid_field("limit", f"must be a number from 1 to {_PAGE_MAX}")
    tenant, log = caller.principal.tenant, AuditLogReader(context.services.stores.database)
    page = await log.page(
        tenant,
        AuditLogFilter(
            subject=_line(query, "subject"),
            document=_line(query, "document"),
            since=await _since(log, tenant, query),
        ),
        before=_cursor(query),
        limit=int(limit),
    )
    return json_response(
        AuditLogAnswer(
            rows=tuple(map(LoggedBody.of, page.rows)),
            cursor=None if page.before is None else str(page.before),
        )
    )


async def list_recipients(context: RequestContext[ActivityServices]) -> Response:
    """List who was shown a document or a chunk of it; `cursor` as above."""
    caller = await context.authenticate()
    query = context.request.query_params
    document, chunk = _document(query), query.get("chunk")
    if chunk is not None and not re.fullmatch(_NUMBER, chunk):
        raise problems.invalid_field("chunk", "must be the identifier of a chunk")
    tenant, log = caller.principal.tenant, AuditLogReader(context.services.stores.database)
    shown = ShownDocument(
        document,
        None if chunk is None else int(chunk),
        await _since(log, tenant, query),
        _instant("until", query.get("until")),
    )
    page = await log.recipients(tenant, shown, before=_cursor(query))
    return json_response(
        RecipientsAnswer(
            recipients=tuple(
                RecipientBody(
                    subject=each.subject, key_id=each.key_id, first=each.first, last=each.last
                )
                for each in page.recipients
            ),
            answers_lost=page.answers_lost,
            cursor=None if page.before is None else str(page.before),
        )
    )


async def list_chunk_views(context: RequestContext[ActivityServices]) -> Response:
    """Count how often each chunk of a document was shown; `cursor` as above."""
    caller = await context.authenticate()
    query = context.request.query_params
    tenant, log = caller.principal.tenant, AuditLogReader(context.services.stores.database)
    since = await _since(log, tenant, query)
    page = await log.chunk_views(tenant, _document(query), since, before=_cursor(query))
    return json_response(
        ChunkViewsAnswer(
            chunks=tuple(
                ChunkViewsBody(chunk_id=each.chunk_id, views=each.views, last=each.last)
                for each in page.chunks
            ),
            cursor=None if page.before is None else str(page.before),
        )
    )


async def verify_audit_log(context: RequestContext[ActivityServices]) -> Response:
    """Verify the rows after one, which a part has reached before, or which was kept elsewhere."""
    tenant = (await context.authenticate()).principal.tenant
    line = context.request.query_params.get("after")
    match = None if line is None else re.fullmatch(HEAD_PATTERN, line)
    if line is not None and match is None:
        raise problems.invalid_field("after", "must be NUMBER:HASH, as `verified` of an answer")
    after = None if match is None else AuditHead(tenant, int(match[1]), bytes.fromhex(match[2]))
    part = await audit_chain.verify_part(context.services.stores.database, tenant, after)
    if part is None:
        return json_response(VerifiedAnswer(verified=None, last=0, fault=None))
    reached = part.reached
    verified = f"{reached.number}:{reached.hash.hex()}" if reached.number else None
    return json_response(VerifiedAnswer(verified=verified, last=part.head.number, fault=part.fault))


def _document(query: QueryParams) -> str:
    document = _line(query, "document")
    if document is None:
        raise problems.invalid_field("document", "must be the identifier of a document")
    return document


def _line(query: QueryParams, name: str) -> str | None:
    return schemas.parse_value(name, schemas.LINE, query.get(name, "")) or None


def _cursor(query: QueryParams) -> int | None:
    cursor = query.get("cursor")
    if cursor is not None and not re.fullmatch(_NUMBER, cursor):
        raise problems.invalid_field("cursor", "must be the `cursor` of the previous page")
    return None if cursor is None else int(cursor)


async def _since(log: AuditLogReader, tenant: str, query: QueryParams) -> datetime | None:
    """The earliest time that is asked for; none before the tenant was created."""
    since, begun = _instant("since", query.get("since")), await log.begun(tenant)
    return max((at for at in (since, begun) if at is not None), default=None)


def _instant(name: str, text: str | None) -> datetime | None:
    if text is None:
        return None
    problem = problems.invalid_field(
        name, "must be a time with a time zone, such as 2025-01-31T12:00:00Z"
    )
    if re.fullmatch(_SECONDS, text):  # pydantic reads a number as seconds since 1970
        raise problem
    try:
        return _INSTANT.validate_strings(text)
    except ValidationError:
        raise problem from None
