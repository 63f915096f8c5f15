"""Pages for people, which call the API with the key of the person who uses them."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from pydantic import BaseModel

from gateway.extension import Extension, Services, names_on
from gateway.extensions.console import console_files
from gateway.extensions.console.console_files import ConsoleFiles
from gateway.extensions.console.console_routes import ROUTES


@asynccontextmanager
async def _open(services: Services, _: BaseModel) -> AsyncIterator[ConsoleFiles]:
    yield console_files.load(tuple(names_on(services.settings.extensions_off)))


EXTENSION = Extension(
    summary="a web console, and the reference of the API, for people",
    routes=ROUTES,
    open=_open,
    home="/console",
)
