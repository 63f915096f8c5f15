"""Stands for the search of one question."""

import asyncio
from collections.abc import Mapping

from cache.lookup import ComputedAnswer
from tests.cache.support.histories import at


class Index:
    """What it answers, as of which revisions, depending on what, and how often it was asked."""

    def __init__(self, body: bytes, record: bytes = b"", **revisions: int) -> None:
        self.body = body
        self.record = record
        self.revisions: Mapping[str, int] = revisions
        self.asked = 0
        self.may_end = asyncio.Event()
        self.may_end.set()

    async def __call__(self) -> ComputedAnswer:
        self.asked += 1
        record = self.record
        # This is the snapshot.
        computed = ComputedAnswer(self.body, at(**self.revisions), lambda: record)
        await self.may_end.wait()
        return computed

    async def begun(self) -> None:
        while self.asked == 0:
            await asyncio.sleep(0)
