"""One piece of work at a time for each key; whoever asks meanwhile waits for the same outcome."""

import asyncio
from collections.abc import Callable, Coroutine, Hashable
from typing import Any, Generic, TypeVar

T = TypeVar("T")


class Singleflight(Generic[T]):
    def __init__(self) -> None:
        self._flights: dict[Hashable, asyncio.Task[T]] = {}

    def __len__(self) -> int:
        return len(self._flights)

    async def do(self, key: Hashable, work: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """The outcome of `work`, or of the same key's work that is under way.

        A caller that gives up leaves the work to the others: it ends by itself.
        """
        flight = self._flights.get(key)
        if flight is None:
            flight = asyncio.create_task(work())
            self._flights[key] = flight
            flight.add_done_callback(lambda done: self._land(key, done))
        return await asyncio.shield(flight)

    def _land(self, key: Hashable, flight: asyncio.Task[T]) -> None:
        del self._flights[key]
        if not flight.cancelled():
            flight.exception()  # seen, even if every caller has given up
