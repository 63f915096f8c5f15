"""`GET /v1/caller`: whom the gateway takes the caller for."""

from starlette.responses import Response

from gateway.admin.caller_schemas import CallerAnswer
from gateway.http.request.request_context import RequestContext
from gateway.http.responses import json_response


async def get_caller(context: RequestContext[object]) -> Response:
    principal = await context.operator_or_principal()
    if principal is None:
        return json_response(CallerAnswer(is_operator=True))
    return json_response(
        CallerAnswer(
            tenant=principal.tenant,
            subject=principal.subject,
            key_id=principal.key_id,
            groups=principal.groups,
            roles=principal.roles,
            scopes=principal.scopes,
            expires_at=principal.expires_at,
            is_token=principal.is_token,
            receives_public=principal.receives_public,
        )
    )
