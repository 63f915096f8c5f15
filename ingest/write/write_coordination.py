"""Locks that order concurrent writes of one process."""

import asyncio
from collections.abc import AsyncIterator, Iterable
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, field
from weakref import WeakValueDictionary

_WAY_S_MAX = 1.0  # the prioritised write may wait for an embedder; a revocation must not


@dataclass(frozen=True, slots=True)
class PipelineLocks:
    """Lets consecutive writes overlap: one is planned while the one before is committed.

    A later plan reuses the vectors of earlier ones, and is committed after them.
    No write holds both locks, so there is no deadlock.
    """

    planning: asyncio.Lock = field(default_factory=asyncio.Lock)
    committing: asyncio.Lock = field(default_factory=asyncio.Lock)


class FairnessLocks:
    """Gives priority to a write that has lost too often to others of the same document."""

    def __init__(self) -> None:
        self._locks: WeakValueDictionary[tuple[str, str], asyncio.Lock] = WeakValueDictionary()

    async def yield_to_priority(self, tenant: str, document_ids: Iterable[str]) -> None:
        """Wait for prioritised writes of these documents, at most `_WAY_S_MAX` for all."""
        with suppress(TimeoutError):
            async with asyncio.timeout(_WAY_S_MAX):
                for document_id in document_ids:
                    lock = self._locks.get((tenant, document_id))
                    if lock is not None:
                        async with lock:
                            pass

    @asynccontextmanager
    async def acquire_priority(
        self, tenant: str, document_ids: Iterable[str]
    ) -> AsyncIterator[None]:
        """Hold priority at these documents; prioritised writes run in turn if possible."""
        async with AsyncExitStack() as locks:
            with suppress(TimeoutError):
                async with asyncio.timeout(_WAY_S_MAX):
                    for document_id in sorted(
                        document_ids
                    ):  # every write acquires them in this order
                        lock = self._locks.setdefault((tenant, document_id), asyncio.Lock())
                        await locks.enter_async_context(lock)
            yield
