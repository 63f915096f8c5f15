"""What a worker loads after its start, one part at a time, so that no first call waits for it."""

import asyncio
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager

import structlog

from common import background_tasks
from index.text.word_lists import analysed_languages, stored_lists

LISTS_S_MAX = 120.0  # 8 s of one processor; a starting value, not measured

log = structlog.get_logger()


class WarmUp:
    """parts: what to load, by name, in this order.

    A call that comes first loads its part itself. A part that fails is logged, and the worker then
    stays as it is: the call that needs the part reports the failure.
    """

    def __init__(self, parts: Mapping[str, Callable[[], Awaitable[object]]]) -> None:
        self._parts = dict(parts)
        self.is_done = False

    def add(self, name: str, load: Callable[[], Awaitable[object]]) -> None:
        """One more part, before the others; from what opens before these are loaded."""
        self._parts = {name: load, **self._parts}

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Load in the background meanwhile."""
        loading = asyncio.create_task(self._load())
        try:
            yield
        finally:
            await background_tasks.end(loading)

    async def _load(self) -> None:
        started_s = time.monotonic()
        failed = [name for name, load in self._parts.items() if not await _is_loaded(name, load)]
        self.is_done = not failed
        log.info("warm_up", failed=failed, duration_s=round(time.monotonic() - started_s, 3))


async def _is_loaded(name: str, load: Callable[[], Awaitable[object]]) -> bool:
    try:
        await load()
    except Exception:
        log.exception("warm_up", part=name)
        return False
    return True


async def load_word_lists() -> None:
    """Load the word lists of all languages; a child process makes those that are not stored.

    In this process making them would take 8 s of the time in which it answers.
    Raises `OSError` if they can't be stored: each is then made in this process when it is needed.
    """
    if await asyncio.to_thread(analysed_languages.load_stored):
        return
    # -P: no module is imported from the current folder.
    child = await asyncio.create_subprocess_exec(
        *(sys.executable, "-P", "-m", stored_lists.__name__),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.DEVNULL,
    )
    try:
        async with asyncio.timeout(LISTS_S_MAX):
            await child.wait()
    finally:
        if child.returncode is None:
            child.kill()
            await child.wait()
    if not await asyncio.to_thread(analysed_languages.load_stored):
        raise OSError(f"the word lists can't be stored in {stored_lists.folder()}")
