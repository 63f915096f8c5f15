"""Groups of the tenant, as an identity provider sees and changes them."""

from collections.abc import Sequence

from pydantic import TypeAdapter, ValidationError
from starlette.responses import Response

from gateway.extension import RequestContext, problems
from gateway.extensions.scim.attributes import OF_GROUPS, group_values
from gateway.extensions.scim.errors import invalid
from gateway.extensions.scim.group_provisioning import (
    GroupChange,
    GroupMatch,
    GroupName,
    GroupUser,
    ProvisionedGroup,
)
from gateway.extensions.scim.patch import patch_attributes, patch_members, patch_steps
from gateway.extensions.scim.resources import (
    list_response,
    own_tenant,
    page_of,
    resource_id,
    resource_response,
    shows,
)
from gateway.extensions.scim.scim_schemas import (
    GROUP,
    GroupBody,
    GroupMember,
    GroupResource,
    Meta,
    PatchBody,
)
from gateway.extensions.scim.scim_services import ScimServices
from index.model.identifiers import GroupId

PATH = "/scim/v2/Groups"
_INDEXED = frozenset({"displayname", "externalid", "id", "members"})
_GROUP: TypeAdapter[str] = TypeAdapter(GroupId)


async def create_scim_group(context: RequestContext[ScimServices]) -> Response:
    tenant = await own_tenant(context)
    body = await context.parse_body(GroupBody)
    change = GroupChange(_name(body), added=_user_ids(body))
    scim_id = await context.services.groups.create(tenant, change)
    return await _response(context, tenant, scim_id, status=201)


async def list_scim_groups(context: RequestContext[ScimServices]) -> Response:
    """List groups; a page with members may end early, so that it stays small."""
    tenant = await own_tenant(context)
    page = page_of(context, GROUP, OF_GROUPS, _INDEXED)
    equal, is_met = page.equal, page.is_met
    match = GroupMatch(
        scim_id=equal.get("id"),
        display_name=equal.get("displayname"),
        external_id=equal.get("externalid"),
        member=equal.get("members"),
        is_met=None if is_met is None else lambda group: is_met(group_values(group)),
        reads_users="members" in page.examined,
    )
    total, groups = await context.services.groups.page(
        tenant,
        match,
        start=page.start,
        limit=page.limit,
        with_users=shows(context, "members"),
    )
    return list_response(context, page, total, [_answer(group) for group in groups])


async def get_scim_group(context: RequestContext[ScimServices]) -> Response:
    return await _response(context, await own_tenant(context), resource_id(context))


async def replace_scim_group(context: RequestContext[ScimServices]) -> Response:
    """Replace a group's names and members; without `members` they stay."""
    tenant = await own_tenant(context)
    body = await context.parse_body(GroupBody)
    change = GroupChange(_name(body), replaced=body.members is not None, added=_user_ids(body))
    if not await context.services.groups.update(tenant, resource_id(context), lambda *_: change):
        raise _no_such_group()
    return await _response(context, tenant, resource_id(context))


async def patch_scim_group(context: RequestContext[ScimServices]) -> Response:
    """Change some members or names. The group is shown only if `attributes` asks for parts of it.

    RFC 7644, section 3.5.2: 204 is a success too, and a large group would be sent at each change.
    """
    tenant = await own_tenant(context)
    steps = patch_steps(await context.parse_body(PatchBody))

    def change(before: GroupName, users: Sequence[GroupUser]) -> GroupChange:
        values: dict[str, object] = {
            "displayName": before.display_name,
            "externalId": before.external_id,
        }
        after = patch_attributes(steps, values)
        name = before
        if after != values:
            try:
                name = _name(GroupBody.model_validate(after))
            except ValidationError as error:
                raise problems.from_validation(error) from None
        members = patch_members(steps, users)
        return GroupChange(
            name, members.replaced, frozenset(members.added), frozenset(members.removed)
        )

    if not await context.services.groups.update(tenant, resource_id(context), change):
        raise _no_such_group()
    if "attributes" not in context.request.query_params:
        return Response(status_code=204)
    return await _response(context, tenant, resource_id(context))


async def delete_scim_group(context: RequestContext[ScimServices]) -> Response:
    """Delete a group: nobody has it any more, neither as a member nor by a key."""
    tenant = await own_tenant(context)
    if not await context.services.groups.delete(tenant, resource_id(context)):
        raise _no_such_group()
    return Response(status_code=204)


def _name(body: GroupBody) -> GroupName:
    """Readers of documents name a group without whitespace: `Sales Team` is `group:Sales-Team`."""
    try:
        group_id = _GROUP.validate_python("-".join(body.display_name.split()))
    except ValidationError:
        detail = "displayName must have 1 to 128 characters."
        raise invalid("invalidValue", detail) from None
    return GroupName(group_id, body.display_name, body.external_id)


def _user_ids(body: GroupBody) -> frozenset[str]:
    return frozenset(member.value for member in body.members or ())


async def _response(
    context: RequestContext[ScimServices], tenant: str, scim_id: str, status: int = 200
) -> Response:
    group = await context.services.groups.get(tenant, scim_id, with_users=shows(context, "members"))
    if group is None:
        raise _no_such_group()
    return resource_response(context, _answer(group), status)


def _answer(group: ProvisionedGroup) -> GroupResource:
    return GroupResource(
        id=group.scim_id,
        external_id=group.name.external_id,
        display_name=group.name.display_name,
        members=tuple(
            GroupMember(value=user.user_id, display=user.user_name) for user in group.users
        ),
        meta=Meta(
            resource_type="Group", created=group.created_at, location=f"{PATH}/{group.scim_id}"
        ),
    )


def _no_such_group() -> problems.Problem:
    return problems.not_found("id", "The group does not exist.")
