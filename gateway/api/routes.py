"""The API: each call with what it needs, who answers it, and what travels."""

from collections.abc import Callable, Iterable, Sequence
from functools import cache
from typing import Any, TypeAlias, TypeVar

import orjson
from starlette.responses import Response

from gateway.admin import (
    audit_log_endpoints,
    audit_log_schemas,
    job_endpoints,
    job_schemas,
    key_endpoints,
    key_schemas,
    tenant_endpoints,
    tenant_schemas,
    usage_endpoints,
    usage_schemas,
)
from gateway.admin.admin_services import AdminServices
from gateway.api import health, openapi, parameters, rag_routes, vector_store_routes
from gateway.caching import semantic_endpoints, semantic_schemas
from gateway.caching.cache_services import CacheServices
from gateway.documents import (
    access_endpoints,
    access_schemas,
    deletion,
    deletion_schemas,
    document_endpoints,
    document_schemas,
)
from gateway.documents.document_services import DocumentServices
from gateway.http.request_context import RequestContext
from gateway.http.route import ApiRoute, body_limit
from gateway.mcp import mcp_schemas as mcp_wire
from gateway.mcp.endpoint import mcp
from gateway.mcp.mcp_services import McpServices
from gateway.schemas import QueuedAnswer
from gateway.search import search_schemas
from gateway.search.batch_endpoint import search_batch
from gateway.search.search_endpoint import search
from gateway.search.search_services import SearchServices
from gateway.services import Services
from gateway.sources import source_endpoints, source_schemas
from gateway.sources.source_services import SourceServices

RoomServices = TypeVar("RoomServices")
RoomRoute: TypeAlias = tuple[ApiRoute[Any], Callable[[Services], Any]]


@cache
def _openapi() -> bytes:
    return orjson.dumps(openapi.document(CALLS))


async def get_openapi(_: RequestContext[object]) -> Response:
    return Response(_openapi(), media_type="application/json")


_SEARCH: tuple[ApiRoute[SearchServices], ...] = (
    ApiRoute(
        "POST",
        "/v1/search",
        search,
        needs="reader",
        summary="The chunks that answer a query best, among those that the caller may see",
        body=search_schemas.SearchBody,
        answer=search_schemas.SearchAnswer,
    ),
    ApiRoute(
        "POST",
        "/v1/search/batch",
        search_batch,
        needs="reader",
        summary="Many searches in one call, all answered at one revision",
        body=search_schemas.SearchBatchBody,
        body_bytes_max=lambda settings: settings.searches_max * settings.search_bytes_max,
        answer=search_schemas.SearchBatchAnswer,
    ),
)
_DOCUMENTS: tuple[ApiRoute[DocumentServices], ...] = (
    ApiRoute(
        "POST",
        "/v1/documents/batch",
        document_endpoints.put_batch,
        needs="writer",
        summary="Write many documents, one a line; one result a line",
        body=document_schemas.BatchLine,
        body_bytes_max=lambda settings: settings.batch_bytes_max,
        answer=document_schemas.WrittenAnswer,
        media_type="application/x-ndjson",
    ),
    ApiRoute(
        "GET",
        "/v1/documents/{document_id:path}/access/explain",
        access_endpoints.explain_access,
        needs="admin",
        summary="Why the subject that is named sees a document, or doesn't",
        answer=access_schemas.AccessExplained,
        parameters={"subject": parameters.SUBJECT},
    ),
    ApiRoute(
        "PATCH",
        "/v1/documents/{document_id:path}/access",
        document_endpoints.patch_access,
        needs="writer",
        summary="Change a document's owner and readers, without embedding anything",
        body=document_schemas.AccessBody,
        answer=document_schemas.RevisionAnswer,
    ),
    ApiRoute(
        "PUT",
        "/v1/documents/{document_id:path}",
        document_endpoints.put_document,
        needs="writer",
        summary="Write a document, or its next version",
        body=document_schemas.DocumentBody,
        body_bytes_max=lambda settings: settings.document_bytes_max,
        answer=document_schemas.WrittenAnswer,
        queued_answer=QueuedAnswer,
    ),
    ApiRoute(
        "GET",
        "/v1/documents/{document_id:path}",
        document_endpoints.get_document,
        needs="reader",
        summary="A document that the caller may read",
        answer=document_schemas.DocumentAnswer,
    ),
    ApiRoute(
        "DELETE",
        "/v1/documents/{document_id:path}",
        deletion.delete_document,
        needs="writer",
        summary="Forget a document: its rows, vectors, summaries and cached answers",
        answer=deletion_schemas.DeletionAnswer,
        queued_answer=deletion_schemas.DeletionAnswer,
    ),
    ApiRoute(
        "GET",
        "/v1/documents",
        document_endpoints.list_documents,
        needs="reader",
        summary="The documents that the caller may read, page by page, without their texts",
        answer=document_schemas.DocumentsAnswer,
        parameters={
            "cursor": parameters.LINE_CURSOR,
            "limit": parameters.limit(),
            "source": parameters.LINE,
        },
    ),
    ApiRoute(
        "DELETE",
        "/v1/tenants/{tenant}",
        deletion.delete_tenant,
        needs="operator",
        summary="Forget a tenant with all that it has; its keys stop at once",
        answer=QueuedAnswer,
        status=202,
    ),
)
_SOURCES: tuple[ApiRoute[SourceServices], ...] = (
    ApiRoute(
        "GET",
        "/v1/sources",
        source_endpoints.list_sources,
        needs="admin",
        summary="The tenant's sources, what they are doing and what the last reading came to",
        answer=source_schemas.SourcesAnswer,
    ),
    ApiRoute(
        "PUT",
        "/v1/sources/{source:path}",
        source_endpoints.put_source,
        needs="admin",
        summary="Say how and when a source is read, or pause it",
        body=source_schemas.SourceBody,
        body_bytes_max=body_limit(65_536),
        answer=source_schemas.SourceAnswer,
    ),
    ApiRoute(
        "POST",
        "/v1/sources/{source:path}/reindex",
        source_endpoints.reindex_source,
        needs="admin",
        summary="Read a source now; only changes are paid for, and what is gone is removed",
        answer=QueuedAnswer,
        status=202,
    ),
    ApiRoute(
        "DELETE",
        "/v1/sources/{source:path}",
        source_endpoints.delete_source,
        needs="admin",
        summary="Remove a source with all its documents",
        answer=QueuedAnswer,
        status=202,
    ),
)
_ADMIN: tuple[ApiRoute[AdminServices], ...] = (
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
    ApiRoute(
        "POST",
        "/v1/keys",
        key_endpoints.create_key,
        needs="admin",
        summary="Create a key; the operator for any tenant, an admin for its own",
        body=key_schemas.KeyBody,
        body_bytes_max=body_limit(65_536),
        answer=key_schemas.KeyAnswer,
        status=201,
    ),
    ApiRoute(
        "GET",
        "/v1/keys",
        key_endpoints.list_keys,
        needs="admin",
        summary="A tenant's keys, revoked ones too, and when each was last used; no secrets",
        answer=key_schemas.KeysAnswer,
        parameters={"cursor": parameters.LINE_CURSOR, "tenant": parameters.TENANT},
    ),
    ApiRoute(
        "POST",
        "/v1/keys/{key_id}/rotate",
        key_endpoints.rotate_key,
        needs="admin",
        summary="Replace a key by a new one for the same holder; both work for a while",
        body=key_schemas.RotateBody,
        body_bytes_max=body_limit(65_536),
        answer=key_schemas.KeyAnswer,
        status=201,
    ),
    ApiRoute(
        "DELETE",
        "/v1/keys/{key_id}",
        key_endpoints.revoke_key,
        needs="admin",
        summary="Revoke a key, from the next request on",
        status=204,
    ),
    ApiRoute(
        "POST",
        "/v1/tokens",
        key_endpoints.create_token,
        needs="reader",
        summary="Make a token that may do less than what it is made with, for an agent to carry",
        body=key_schemas.TokenBody,
        body_bytes_max=body_limit(65_536),
        answer=key_schemas.TokenAnswer,
        status=201,
    ),
    ApiRoute(
        "DELETE",
        "/v1/tokens/{key_id}",
        key_endpoints.revoke_token,
        needs="reader",
        summary="End a token of one's own, and those made with it",
        status=204,
    ),
    ApiRoute(
        "PUT",
        "/v1/groups/{group:path}/members/{subject:path}",
        tenant_endpoints.add_member,
        needs="admin",
        summary="Add a member to a group of the tenant",
        status=204,
    ),
    ApiRoute(
        "DELETE",
        "/v1/groups/{group:path}/members/{subject:path}",
        tenant_endpoints.remove_member,
        needs="admin",
        summary="Remove a member from a group of the tenant",
        status=204,
    ),
    ApiRoute(
        "GET",
        "/v1/jobs",
        job_endpoints.list_jobs,
        needs="writer",
        summary="Queued work, the newest first: the caller's own, an admin's whole tenant's",
        answer=job_schemas.JobsAnswer,
        parameters={
            "cursor": parameters.NUMBER_CURSOR,
            "kind": parameters.LINE,
            "limit": parameters.limit(),
            "state": parameters.JOB_STATE,
        },
    ),
    ApiRoute(
        "GET",
        "/v1/jobs/{job_id}",
        job_endpoints.get_job,
        needs="writer",
        summary="How far a piece of queued work is, and what came of it",
        answer=job_schemas.JobAnswer,
    ),
    ApiRoute(
        "POST",
        "/v1/jobs/{job_id}/replay",
        job_endpoints.replay_job,
        needs="admin",
        summary="Let work that has failed wait again",
        answer=job_schemas.JobAnswer,
    ),
    ApiRoute(
        "DELETE",
        "/v1/jobs/{job_id}",
        job_endpoints.drop_job,
        needs="admin",
        summary="Forget a piece of queued work that is not being done",
        status=204,
    ),
    ApiRoute(
        "GET",
        "/v1/ingest/status",
        usage_endpoints.get_status,
        needs="admin",
        summary="What waits, runs and has failed, and how far behind the index is, by source",
        answer=usage_schemas.StatusAnswer,
    ),
    ApiRoute(
        "GET",
        "/v1/usage",
        usage_endpoints.get_usage,
        needs="admin",
        summary="Tokens and money by day and operation, and this month's limit",
        answer=usage_schemas.UsageAnswer,
        parameters={"from": parameters.DAY, "to": parameters.DAY},
    ),
    ApiRoute(
        "PUT",
        "/v1/tenants/{tenant}/budget",
        usage_endpoints.put_budget,
        needs="operator",
        summary="Set the most that a tenant may use in a month",
        body=usage_schemas.BudgetBody,
        body_bytes_max=body_limit(1_024),
        status=204,
    ),
    ApiRoute(
        "GET",
        "/v1/audit/log",
        audit_log_endpoints.get_audit_log,
        needs="admin",
        summary="Who saw and who changed what, the newest first; identifiers alone",
        answer=audit_log_schemas.AuditLogAnswer,
        parameters={
            "cursor": parameters.NUMBER_CURSOR,
            "document": parameters.LINE,
            "limit": parameters.limit(),
            "since": parameters.INSTANT,
            "subject": parameters.LINE,
        },
    ),
    ApiRoute("GET", "/healthz", health.healthz, needs="anyone", summary="Is the process alive"),
    ApiRoute("GET", "/readyz", health.readyz, needs="anyone", summary="Can it answer searches"),
    ApiRoute("GET", "/metrics", health.get_metrics, needs="anyone", summary="Prometheus metrics"),
    ApiRoute("GET", "/openapi.json", get_openapi, needs="anyone", summary="This description"),
)
_CACHE: tuple[ApiRoute[CacheServices], ...] = (
    ApiRoute(
        "GET",
        "/v1/cache/semantic",
        semantic_endpoints.get_semantic,
        needs="admin",
        summary="How right the answers of similar questions were, by how similar they are",
        answer=semantic_schemas.SemanticAnswer,
    ),
    ApiRoute(
        "PUT",
        "/v1/cache/semantic",
        semantic_endpoints.put_semantic,
        needs="admin",
        summary="Set the share of wrong answers up to which similar questions' answers are served",
        body=semantic_schemas.SemanticBody,
        body_bytes_max=body_limit(1_024),
        answer=semantic_schemas.SemanticAnswer,
    ),
)
_MCP: tuple[ApiRoute[McpServices], ...] = (
    ApiRoute(
        "POST",
        "/mcp",
        mcp,
        needs="reader",
        summary="The tools `search`, `fetch` and `list_sources` of the Model Context Protocol",
        body=mcp_wire.McpRequest,
        answer=mcp_wire.McpAnswer,
        error=mcp_wire.McpError,
        empty_status=202,
        checks_origin=True,
    ),
)


def _in_room(
    room: Callable[[Services], RoomServices], routes: Iterable[ApiRoute[RoomServices]]
) -> list[RoomRoute]:
    return [(route, room) for route in routes]


ROUTES: Sequence[RoomRoute] = (
    *_in_room(lambda services: services.search, _SEARCH),
    *_in_room(lambda services: services.documents, _DOCUMENTS),
    *_in_room(lambda services: services.sources, _SOURCES),
    *_in_room(lambda services: services.admin, _ADMIN),
    *_in_room(lambda services: services.caches, _CACHE),
    *_in_room(lambda services: services.mcp, _MCP),
    *_in_room(lambda services: services.vector_stores, vector_store_routes.ROUTES),
    *_in_room(lambda services: services.answer, rag_routes.ANSWER),
    *_in_room(lambda services: services.curation, rag_routes.CURATION),
)
CALLS = tuple(route for route, _ in ROUTES)
