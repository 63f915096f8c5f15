"""Many documents are written in one call, one per line."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from pydantic import BaseModel

from gateway.extension import ApiRoute, DocumentServices, Extension, Services
from gateway.extensions.documents_batch.batch_endpoint import put_batch
from gateway.extensions.documents_batch.batch_schemas import BatchLine, BatchLineAnswer

_ROUTES: tuple[ApiRoute[DocumentServices], ...] = (
    ApiRoute(
        "POST",
        "/v1/documents/batch",
        put_batch,
        needs="writer",
        summary="Write many documents, one per line; the response has one result per line",
        body=BatchLine,
        body_bytes_max=lambda settings: settings.batch_bytes_max,
        answer=BatchLineAnswer,
        media_type="application/x-ndjson",
    ),
)


@asynccontextmanager
async def _open(services: Services, _: BaseModel) -> AsyncIterator[DocumentServices]:
    yield services.documents


EXTENSION = Extension(
    summary="many documents are written in one call, one per line", routes=_ROUTES, open=_open
)
