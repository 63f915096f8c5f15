"""OpenAI's vector stores and files."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from pydantic import BaseModel

from gateway.extension import Dialect, Extension, Services, read_options
from gateway.extensions.vector_stores import errors
from gateway.extensions.vector_stores.extractors import Extractors
from gateway.extensions.vector_stores.routes import ROUTES
from gateway.extensions.vector_stores.vector_store_services import VectorStoreServices

_EXTRACTORS = 2  # processes that read uploaded files; a tenant uses half of them


@asynccontextmanager
async def _open(services: Services, _: BaseModel) -> AsyncIterator[VectorStoreServices]:
    options, formats = read_options.of(services.settings), services.sources.kinds.formats
    async with Extractors(_EXTRACTORS, formats, options) as extractors:
        yield VectorStoreServices(services.stores, services.search, services.documents, extractors)


EXTENSION = Extension(
    summary="clients of OpenAI's vector stores and files need only another base URL",
    routes=ROUTES,
    open=_open,
    dialect=Dialect(errors.concerns, errors.render),
)
