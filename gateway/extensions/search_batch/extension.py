"""Many searches in one call, all answered at one revision."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from pydantic import BaseModel

from gateway.extension import (
    BATCH_SEARCHES_MAX,
    SEARCH_BYTES_MAX,
    ApiRoute,
    Extension,
    SearchServices,
    Services,
    body_limit,
)
from gateway.extensions.search_batch.search_batch_endpoint import search_batch
from gateway.extensions.search_batch.search_batch_schemas import (
    SearchBatchAnswer,
    SearchBatchBody,
)

_ROUTES: tuple[ApiRoute[SearchServices], ...] = (
    ApiRoute(
        "POST",
        "/v1/search/batch",
        search_batch,
        needs="reader",
        summary="Run many searches at one revision",
        body=SearchBatchBody,
        body_bytes_max=body_limit(BATCH_SEARCHES_MAX * SEARCH_BYTES_MAX),
        answer=SearchBatchAnswer,
    ),
)


@asynccontextmanager
async def _open(services: Services, _: BaseModel) -> AsyncIterator[SearchServices]:
    yield services.search


EXTENSION = Extension(
    summary="many searches in one call are answered at one revision", routes=_ROUTES, open=_open
)
