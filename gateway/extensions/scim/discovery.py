"""What a client learns of this service: its configuration, resource types and schemas.

Source: RFC 7643, sections 5 to 7.
"""

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import orjson
from starlette.responses import Response

from gateway.extension import RequestContext, problems
from gateway.extensions.scim.errors import MEDIA_TYPE
from gateway.extensions.scim.resources import PAGE_MAX, resource_id
from gateway.extensions.scim.scim_schemas import GROUP, LIST, USER
from gateway.extensions.scim.scim_services import ScimServices

Described: TypeAlias = Mapping[str, Any]

_CONFIG = "urn:ietf:params:scim:schemas:core:2.0:ServiceProviderConfig"
_RESOURCE_TYPE = "urn:ietf:params:scim:schemas:core:2.0:ResourceType"
_SCHEMA = "urn:ietf:params:scim:schemas:core:2.0:Schema"
_NO = {"supported": False}


def _attribute(name: str, description: str, **differing: object) -> Described:
    return {
        "name": name,
        "type": "string",
        "multiValued": False,
        "description": description,
        "required": False,
        "caseExact": True,
        "mutability": "readWrite",
        "returned": "default",
        "uniqueness": "none",
    } | differing


def _of_group(name: str, description: str) -> Described:
    return _attribute(name, description, mutability="immutable")


_EXTERNAL_ID = _attribute("externalId", "The identity provider's own identifier.")
_CONFIGURATION: Described = {
    "schemas": [_CONFIG],
    "patch": {"supported": True},
    "bulk": _NO | {"maxOperations": 0, "maxPayloadSize": 0},
    "filter": {"supported": True, "maxResults": PAGE_MAX},
    "changePassword": _NO,
    "sort": _NO,
    "etag": _NO,
    "authenticationSchemes": [
        {
            "type": "oauthbearertoken",
            "name": "Bearer",
            "description": "A key with the role provisioner or admin.",
            "primary": True,
        }
    ],
    "meta": {
        "resourceType": "ServiceProviderConfig",
        "location": "/scim/v2/ServiceProviderConfig",
    },
}
_RESOURCE_TYPES: Sequence[Described] = [
    {
        "schemas": [_RESOURCE_TYPE],
        "id": name,
        "name": name,
        "endpoint": f"/{name}s",
        "schema": schema,
        "meta": {"resourceType": "ResourceType", "location": f"/scim/v2/ResourceTypes/{name}"},
    }
    for name, schema in (("User", USER), ("Group", GROUP))
]
_SCHEMAS: Sequence[Described] = [
    {
        "schemas": [_SCHEMA],
        "id": schema,
        "name": name,
        "description": description,
        "attributes": attributes,
        "meta": {"resourceType": "Schema", "location": f"/scim/v2/Schemas/{schema}"},
    }
    for schema, name, description, attributes in (
        (
            USER,
            "User",
            "A user, whose subject's credentials work while it is active.",
            [
                _attribute(
                    "userName",
                    "The user's name; compared without regard to case.",
                    required=True,
                    caseExact=False,
                    uniqueness="server",
                ),
                _EXTERNAL_ID,
                _attribute("displayName", "The user's name for people.", caseExact=False),
                _attribute("active", "Whether the user's credentials work.", type="boolean"),
                _attribute(
                    "emails",
                    "The user's addresses, to look it up by.",
                    type="complex",
                    multiValued=True,
                    subAttributes=[
                        _attribute("value", "The address.", caseExact=False),
                        _attribute("type", "Such as `work`.", caseExact=False),
                        _attribute("primary", "Whether it is the main one.", type="boolean"),
                    ],
                ),
            ],
        ),
        (
            GROUP,
            "Group",
            "A group of users, which the readers of documents name.",
            [
                _attribute("displayName", "The group's name.", required=True, uniqueness="server"),
                _EXTERNAL_ID,
                _attribute(
                    "members",
                    "The users of the group.",
                    type="complex",
                    multiValued=True,
                    subAttributes=[
                        _of_group("value", "The user's `id`."),
                        _of_group("display", "The user's `userName`."),
                        _of_group("type", "Always `User`."),
                    ],
                ),
            ],
        ),
    )
]


async def get_service_provider_config(context: RequestContext[ScimServices]) -> Response:
    await context.authenticate()
    return _json(_CONFIGURATION)


async def list_resource_types(context: RequestContext[ScimServices]) -> Response:
    await context.authenticate()
    return _list(_RESOURCE_TYPES)


async def get_resource_type(context: RequestContext[ScimServices]) -> Response:
    await context.authenticate()
    return _one(_RESOURCE_TYPES, resource_id(context))


async def list_schemas(context: RequestContext[ScimServices]) -> Response:
    await context.authenticate()
    return _list(_SCHEMAS)


async def get_schema(context: RequestContext[ScimServices]) -> Response:
    await context.authenticate()
    return _one(_SCHEMAS, resource_id(context))


def _one(described: Sequence[Described], identifier: str) -> Response:
    for resource in described:
        if resource["id"].lower() == identifier.lower():
            return _json(resource)
    raise problems.not_found("id", "There is no such resource.")


def _list(described: Sequence[Described]) -> Response:
    return _json(
        {
            "schemas": [LIST],
            "totalResults": len(described),
            "startIndex": 1,
            "itemsPerPage": len(described),
            "Resources": described,
        }
    )


def _json(body: Described) -> Response:
    return Response(orjson.dumps(body), media_type=MEDIA_TYPE)
