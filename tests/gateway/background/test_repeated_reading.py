"""A reading that is repeated in the background survives its failures and ends with its block."""

import asyncio
from collections.abc import Iterator

import pytest
from structlog.typing import EventDict

from gateway.background.repeated_reading import repeated_reading
from index.errors import DatabaseUnavailable

pytestmark = pytest.mark.anyio


class Readings:
    """Fails as it is told, reading by reading; then it succeeds."""

    def __init__(self, *failures: Exception) -> None:
        self._failures: Iterator[Exception] = iter(failures)
        self.count = 0
        self.succeeded = asyncio.Event()

    async def read(self) -> None:
        self.count += 1
        for failure in self._failures:
            raise failure
        self.succeeded.set()


@pytest.mark.parametrize(
    ("failure", "is_logged"), [(DatabaseUnavailable("away"), False), (RuntimeError("odd"), True)]
)
async def test_a_reading_follows_one_that_failed(
    failure: Exception, *, is_logged: bool, logs: list[EventDict]
) -> None:
    readings = Readings(failure)

    async with repeated_reading("sample", readings.read, every_s=0.0):
        await asyncio.wait_for(readings.succeeded.wait(), 10.0)

    assert [line["event"] for line in logs] == (["sample"] if is_logged else [])


async def test_nothing_is_read_after_the_block() -> None:
    readings = Readings()
    async with repeated_reading("sample", readings.read, every_s=0.0):
        await asyncio.wait_for(readings.succeeded.wait(), 10.0)
    count = readings.count

    for _ in range(10):
        await asyncio.sleep(0)

    assert readings.count == count
