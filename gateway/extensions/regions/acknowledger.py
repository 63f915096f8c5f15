"""Tells writers which of their announcements this gateway has heard of."""

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Never

from gateway.extensions._regions.read_lease_store import Announcement, ReadLeaseStore

SENDERS = 2  # so that one is ready while the other waits for its reply; a starting value
_NUMBERS_MAX = 500  # of one message, which PostgreSQL limits to 8,000 bytes


class Acknowledger:
    """Each statement acknowledges all that was heard of before it is sent, to all writers.

    One with nothing to acknowledge shows that its connection still works.

    idle_s: the longest time between two statements on a connection, and of one statement.
    """

    def __init__(self, store: ReadLeaseStore, holder: str, *, idle_s: float) -> None:
        self._store = store
        self._holder = holder
        self._idle_s = idle_s
        self._numbers: dict[str, list[int]] = {}  # by writer, still to be acknowledged
        self._has_numbers = asyncio.Event()

    def heard(self, announcement: Announcement) -> None:
        self._numbers.setdefault(announcement.writer, []).append(announcement.number)
        self._has_numbers.set()

    async def send(self, are_connected: asyncio.Barrier) -> Never:
        """Acknowledge on a connection of its own, until it is lost.

        are_connected: what has to be connected before anything is heard.

        Raises `DatabaseUnavailable`, and `TimeoutError` for a statement that takes too long.
        """
        async with self._store.acknowledging() as session:
            await are_connected.wait()
            while True:
                numbers = await self._next()
                async with asyncio.timeout(self._idle_s):
                    await self._store.acknowledge(session, self._holder, numbers)

    async def _next(self) -> Mapping[str, Sequence[int]]:
        """What is to be acknowledged; nothing if nothing is heard for a while."""
        with suppress(TimeoutError):
            async with asyncio.timeout(self._idle_s):
                while not self._numbers:  # the other sender may have taken them
                    await self._has_numbers.wait()
        return self._take()

    def _take(self) -> Mapping[str, Sequence[int]]:
        taken = {writer: numbers[:_NUMBERS_MAX] for writer, numbers in self._numbers.items()}
        self._numbers = {
            writer: left
            for writer, numbers in self._numbers.items()
            if (left := numbers[_NUMBERS_MAX:])
        }
        if not self._numbers:
            self._has_numbers.clear()
        return taken
