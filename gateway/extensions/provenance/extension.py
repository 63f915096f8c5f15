"""Subjects ratify documents, and admins hold what agents write until somebody does."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from pydantic import BaseModel

from gateway.extension import ApiRoute, Extension, RevisionAnswer, Services, body_limit
from gateway.extensions.provenance import provenance_endpoints
from gateway.extensions.provenance.provenance_endpoints import ProvenanceServices
from gateway.extensions.provenance.provenance_schemas import QuarantineBody, RatifyBody
from gateway.extensions.provenance.quarantine_store import QuarantineStore

_ROUTES: tuple[ApiRoute[ProvenanceServices], ...] = (
    ApiRoute(
        "POST",
        "/v1/documents/{document_id:path}/ratify",
        provenance_endpoints.post_ratify,
        needs="writer",
        summary="Stand behind a document, or withdraw that",
        body=RatifyBody,
        is_body_optional=True,
        body_bytes_max=body_limit(1_024),
        answer=RevisionAnswer,
        has_preconditions=True,
    ),
    ApiRoute(
        "GET",
        "/v1/quarantine",
        provenance_endpoints.get_quarantine,
        needs="admin",
        summary="Get what of agents' writing is held until somebody ratifies it",
        answer=QuarantineBody,
    ),
    ApiRoute(
        "PUT",
        "/v1/quarantine",
        provenance_endpoints.put_quarantine,
        needs="admin",
        summary="Set what of agents' writing is held until somebody ratifies it",
        body=QuarantineBody,
        answer=QuarantineBody,
    ),
)


@asynccontextmanager
async def _open(services: Services, _: BaseModel) -> AsyncIterator[ProvenanceServices]:
    yield ProvenanceServices(services.documents, QuarantineStore(services.stores.database))


EXTENSION = Extension(
    summary="subjects ratify what agents and the web say, or keep it apart until then",
    routes=_ROUTES,
    open=_open,
)
