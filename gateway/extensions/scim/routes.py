"""The routes of SCIM 2.0, by which an identity provider provisions users and groups."""

from collections.abc import Callable, Mapping
from functools import partial

from gateway.extension import ApiRoute, Parameter, body_limit
from gateway.extensions.scim import discovery, errors, group_endpoints, user_endpoints
from gateway.extensions.scim.filters.filter_grammar import FILTER_CHARACTERS_MAX
from gateway.extensions.scim.scim_schemas import (
    Discovered,
    GroupBody,
    GroupResource,
    PatchBody,
    ResourceList,
    UserBody,
    UserResource,
)
from gateway.extensions.scim.scim_services import ScimServices

_BODY_BYTES_MAX = 2_000_000  # of a group with all its members
_USERS, _USER = user_endpoints.PATH, f"{user_endpoints.PATH}/{{resource_id}}"
_GROUPS, _GROUP = group_endpoints.PATH, f"{group_endpoints.PATH}/{{resource_id}}"
_TYPES, _SCHEMAS = "/scim/v2/ResourceTypes", "/scim/v2/Schemas"

_SHOWN: Mapping[str, Parameter] = {
    "attributes": Parameter({"type": "string", "description": "the only attributes to show"}),
    "excludedAttributes": Parameter({"type": "string", "description": "attributes to leave out"}),
}


def _page(example: str) -> Mapping[str, Parameter]:
    form = f"a filter of RFC 7644, such as `{example}`"
    return {
        "filter": Parameter(
            {"type": "string", "maxLength": FILTER_CHARACTERS_MAX, "description": form}
        ),
        "startIndex": Parameter({"type": "integer", "description": "the first is 1"}),
        "count": Parameter({"type": "integer", "description": "at most 100 count"}),
        **_SHOWN,
    }


_route: Callable[..., ApiRoute[ScimServices]] = partial(
    ApiRoute,
    needs="provisioner",
    media_type=errors.MEDIA_TYPE,
    render=errors.render,
    error=errors.ScimErrorAnswer,
    error_type=errors.MEDIA_TYPE,
    body_bytes_max=body_limit(_BODY_BYTES_MAX),
    path_parameters={
        "resource_id": Parameter(
            {"type": "string", "minLength": 1, "description": "identifier of the resource"}
        )
    },
)

ROUTES: tuple[ApiRoute[ScimServices], ...] = (
    _route(
        "POST",
        _USERS,
        user_endpoints.create_scim_user,
        summary="SCIM: provision a user",
        body=UserBody,
        answer=UserResource,
        parameters=_SHOWN,
        status=201,
    ),
    _route(
        "GET",
        _USERS,
        user_endpoints.list_scim_users,
        summary="SCIM: list users",
        answer=ResourceList,
        parameters=_page('userName eq "ana" or emails.value sw "ana@"'),
    ),
    _route(
        "GET",
        _USER,
        user_endpoints.get_scim_user,
        summary="SCIM: get a user",
        answer=UserResource,
        parameters=_SHOWN,
    ),
    _route(
        "PUT",
        _USER,
        user_endpoints.replace_scim_user,
        summary="SCIM: replace a user; if it is inactive, all its credentials end",
        body=UserBody,
        answer=UserResource,
        parameters=_SHOWN,
    ),
    _route(
        "PATCH",
        _USER,
        user_endpoints.patch_scim_user,
        summary="SCIM: change parts of a user; if it is inactive, all its credentials end",
        body=PatchBody,
        answer=UserResource,
        parameters=_SHOWN,
    ),
    _route(
        "DELETE",
        _USER,
        user_endpoints.delete_scim_user,
        summary="SCIM: delete a user; all its credentials end",
        status=204,
    ),
    _route(
        "POST",
        _GROUPS,
        group_endpoints.create_scim_group,
        summary="SCIM: create a group",
        body=GroupBody,
        answer=GroupResource,
        parameters=_SHOWN,
        status=201,
    ),
    _route(
        "GET",
        _GROUPS,
        group_endpoints.list_scim_groups,
        summary="SCIM: list groups",
        answer=ResourceList,
        parameters=_page('displayName sw "Sales" and members eq "ID"'),
    ),
    _route(
        "GET",
        _GROUP,
        group_endpoints.get_scim_group,
        summary="SCIM: get a group",
        answer=GroupResource,
        parameters=_SHOWN,
    ),
    _route(
        "PUT",
        _GROUP,
        group_endpoints.replace_scim_group,
        summary="SCIM: replace a group's name and members",
        body=GroupBody,
        answer=GroupResource,
        parameters=_SHOWN,
    ),
    _route(
        "PATCH",
        _GROUP,
        group_endpoints.patch_scim_group,
        summary="SCIM: change a group's name or some of its members",
        body=PatchBody,
        answer=GroupResource,
        parameters=_SHOWN,
        empty_status=204,
    ),
    _route(
        "DELETE",
        _GROUP,
        group_endpoints.delete_scim_group,
        summary="SCIM: delete a group with its memberships",
        status=204,
    ),
    _route(
        "GET",
        "/scim/v2/ServiceProviderConfig",
        discovery.get_service_provider_config,
        summary="SCIM: get what this service supports",
        answer=Discovered,
    ),
    _route(
        "GET",
        _TYPES,
        discovery.list_resource_types,
        summary="SCIM: list the types of resources",
        answer=ResourceList,
    ),
    _route(
        "GET",
        f"{_TYPES}/{{resource_id}}",
        discovery.get_resource_type,
        summary="SCIM: get a type of resources",
        answer=Discovered,
    ),
    _route(
        "GET",
        _SCHEMAS,
        discovery.list_schemas,
        summary="SCIM: list the schemas",
        answer=ResourceList,
    ),
    _route(
        "GET",
        f"{_SCHEMAS}/{{resource_id}}",
        discovery.get_schema,
        summary="SCIM: get a schema",
        answer=Discovered,
    ),
)
