"""Admins and the operator create and revoke keys, and admins say who belongs to which group."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from pydantic import BaseModel

from gateway.extension import Extension, Services, Stores
from gateway.extensions.keys.routes import ROUTES


@asynccontextmanager
async def _open(services: Services, _: BaseModel) -> AsyncIterator[Stores]:
    yield services.stores


EXTENSION = Extension(
    summary="calls and commands create, rotate and revoke keys and tokens, and name groups",
    routes=ROUTES,
    open=_open,
)
