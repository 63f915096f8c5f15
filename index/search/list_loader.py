"""Loads the word lists that searches need. On a new machine a list has to be made first."""

import asyncio
from collections.abc import Collection

from index.text import lexical
from index.text.word_lists import analysed_languages

LIST_WAIT_S_MAX = 0.5  # a stored list takes milliseconds, one to make seconds; a starting value


class ListLoader:
    """Of one event loop. Each list is loaded in one thread, for all searches that need it."""

    def __init__(self) -> None:
        self._loading: dict[str, asyncio.Task[None]] = {}

    async def load(self, languages: Collection[str], wait_s: float | None) -> frozenset[str]:
        """Load what is missing; return the languages whose lists are there after so many seconds.

        wait_s: None to wait for all of them. The others are loaded in the background.
        """
        missing = {code for code in languages if not lexical.are_loaded({code})}
        ended, _ = await asyncio.wait(map(self._loading_of, missing), timeout=wait_s)
        for loading in ended:
            loading.result()  # what kept the list from being made
        return frozenset(code for code in languages if lexical.are_loaded({code}))

    def _loading_of(self, code: str) -> "asyncio.Task[None]":
        loading = self._loading.get(code)
        if loading is None:
            work = asyncio.to_thread(analysed_languages.load, {code})
            loading = self._loading[code] = asyncio.create_task(work)
            loading.add_done_callback(lambda _: self._loading.pop(code))
        return loading
