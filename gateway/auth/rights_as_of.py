"""Up to when the rights of a tenant follow OpenFGA, for the header of its answers."""

import asyncio
from collections.abc import AsyncIterator, Collection
from contextlib import asynccontextmanager
from datetime import UTC
from typing import Protocol

import structlog

from index.errors import IndexStoreError
from index.openfga.tuple_store import StoreProgress

_EVERY_S = 1.0  # a starting value: a worker moves the time about as often

log = structlog.get_logger()


class TupleProgress(Protocol):
    async def progress(self, tenants: Collection[str], /) -> dict[str, StoreProgress]: ...


class RightsAsOf:
    """headers: of each tenant whose rights come from OpenFGA.

    A time is read before the request that shows it begins, and what is applied stays applied, so
    the answer's rights are at least as new.
    """

    def __init__(self, tuples: TupleProgress, tenants: Collection[str]) -> None:
        self.headers: dict[str, tuple[bytes, bytes]] = {}
        self._tuples = tuples
        self._tenants = tenants

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Read the times now and at intervals during the block; nothing without such a tenant."""
        if not self._tenants:
            yield
            return
        task = asyncio.create_task(self._repeat())
        try:
            yield
        finally:
            task.cancel()
            await asyncio.wait([task])

    async def _repeat(self) -> None:
        while True:
            try:
                await self.read()
            except IndexStoreError:
                pass  # the times stay true; requests report the outage
            except Exception:
                log.exception("openfga")
            await asyncio.sleep(_EVERY_S)

    async def read(self) -> None:
        for tenant, progress in (await self._tuples.progress(self._tenants)).items():
            at = progress.as_of.astimezone(UTC).isoformat(timespec="milliseconds")
            value = at.replace("+00:00", "Z").encode()
            self.headers[tenant] = (b"nearhit-rights-as-of", value)
