"""Import: the operator brings in an exported tenant, or the records of another store."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from gateway.extension import Extension, Services
from gateway.extensions.import_.import_settings import ImportSettings


@asynccontextmanager
async def _open(_services: Services, _settings: ImportSettings) -> AsyncIterator[None]:
    """A gateway needs nothing of it: its command does the work."""
    yield


EXTENSION = Extension(
    summary="an exported tenant, or the records of another store, are brought in by a command",
    routes=(),
    open=_open,
    settings=ImportSettings,
)
