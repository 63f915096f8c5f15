"""Groups and their members, for an admin of the tenant."""

from starlette.responses import Response

from gateway.extension import RequestContext, Stores, json_response, schemas
from gateway.extensions.keys.group_schemas import (
    GroupAnswer,
    GroupsAnswer,
    MemberAnswer,
    MembersAnswer,
)

_PAGE_MAX = 100


async def list_groups(context: RequestContext[Stores]) -> Response:
    """List groups by name; `cursor` is the last name of the previous page."""
    tenant = (await context.authenticate()).principal.tenant
    rows = await context.services.tenants.groups_page(
        tenant, after=_cursor(context), limit=_PAGE_MAX + 1
    )
    page = rows[:_PAGE_MAX]
    return json_response(
        GroupsAnswer(
            groups=tuple(GroupAnswer(group=row.group, members=row.members) for row in page),
            cursor=page[-1].group if len(rows) > len(page) else None,
        )
    )


async def list_members(context: RequestContext[Stores]) -> Response:
    """List a group's members by subject; a group that nobody was added to has none."""
    tenant = (await context.authenticate()).principal.tenant
    group = schemas.parse_value("group", schemas.GROUP, context.request.path_params["group"])
    rows = await context.services.tenants.members_page(
        tenant, group, after=_cursor(context), limit=_PAGE_MAX + 1
    )
    page = rows[:_PAGE_MAX]
    return json_response(
        MembersAnswer(
            members=tuple(MemberAnswer(subject=row.subject, added_at=row.added_at) for row in page),
            cursor=page[-1].subject if len(rows) > len(page) else None,
        )
    )


async def add_member(context: RequestContext[Stores]) -> Response:
    caller = await context.authenticate()
    group, subject = _membership(context)
    await context.services.tenants.add_member(caller.principal.tenant, group, subject)
    return Response(status_code=204)


async def remove_member(context: RequestContext[Stores]) -> Response:
    caller = await context.authenticate()
    group, subject = _membership(context)
    await context.services.tenants.remove_member(caller.principal.tenant, group, subject)
    return Response(status_code=204)


def _cursor(context: RequestContext[Stores]) -> str:
    cursor = context.request.query_params.get("cursor", "")
    return schemas.parse_value("cursor", schemas.LINE, cursor)


def _membership(context: RequestContext[Stores]) -> tuple[str, str]:
    parameters = context.request.path_params
    group = schemas.parse_value("group", schemas.GROUP, parameters["group"])
    return group, schemas.parse_value("subject", schemas.SUBJECT, parameters["subject"])
