"""The API: each call with what it needs, who answers it, and what travels."""

from functools import cache

import orjson
from starlette.responses import Response

from gateway import (
    administration,
    documents,
    jobs,
    jobs_wire,
    openapi,
    operation,
    semantic,
    sources,
    sources_wire,
    wire,
)
from gateway.exchange import Call, Exchange
from gateway.search import search


@cache
def _openapi() -> bytes:
    return orjson.dumps(openapi.document(CALLS))


async def get_openapi(_: Exchange) -> Response:
    return Response(_openapi(), media_type="application/json")


CALLS = (
    Call(
        "POST",
        "/v1/search",
        search,
        needs="reader",
        summary="The chunks that answer a query best, among those that the caller may see",
        body=wire.SearchBody,
        answer=wire.SearchAnswer,
    ),
    Call(
        "POST",
        "/v1/documents/batch",
        documents.put_batch,
        needs="writer",
        summary="Write many documents, one a line; one result a line",
        body=wire.BatchLine,
        answer=wire.WrittenAnswer,
        media_type="application/x-ndjson",
    ),
    Call(
        "PATCH",
        "/v1/documents/{document_id:path}/access",
        documents.patch_access,
        needs="writer",
        summary="Change a document's owner and readers, without embedding anything",
        body=wire.AccessBody,
        answer=wire.RevisionAnswer,
    ),
    Call(
        "PUT",
        "/v1/documents/{document_id:path}",
        documents.put_document,
        needs="writer",
        summary="Write a document, or its next version",
        body=wire.DocumentBody,
        answer=wire.WrittenAnswer,
        later=jobs_wire.QueuedAnswer,
    ),
    Call(
        "GET",
        "/v1/documents/{document_id:path}",
        documents.get_document,
        needs="reader",
        summary="A document that the caller may read",
        answer=wire.DocumentAnswer,
    ),
    Call(
        "DELETE",
        "/v1/documents/{document_id:path}",
        documents.delete_document,
        needs="writer",
        summary="Remove a document",
        answer=wire.RevisionAnswer,
    ),
    Call(
        "GET",
        "/v1/documents",
        documents.list_documents,
        needs="reader",
        summary="The documents that the caller may read, page by page, without their texts",
        answer=wire.DocumentsAnswer,
        parameters=("cursor", "limit", "source"),
    ),
    Call(
        "POST",
        "/v1/tenants",
        administration.create_tenant,
        needs="operator",
        summary="Create a tenant",
        body=wire.TenantBody,
        answer=wire.TenantAnswer,
        status=201,
    ),
    Call(
        "POST",
        "/v1/keys",
        administration.create_key,
        needs="admin",
        summary="Create a key; the operator for any tenant, an admin for its own",
        body=wire.KeyBody,
        answer=wire.KeyAnswer,
        status=201,
    ),
    Call(
        "DELETE",
        "/v1/keys/{key_id}",
        administration.revoke_key,
        needs="admin",
        summary="Revoke a key, from the next request on",
        status=204,
    ),
    Call(
        "PUT",
        "/v1/groups/{group:path}/members/{subject:path}",
        administration.add_member,
        needs="admin",
        summary="Add a member to a group of the tenant",
        status=204,
    ),
    Call(
        "DELETE",
        "/v1/groups/{group:path}/members/{subject:path}",
        administration.remove_member,
        needs="admin",
        summary="Remove a member from a group of the tenant",
        status=204,
    ),
    Call(
        "GET",
        "/v1/cache/semantic",
        semantic.get_semantic,
        needs="admin",
        summary="How right the answers of similar questions were, by how similar they are",
        answer=wire.SemanticAnswer,
    ),
    Call(
        "PUT",
        "/v1/cache/semantic",
        semantic.put_semantic,
        needs="admin",
        summary="Set the share of wrong answers up to which similar questions' answers are served",
        body=wire.SemanticBody,
        answer=wire.SemanticAnswer,
    ),
    Call(
        "GET",
        "/v1/jobs",
        jobs.list_jobs,
        needs="writer",
        summary="Queued work, the newest first: the caller's own, an admin's whole tenant's",
        answer=jobs_wire.JobsAnswer,
        parameters=("cursor", "kind", "limit", "state"),
    ),
    Call(
        "GET",
        "/v1/jobs/{job_id}",
        jobs.get_job,
        needs="writer",
        summary="How far a piece of queued work is, and what came of it",
        answer=jobs_wire.JobAnswer,
    ),
    Call(
        "POST",
        "/v1/jobs/{job_id}/replay",
        jobs.replay_job,
        needs="admin",
        summary="Let work that has failed wait again",
        answer=jobs_wire.JobAnswer,
    ),
    Call(
        "DELETE",
        "/v1/jobs/{job_id}",
        jobs.drop_job,
        needs="admin",
        summary="Forget a piece of queued work that is not being done",
        status=204,
    ),
    Call(
        "GET",
        "/v1/sources",
        sources.list_sources,
        needs="admin",
        summary="The tenant's sources, what they are doing and what the last reading came to",
        answer=sources_wire.SourcesAnswer,
    ),
    Call(
        "PUT",
        "/v1/sources/{source:path}",
        sources.put_source,
        needs="admin",
        summary="Say how and when a source is read, or pause it",
        body=sources_wire.SourceBody,
        answer=sources_wire.SourceAnswer,
    ),
    Call(
        "POST",
        "/v1/sources/{source:path}/reindex",
        sources.reindex_source,
        needs="admin",
        summary="Read a source now; only changes are paid for, and what is gone is removed",
        answer=jobs_wire.QueuedAnswer,
        status=202,
    ),
    Call(
        "DELETE",
        "/v1/sources/{source:path}",
        sources.delete_source,
        needs="admin",
        summary="Remove a source with all its documents",
        answer=jobs_wire.QueuedAnswer,
        status=202,
    ),
    Call("GET", "/healthz", operation.healthz, needs="anyone", summary="Is the process alive"),
    Call("GET", "/readyz", operation.readyz, needs="anyone", summary="Can it answer searches"),
    Call("GET", "/metrics", operation.get_metrics, needs="anyone", summary="Prometheus metrics"),
    Call("GET", "/openapi.json", get_openapi, needs="anyone", summary="This description"),
)
