"""A timeout of a call that does not count the event loop's own delay."""

import asyncio
from types import TracebackType

_LAST_TURNS = 3  # of the event loop: it reads a reply in the first and delivers it in the next ones


class CallTimeout:
    """An async context manager that raises `TimeoutError` if no reply has arrived in time.

    A late event loop runs due timers before it reads sockets, so `asyncio.timeout` would count the
    loop's own delay as the server's.
    """

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._limit = asyncio.timeout(None)
        self._loop = asyncio.get_running_loop()
        self._due: asyncio.Handle | None = None

    async def __aenter__(self) -> None:
        await self._limit.__aenter__()
        self._due = self._loop.call_later(self._seconds, self._look_again, _LAST_TURNS)

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._due is not None:
            self._due.cancel()
        await self._limit.__aexit__(kind, error, traceback)

    def _look_again(self, turns: int) -> None:
        if turns:
            self._due = self._loop.call_soon(self._look_again, turns - 1)
        else:
            self._limit.reschedule(self._loop.time())
