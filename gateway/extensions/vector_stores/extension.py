"""OpenAI's vector stores and files."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from pydantic import BaseModel

from gateway.extension import Dialect, Extension, JobKind, Services, default_quotas, repeat
from gateway.extensions._files import installed_formats, read_options
from gateway.extensions._sources.removal_job import RemoveSourceJob
from gateway.extensions._sources.source_store import REMOVE, SourceStore
from gateway.extensions.vector_stores import errors
from gateway.extensions.vector_stores.extractors import Extractors
from gateway.extensions.vector_stores.routes import ROUTES
from gateway.extensions.vector_stores.stored.vector_store_store import VectorStoreStore
from gateway.extensions.vector_stores.vector_store_services import VectorStoreServices

_LOST_INTERVAL_S = 600.0
_EXTRACTORS = 2  # processes that read uploaded files; a tenant uses half of them


@asynccontextmanager
async def _open(services: Services, _: BaseModel) -> AsyncIterator[VectorStoreServices]:
    options = read_options.of(services.settings)
    formats = installed_formats.formats(services.settings.extensions_off)
    sources = SourceStore(services.stores.database, default_quotas(services.settings))
    async with Extractors(_EXTRACTORS, formats, options) as extractors:
        yield VectorStoreServices(
            services.stores, sources, services.search, services.documents, extractors
        )


async def _work(services: VectorStoreServices, stop: asyncio.Event) -> None:
    stores = VectorStoreStore(services.stores.database)
    await repeat(stop, _LOST_INTERVAL_S, stores.end_lost_requests)


EXTENSION = Extension(
    summary="clients of OpenAI's vector stores and files need only another base URL",
    routes=ROUTES,
    open=_open,
    work=_work,
    jobs={
        REMOVE: JobKind(lambda own: RemoveSourceJob(own.stores, own.sources, own.documents.writer))
    },
    check=installed_formats.check,
    dialect=Dialect(errors.concerns, errors.render),
)
