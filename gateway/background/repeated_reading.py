"""Reads something at intervals in the background, such as what waits in PostgreSQL."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import structlog

from common import background_tasks
from common.errors import Saturated
from index.errors import IndexStoreError

log = structlog.get_logger()


@asynccontextmanager
async def repeated_reading(
    name: str, read: Callable[[], Awaitable[None]], *, every_s: float
) -> AsyncIterator[None]:
    """Call `read` now and `every_s` seconds after each call during the block.

    A failed reading leaves what the last one has read. An outage of PostgreSQL is not logged:
    requests report it.
    name: of the log lines.
    """
    task = asyncio.create_task(_repeat(name, read, every_s))
    try:
        yield
    finally:
        await background_tasks.end(task)


async def _repeat(name: str, read: Callable[[], Awaitable[None]], every_s: float) -> None:
    while True:
        try:
            await read()
        except (IndexStoreError, Saturated):
            pass
        except Exception:
            log.exception(name)
        await asyncio.sleep(every_s)
