"""Up to when the rights of tenants follow OpenFGA: a header of their answers, and a metric."""

import math
from collections.abc import AsyncIterator, Callable, Mapping, MutableMapping
from contextlib import asynccontextmanager
from datetime import UTC

from gateway.extension import repeated_reading
from gateway.extensions.openfga.tuple_store import TupleStore

_EVERY_S = 1.0  # a starting value: a worker moves the time about as often


class RightsAsOf:
    """headers: of each tenant whose rights come from OpenFGA. lag: receives a store's, in seconds.

    A time is read before the request that shows it begins, and what is applied stays applied, so
    the answer's rights are at least as new.
    """

    def __init__(
        self,
        tuples: TupleStore,
        tenants: Mapping[str, str],
        headers: MutableMapping[str, tuple[bytes, bytes]],
        lag: Callable[[str, float], None],
    ) -> None:
        self._tuples = tuples
        self._tenants = tenants
        self._headers = headers
        self._lag = lag

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Read the times now and at intervals during the block; nothing without such a tenant."""
        if not self._tenants:
            yield
            return
        async with repeated_reading("openfga", self.read, every_s=_EVERY_S):
            yield  # the times stay true while a reading fails

    async def read(self) -> None:
        progress = await self._tuples.progress(self._tenants.values())
        for store, tenant in self._tenants.items():
            if (known := progress.get(tenant)) is None:
                self._lag(store, math.inf)
                continue
            self._lag(store, known.lag_s)
            at = known.as_of.astimezone(UTC).isoformat(timespec="milliseconds")
            value = at.replace("+00:00", "Z").encode()
            self._headers[tenant] = (b"nearhit-rights-as-of", value)
