"""Up to when the rights of a tenant follow OpenFGA, for the header of its answers."""

from collections.abc import AsyncIterator, Collection
from contextlib import asynccontextmanager
from datetime import UTC
from typing import Protocol

from gateway.repeated_reading import repeated_reading
from index.openfga.tuple_store import StoreProgress

_EVERY_S = 1.0  # a starting value: a worker moves the time about as often


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
        async with repeated_reading("openfga", self.read, every_s=_EVERY_S):
            yield  # the times stay true while a reading fails

    async def read(self) -> None:
        for tenant, progress in (await self._tuples.progress(self._tenants)).items():
            at = progress.as_of.astimezone(UTC).isoformat(timespec="milliseconds")
            value = at.replace("+00:00", "Z").encode()
            self.headers[tenant] = (b"nearhit-rights-as-of", value)
