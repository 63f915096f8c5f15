"""Text extraction for all tenants of a gateway: a bounded number of processes, fairly shared.

What a file gave is remembered for a while, so that a file of several vector stores is read once.
"""

import asyncio
from types import TracebackType
from typing import Self

from cachetools import TTLCache

from cache.singleflight import Singleflight
from ingest.parse.extract import Extracted, Extractor, Unreadable
from ingest.threads import Threads

# Starting values, not measured.
WAITING_MAX = 64  # files of one tenant
WAIT_S_MAX = 60.0
REMEMBERED_CHARACTERS_MAX = 8_000_000
REMEMBERED_S = 600.0
_REASON_CHARACTERS = 1_000  # that a file without a text counts for


class Extractors:
    """A context that ends its processes.

    number: of processes; one tenant uses half of them at most.
    files_read: how many files the processes have been given.
    """

    def __init__(self, number: int, *, wait_s_max: float = WAIT_S_MAX) -> None:
        self._threads = Threads(
            number, name="extract", waiting_max=WAITING_MAX, wait_s_max=wait_s_max
        )
        self._idle: list[Extractor] = []
        self._flights: Singleflight[Extracted | Unreadable] = Singleflight()
        self._remembered: TTLCache[tuple[str, str], Extracted | Unreadable] = TTLCache(
            REMEMBERED_CHARACTERS_MAX, REMEMBERED_S, getsizeof=_size
        )
        self.files_read = 0

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._threads.close()
        await asyncio.to_thread(self._stop)

    async def extract(self, tenant: str, file_id: str, suffix: str, content: bytes) -> Extracted:
        """The text of a file whose content never changes. Raises `Unreadable` and `Saturated`."""
        key = (tenant, file_id)
        found = self._remembered.get(key)
        if found is None:
            found = await self._flights.do(key, lambda: self._extracted(tenant, suffix, content))
            if _size(found) <= REMEMBERED_CHARACTERS_MAX:
                self._remembered[key] = found
        if isinstance(found, Unreadable):
            raise Unreadable(str(found))  # a new one: each that is raised keeps its own traceback
        return found

    async def _extracted(self, tenant: str, suffix: str, content: bytes) -> Extracted | Unreadable:
        reading: list[Extractor] = []
        try:
            return await self._threads.run(tenant, self._read, suffix, content, reading)
        except Unreadable as refused:
            return refused
        except asyncio.CancelledError:
            for extractor in reading:
                extractor.kill()  # and its thread is free at once
            raise

    def _read(self, suffix: str, content: bytes, reading: list[Extractor]) -> Extracted:
        """In a thread. reading: is told who reads."""
        extractor = self._idle.pop() if self._idle else Extractor()
        self.files_read += 1
        reading.append(extractor)
        try:
            return extractor.extract(suffix, content)
        finally:
            self._idle.append(extractor)

    def _stop(self) -> None:
        for extractor in self._idle:
            extractor.stop()


def _size(found: Extracted | Unreadable) -> int:
    return _REASON_CHARACTERS + (len(found.text) if isinstance(found, Extracted) else 0)
