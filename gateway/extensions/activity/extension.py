"""Admins and the operator see how searches were answered, what they cost, and who read what."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from pydantic import BaseModel

from gateway.extension import AdminServices, Extension, Services
from gateway.extensions.activity.routes import ROUTES


@asynccontextmanager
async def _open(services: Services, _: BaseModel) -> AsyncIterator[AdminServices]:
    yield services.admin


EXTENSION = Extension(
    summary="admins and the operator see how searches were answered, costs, and who read what",
    routes=ROUTES,
    open=_open,
)
