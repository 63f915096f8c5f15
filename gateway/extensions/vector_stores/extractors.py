"""Text extraction for all tenants of a gateway: a bounded number of processes, shared fairly.

The results of the last files are remembered, so a file of several vector stores is read once.
"""

import asyncio
from functools import partial
from types import TracebackType
from typing import Self

from cache.singleflight import Singleflight
from common.processes.module_worker import ProcessKilled
from common.processes.worker_pool import WorkerPool
from common.shares.cache import FairCache
from gateway.extensions._files.extract import Extractor
from gateway.extensions._files.extracted import (
    DEFAULT_OPTIONS,
    Extracted,
    NotRead,
    ReadOptions,
    Unreadable,
)
from gateway.extensions._files.formats import Formats

# Starting values, not measured.
WAITING_MAX = 64  # files of one tenant
WAIT_S_MAX = 60.0
REMEMBERED_CHARACTERS_MAX = 8_000_000
_REASON_CHARACTERS = 1_000  # the size of an entry beside its text


class Extractors:
    """A context manager that ends its processes.

    number: of processes; one tenant uses at most half of them.
    files_read: the number of files that the processes have received.
    """

    def __init__(
        self, number: int, formats: Formats, options: ReadOptions = DEFAULT_OPTIONS
    ) -> None:
        self.formats = formats
        self._pool = WorkerPool(
            partial(Extractor, formats, options),
            number,
            name="extract",
            waiting_max=WAITING_MAX,
            wait_s_max=WAIT_S_MAX,
        )
        self._flights: Singleflight[Extracted | Unreadable] = Singleflight()
        self._remembered: FairCache[tuple[str, str], Extracted | Unreadable] = FairCache(
            REMEMBERED_CHARACTERS_MAX, _size
        )
        self.files_read = 0

    async def __aenter__(self) -> Self:
        await self._pool.__aenter__()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self._pool.__aexit__(kind, error, trace)

    async def extract(self, tenant: str, file_id: str, suffix: str, content: bytes) -> Extracted:
        """The text of a file whose content never changes. Raises `Unreadable` and `Saturated`."""
        key = (tenant, file_id)
        result = self._remembered.get(key)
        if result is None:
            result = await self._flights.do(key, lambda: self._extract(tenant, suffix, content))
            self._remembered.put(tenant, key, result)
        if isinstance(result, Unreadable):
            raise Unreadable(str(result))  # a new exception: a raised one keeps its traceback
        return result

    async def _extract(self, tenant: str, suffix: str, content: bytes) -> Extracted | Unreadable:
        in_use: list[Extractor] = []
        try:
            return await self._pool.run(tenant, self._read, suffix, content, in_use)
        except Unreadable as error:
            return error
        except asyncio.CancelledError:
            for extractor in in_use:
                extractor.kill()  # frees its thread at once
            raise

    def _read(
        self, extractor: Extractor, suffix: str, content: bytes, in_use: list[Extractor]
    ) -> Extracted:
        """Runs in a thread. in_use: receives the extractor."""
        self.files_read += 1
        in_use.append(extractor)
        try:
            return extractor.extract(suffix, content)
        except NotRead:  # the next request reads it
            raise ProcessKilled from None


def _size(result: Extracted | Unreadable) -> int:
    return _REASON_CHARACTERS + (len(result.text) if isinstance(result, Extracted) else 0)
