"""The audit log over HTTP: an admin reads who read and who changed the tenant's documents."""

import re
from datetime import datetime

from pydantic import TypeAdapter, ValidationError
from starlette.responses import Response

from gateway.extension import RequestContext, json_response, problems, schemas
from gateway.extensions.activity.activity_services import ActivityServices
from gateway.extensions.activity.audit_log_schemas import AuditLogAnswer, LoggedBody
from index.audit.audit_log import AuditLogFilter
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
    cursor = query.get("cursor")
    if cursor is not None and not re.fullmatch(_NUMBER, cursor):
        raise problems.invalid_field("cursor", "must be the `cursor` of the previous page")
    tenant, log = caller.principal.tenant, context.services.stores.audit_log
    since, first_at = _instant("since", query.get("since")), await log.begun(tenant)
    page = await log.page(
        tenant,
        AuditLogFilter(
            subject=schemas.parse_value("subject", schemas.LINE, query.get("subject", "")) or None,
            document=schemas.parse_value("document", schemas.LINE, query.get("document", ""))
            or None,
            since=max((at for at in (since, first_at) if at is not None), default=None),
        ),
        before=None if cursor is None else int(cursor),
        limit=int(limit),
    )
    return json_response(
        AuditLogAnswer(
            rows=tuple(map(LoggedBody.of, page.rows)),
            cursor=None if page.before is None else str(page.before),
        )
    )


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
