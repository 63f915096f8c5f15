"""The table of routes: the required role, the handler and the bodies of each.

The routes of extensions come after those of the core.
"""

from collections import ChainMap
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain
from typing import Any, TypeAlias, TypeVar

from common.command_errors import CommandError
from gateway.admin import caller_endpoint, caller_schemas, tenant_endpoints, tenant_schemas
from gateway.api import health, root
from gateway.api.root import RootAnswer
from gateway.bodies.schemas import QueuedAnswer
from gateway.documents import (
    deletion,
    deletion_schemas,
    document_endpoints,
    document_schemas,
)
from gateway.documents.document_services import DocumentServices
from gateway.extension import Extension
from gateway.http.request import parameters
from gateway.http.route import ApiRoute, body_limit
from gateway.search.schemas import search_answer_schemas, search_schemas
from gateway.search.search_endpoint import search
from gateway.search.search_services import SearchServices
from gateway.services import Services
from gateway.stores import Stores

RoomServices = TypeVar("RoomServices")
RoomRoute: TypeAlias = tuple[ApiRoute[Any], Callable[[Services], Any]]


_SEARCH: tuple[ApiRoute[SearchServices], ...] = (
    ApiRoute(
        "POST",
        "/v1/search",
        search,
        needs="reader",
        summary="Search the documents that the caller may read",
        body=search_schemas.SearchBody,
        answer=search_answer_schemas.SearchAnswer,
        preferences={},  # those of extensions
        only_reads=True,
    ),
)

_DOCUMENTS: tuple[ApiRoute[DocumentServices], ...] = (
    ApiRoute(
        "PATCH",
        "/v1/documents/{document_id:path}/access",
        document_endpoints.patch_access,
        needs="writer",
        summary="Change a document's owner and readers, without embedding",
        body=document_schemas.AccessBody,
        answer=document_schemas.RevisionAnswer,
        has_preconditions=True,
    ),
    ApiRoute(
        "PUT",
        "/v1/documents/{document_id:path}",
        document_endpoints.put_document,
        needs="writer",
        summary="Write a document or a new version of it",
        body=document_schemas.DocumentBody,
        body_bytes_max=lambda settings: settings.document_bytes_max,
        answer=document_schemas.WrittenAnswer,
        queued_answer=QueuedAnswer,
        has_preconditions=True,
    ),
    ApiRoute(
        "GET",
        "/v1/documents/{document_id:path}",
        document_endpoints.get_document,
        needs="reader",
        summary="Get a document, also another tenant's public one",
        answer=document_schemas.DocumentAnswer,
        parameters={"chunks": parameters.one_of("false", "true"), "tenant": parameters.TENANT},
        has_etag=True,
    ),
    ApiRoute(
        "DELETE",
        "/v1/documents/{document_id:path}",
        deletion.delete_document,
        needs="writer",
        summary="Delete a document with its vectors, summaries and cached answers",
        answer=deletion_schemas.DeletionAnswer,
        queued_answer=deletion_schemas.DeletionAnswer,
        has_preconditions=True,
    ),
    ApiRoute(
        "GET",
        "/v1/documents",
        document_endpoints.list_documents,
        needs="reader",
        summary="List the documents that the caller may read, by identifier, without their texts",
        answer=document_schemas.DocumentsAnswer,
        parameters={
            "cursor": parameters.LINE_CURSOR,
            "language": parameters.LINE,
            "limit": parameters.limit(),
            "prefix": parameters.LINE,
            "source": parameters.LINE,
            "tag": parameters.LINE,
            "total": parameters.one_of("false", "true"),
        },
    ),
    ApiRoute(
        "DELETE",
        "/v1/tenants/{tenant}",
        deletion.delete_tenant,
        needs="operator",
        summary="Delete a tenant with all its data; its keys are refused at once",
        answer=QueuedAnswer,
        status=202,
    ),
)

_ADMIN: tuple[ApiRoute[Stores], ...] = (
    ApiRoute(
        "GET",
        "/v1/caller",
        caller_endpoint.get_caller,
        needs="reader",
        summary="Get the principal that the credential stands for",
        answer=caller_schemas.CallerAnswer,
    ),
    ApiRoute(
        "POST",
        "/v1/tenants",
        tenant_endpoints.create_tenant,
        needs="operator",
        summary="Create a tenant",
        body=tenant_schemas.TenantBody,
        body_bytes_max=body_limit(65_536),
        answer=tenant_schemas.TenantAnswer,
        status=201,
    ),
)

_OPERATION: tuple[ApiRoute[Services], ...] = (
    ApiRoute(
        "GET",
        "/",
        root.answering(RootAnswer(), ""),
        needs="anyone",
        summary="Get what answers here, and where to go on",
        answer=RootAnswer,
    ),
    ApiRoute(
        "GET",
        "/healthz",
        health.healthz,
        needs="anyone",
        summary="Check whether the process is alive",
    ),
    ApiRoute(
        "GET",
        "/readyz",
        health.readyz,
        needs="anyone",
        summary="Check whether searches can be answered",
    ),
    ApiRoute(
        "GET",
        "/metrics",
        health.get_metrics,
        needs="anyone",
        summary="Get metrics in Prometheus's format",
    ),
)


def _in_room(
    room: Callable[[Services], RoomServices], routes: Iterable[ApiRoute[RoomServices]]
) -> list[RoomRoute]:
    return [(route, room) for route in routes]


# Each route of the core, and which services its handler gets.
_ROOM_ROUTES: Sequence[RoomRoute] = (
    *_in_room(lambda services: services.search, _SEARCH),
    *_in_room(lambda services: services.documents, _DOCUMENTS),
    *_in_room(lambda services: services, _OPERATION),
    *_in_room(lambda services: services.stores, _ADMIN),
)


def room_routes(extensions: Mapping[str, Extension[Any]]) -> Sequence[RoomRoute]:
    """The routes of the core and of these extensions, and which services their handlers get.

    Raises `CommandError` if an extension has a route that is taken, or if two contributions are at
    odds.
    """
    all_routes = [(_extended(route, extensions), room) for route, room in _ROOM_ROUTES]
    taken = {(route.method, route.path) for route, _ in all_routes}
    contributions = tuple(chain.from_iterable(each.contributes for each in extensions.values()))
    for name, extension in extensions.items():
        own = extension.routes_with(contributions)
        for route in own:
            if (route.method, route.path) in taken:
                raise CommandError(f"extension {name}: {route.method} {route.path} is taken")
            taken.add((route.method, route.path))
        all_routes += _in_room(partial(_own_services, name), own)
    return all_routes


def routes(extensions: Mapping[str, Extension[Any]]) -> tuple[ApiRoute[Any], ...]:
    """The routes of the API, of the core and of these extensions."""
    return tuple(route for route, _ in room_routes(extensions) if not route.is_page)


def _extended(route: ApiRoute[Any], extensions: Mapping[str, Extension[Any]]) -> ApiRoute[Any]:
    """The route, with these extensions' preferences if it heeds any.

    With what `GET /` tells of them if it is that one.
    """
    if route.answer is RootAnswer:
        answer = root.answer_with(ChainMap(*(dict(each.root) for each in extensions.values())))
        home = next((each.home for each in extensions.values() if each.home), "")
        return replace(route, answer=answer, handle=root.answering(answer(), home))
    if route.preferences is not None:
        preferences = ChainMap(*(dict(each.preferences) for each in extensions.values()))
        return replace(route, preferences=preferences)
    return route


def _own_services(name: str, services: Services) -> Any:
    return services.extensions[name]
