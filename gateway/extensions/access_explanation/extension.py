"""Admins learn why a subject can or cannot read a document."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from pydantic import BaseModel

from gateway.extension import ApiRoute, Extension, Services, Stores, parameters
from gateway.extensions.access_explanation.access_explanation import explain_access
from gateway.extensions.access_explanation.access_schemas import AccessExplained

_ROUTES: tuple[ApiRoute[Stores], ...] = (
    ApiRoute(
        "GET",
        "/v1/documents/{document_id:path}/access/explain",
        explain_access,
        needs="admin",
        summary="Explain why a subject can or cannot read a document",
        answer=AccessExplained,
        parameters={"subject": parameters.SUBJECT},
    ),
)


@asynccontextmanager
async def _open(services: Services, _: BaseModel) -> AsyncIterator[Stores]:
    yield services.stores


EXTENSION = Extension(
    summary="admins learn why a subject can or cannot read a document", routes=_ROUTES, open=_open
)
