"""Users that an identity provider provisions: each decides whether a subject's credentials work."""

from pydantic import TypeAdapter, ValidationError
from starlette.responses import Response

from gateway.extension import RequestContext, problems
from gateway.extensions.scim.attributes import OF_USERS, email_values, user_values
from gateway.extensions.scim.errors import invalid
from gateway.extensions.scim.patch import patch_attributes, patch_steps
from gateway.extensions.scim.resources import (
    list_response,
    own_tenant,
    page_of,
    resource_id,
    resource_response,
)
from gateway.extensions.scim.scim_schemas import (
    USER,
    Meta,
    PatchBody,
    UserBody,
    UserEmailAnswer,
    UserResource,
)
from gateway.extensions.scim.scim_services import ScimServices, ScimSettings
from gateway.extensions.scim.user_provisioning import (
    ProvisionedUser,
    UserAttributes,
    UserEmail,
    UserMatch,
)
from index.model.identifiers import SubjectId

PATH = "/scim/v2/Users"
_INDEXED = frozenset({"username", "externalid", "id", "active"})
_SUBJECT: TypeAdapter[str] = TypeAdapter(SubjectId)


async def create_scim_user(context: RequestContext[ScimServices]) -> Response:
    """Provision a user; its subject's credentials work from now on, if it is active."""
    tenant = await own_tenant(context)
    attributes = _attributes(context.services.settings, await context.parse_body(UserBody))
    user = await context.services.users.create(tenant, attributes)
    return resource_response(context, _answer(user), 201)


async def list_scim_users(context: RequestContext[ScimServices]) -> Response:
    tenant = await own_tenant(context)
    page = page_of(context, USER, OF_USERS, _INDEXED)
    equal, is_met = page.equal, page.is_met
    match = UserMatch(
        user_id=equal.get("id"),
        user_name=equal.get("username"),
        external_id=equal.get("externalid"),
        is_active=equal["active"].lower() == "true" if "active" in equal else None,
        is_met=None if is_met is None else lambda user: is_met(user_values(user)),
    )
    total, users = await context.services.users.page(
        tenant, match, start=page.start, limit=page.limit
    )
    return list_response(context, page, total, [_answer(user) for user in users])


async def get_scim_user(context: RequestContext[ScimServices]) -> Response:
    tenant = await own_tenant(context)
    return _response(context, await context.services.users.get(tenant, resource_id(context)))


async def replace_scim_user(context: RequestContext[ScimServices]) -> Response:
    """Replace a user's attributes; without `active` it stays as it is."""
    tenant = await own_tenant(context)
    body = await context.parse_body(UserBody)
    settings = context.services.settings

    def change(before: UserAttributes) -> UserAttributes:
        return _attributes(settings, body, is_active=before.is_active)

    user = await context.services.users.update(tenant, resource_id(context), change)
    return _response(context, user)


async def patch_scim_user(context: RequestContext[ScimServices]) -> Response:
    """Change some of a user's attributes."""
    tenant = await own_tenant(context)
    steps = patch_steps(await context.parse_body(PatchBody))
    settings = context.services.settings

    def change(before: UserAttributes) -> UserAttributes:
        values: dict[str, object] = {
            "userName": before.user_name,
            "externalId": before.external_id,
            "displayName": before.display_name,
            "active": before.is_active,
            "emails": [email_values(email) for email in before.emails],
        }
        after = patch_attributes(steps, values)
        try:
            return _attributes(settings, UserBody.model_validate(after), is_active=before.is_active)
        except ValidationError as error:
            raise problems.from_validation(error) from None

    user = await context.services.users.update(tenant, resource_id(context), change)
    return _response(context, user)


async def delete_scim_user(context: RequestContext[ScimServices]) -> Response:
    """Delete a user: its subject loses its groups, and none of its credentials works."""
    tenant = await own_tenant(context)
    if not await context.services.users.delete(tenant, resource_id(context)):
        raise _no_such_user()
    return Response(status_code=204)


def _attributes(
    settings: ScimSettings, body: UserBody, *, is_active: bool = True
) -> UserAttributes:
    """The attributes to store. is_active: if the body does not say."""
    name = settings.subject
    value = body.user_name if name == "userName" else body.external_id
    try:
        subject = _SUBJECT.validate_python(value or "")
    except ValidationError:
        detail = f"{name} names the subject, and must have 1 to 128 characters without whitespace."
        raise invalid("invalidValue", detail) from None
    return UserAttributes(
        subject=subject,
        user_name=body.user_name,
        external_id=body.external_id,
        display_name=body.display_name,
        is_active=is_active if body.active is None else body.active,
        emails=tuple(UserEmail(email.value, email.type, email.primary) for email in body.emails),
    )


def _response(context: RequestContext[ScimServices], user: ProvisionedUser | None) -> Response:
    if user is None:
        raise _no_such_user()
    return resource_response(context, _answer(user))


def _answer(user: ProvisionedUser) -> UserResource:
    attributes = user.attributes
    return UserResource(
        id=user.user_id,
        external_id=attributes.external_id,
        user_name=attributes.user_name,
        display_name=attributes.display_name,
        active=attributes.is_active,
        emails=tuple(map(_email, attributes.emails)) or None,
        meta=Meta(
            resource_type="User",
            created=user.created_at,
            last_modified=user.updated_at,
            location=f"{PATH}/{user.user_id}",
        ),
    )


def _email(email: UserEmail) -> UserEmailAnswer:
    return UserEmailAnswer(value=email.value, type=email.type, primary=email.is_primary)


def _no_such_user() -> problems.Problem:
    return problems.not_found("id", "The user does not exist.")
