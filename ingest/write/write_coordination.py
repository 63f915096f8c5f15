"""Turns: who writes when, of those in one process that would else get into each other's way."""

import asyncio
from collections.abc import AsyncIterator, Iterable
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, field
from weakref import WeakValueDictionary

_WAY_S_MAX = 1.0  # who goes first may wait for an embedder; a revocation must not wait for that


@dataclass(frozen=True, slots=True)
class PipelineLocks:
    """Of writes that follow one another, one is planned while the one before is committed.

    What is planned later knows what was embedded before, and is committed later.
    Whoever holds one turn waits for no other, so nobody can deadlock.
    """

    planning: asyncio.Lock = field(default_factory=asyncio.Lock)
    committing: asyncio.Lock = field(default_factory=asyncio.Lock)


class FairnessLocks:
    """At documents that many write at once: whoever was overtaken too often goes first."""

    def __init__(self) -> None:
        self._locks: WeakValueDictionary[tuple[str, str], asyncio.Lock] = WeakValueDictionary()

    async def yield_to_priority(self, tenant: str, document_ids: Iterable[str]) -> None:
        """Wait for whoever goes first at one of these, though not for long."""
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
        """Meanwhile others give way; of several who go first, one after the other if they can."""
        async with AsyncExitStack() as held:
            with suppress(TimeoutError):
                async with asyncio.timeout(_WAY_S_MAX):
                    for document_id in sorted(document_ids):  # all take them in this order
                        lock = self._locks.setdefault((tenant, document_id), asyncio.Lock())
                        await held.enter_async_context(lock)
            yield
