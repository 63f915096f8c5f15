"""FAQs: questions and answers that admins keep."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from pydantic import BaseModel

from gateway.extension import DocumentServices, Extension, Services
from gateway.extensions.faqs.routes import ROUTES


@asynccontextmanager
async def _open(services: Services, _: BaseModel) -> AsyncIterator[DocumentServices]:
    yield services.documents


EXTENSION = Extension(
    summary="admins keep questions and answers, one by one or as CSV, and searches find them",
    routes=ROUTES,
    open=_open,
)
