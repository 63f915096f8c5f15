"""Text extraction for many tenants: who waits for whom, and what is read again."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest

from common.errors import Saturated
from common.processes.module_worker import ProcessKilled
from gateway.extensions._files import installed_formats
from gateway.extensions._files.extract import Extractor
from gateway.extensions._files.extracted import Unreadable
from gateway.extensions.vector_stores.extractors import WAITING_MAX, Extractors
from tests.gateway.extensions._sources.files import slow_pdf

pytestmark = pytest.mark.anyio

FORMATS = installed_formats.formats("")
PAGE = b"<p>Everybody gets 25 days."
TEXT = "Everybody gets 25 days.\n"


@pytest.fixture(scope="module")
def slow() -> bytes:
    return slow_pdf()


@pytest.fixture
async def extractors() -> AsyncIterator[Extractors]:
    async with Extractors(2, FORMATS) as made:
        yield made


async def until(extractors: Extractors, files_read: int) -> None:
    async with asyncio.timeout(30):
        while extractors.files_read < files_read:
            await asyncio.sleep(0.01)


@pytest.mark.slow
async def test_a_tenant_whose_files_take_long_leaves_a_process_to_others(
    extractors: Extractors, slow: bytes
) -> None:
    reading = [
        asyncio.create_task(extractors.extract("acme", f"slow {number}", ".pdf", slow))
        for number in range(8)
    ]
    await until(extractors, 1)

    found = await extractors.extract("beta", "page", ".html", PAGE)

    assert found.text == TEXT
    assert not any(task.done() for task in reading)
    assert extractors.files_read == 2
    for task in reading:
        task.cancel()
    await asyncio.gather(*reading, return_exceptions=True)


async def test_a_file_whose_process_something_else_kills_is_read_by_the_next_request(
    extractors: Extractors, monkeypatch: pytest.MonkeyPatch
) -> None:
    def killed(*_arguments: Any, **_keywords: Any) -> bytes:
        raise ProcessKilled

    with monkeypatch.context() as patched:
        patched.setattr(Extractor, "ask", killed)
        with pytest.raises(Saturated):
            await extractors.extract("acme", "page", ".html", PAGE)
        with pytest.raises(Unreadable, match="may lack memory"):
            Extractor(FORMATS).extract(".html", PAGE)

    assert (await extractors.extract("acme", "page", ".html", PAGE)).text == TEXT


@pytest.mark.thorough
async def test_a_file_of_several_stores_is_read_once(extractors: Extractors) -> None:
    together = await asyncio.gather(
        *(extractors.extract("acme", "page", ".html", PAGE) for _ in range(7))
    )
    later = await extractors.extract("acme", "page", ".html", PAGE)

    assert {found.text for found in (*together, later)} == {TEXT}
    assert extractors.files_read == 1
    await extractors.extract("beta", "page", ".html", PAGE)
    assert extractors.files_read == 2


@pytest.mark.thorough
@pytest.mark.slow
async def test_a_file_that_can_not_be_read_is_tried_once(extractors: Extractors) -> None:
    for _ in range(3):
        with pytest.raises(Unreadable, match="is not a PDF"):
            await extractors.extract("acme", "file", ".pdf", b"no PDF")

    assert extractors.files_read == 1


@pytest.mark.thorough
@pytest.mark.slow
async def test_who_gives_up_frees_the_process_at_once(extractors: Extractors, slow: bytes) -> None:
    other = asyncio.create_task(extractors.extract("beta", "slow", ".pdf", slow))
    await until(extractors, 1)
    reading = asyncio.create_task(extractors.extract("acme", "slow", ".pdf", slow))
    await until(extractors, 2)  # both processes are busy, and the other ends first by itself

    reading.cancel()
    found = await extractors.extract("acme", "page", ".html", PAGE)

    assert found.text == TEXT
    assert not other.done()
    other.cancel()
    await asyncio.gather(other, return_exceptions=True)


async def test_a_tenant_that_has_too_many_files_waiting_is_told_so(slow: bytes) -> None:
    async with Extractors(1, FORMATS) as extractors:
        reading = [
            asyncio.create_task(extractors.extract("acme", f"slow {number}", ".pdf", slow))
            for number in range(WAITING_MAX + 1)
        ]
        await until(extractors, 1)

        with pytest.raises(Saturated):
            await extractors.extract("acme", "one more", ".html", PAGE)

        for task in reading:
            task.cancel()
        await asyncio.gather(*reading, return_exceptions=True)
