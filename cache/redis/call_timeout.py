"""How long a call may take, by what it took and not by when somebody looked."""

import asyncio
from types import TracebackType

_LAST_TURNS = 3  # of the loop: in one it reads what has come, in the next ones that is handed on


class CallTimeout:
    """`async with` it: raises `TimeoutError` once the time is over and nothing has come by then.

    A loop that is late runs what is due before it reads what lies there, so that `asyncio.timeout`
    takes the loop's own delay for the server's.
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
