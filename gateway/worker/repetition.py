"""Repeats what maintains stored rows."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress

import structlog

from common.errors import Saturated
from index.errors import IndexStoreError

log = structlog.get_logger()


async def repeat(
    stop: asyncio.Event, interval_s: float, action: Callable[[], Awaitable[None]]
) -> None:
    """Repeat an action until `stop` is set; a failed run is logged and the next one retries."""
    while not stop.is_set():
        try:
            await action()
        except (IndexStoreError, Saturated) as failure:
            log.warning("worker", detail=str(failure))
        with suppress(TimeoutError):
            await asyncio.wait_for(stop.wait(), interval_s)
