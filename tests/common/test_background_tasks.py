"""Tasks in the background end when they are told to, whatever they do at that moment."""

import ast
import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from common import background_tasks

pytestmark = pytest.mark.anyio

ROOT = Path(__file__).parent.parent.parent
SOURCES = sorted(
    path
    for package in ("gateway", "cache", "index", "ingest")
    for path in (ROOT / package).rglob("*.py")
)


async def _fail() -> None:
    await asyncio.sleep(0)
    raise ConnectionError


async def _begin_again_for_ever() -> None:
    while True:
        try:
            async with asyncio.TaskGroup() as group:
                group.create_task(_fail())
        except* ConnectionError:
            pass
        await asyncio.sleep(0)


@pytest.mark.parametrize("steps", range(12))
async def test_a_task_ends_that_fails_as_it_is_cancelled(steps: int) -> None:
    task = asyncio.create_task(_begin_again_for_ever())
    for _ in range(steps):
        await asyncio.sleep(0)

    await background_tasks.end(task, again_s=0.01)

    assert task.done()


async def test_a_task_that_cleans_up_is_left_to_it() -> None:
    has_cleaned_up = False

    async def work() -> None:
        nonlocal has_cleaned_up
        try:
            await asyncio.Event().wait()
        finally:
            await asyncio.sleep(0.05)
            has_cleaned_up = True

    task = asyncio.create_task(work())
    await asyncio.sleep(0)

    await background_tasks.end(task)

    assert has_cleaned_up


async def test_ended_and_failed_tasks_are_no_errors() -> None:
    failed = asyncio.create_task(_fail())
    await asyncio.wait([failed])

    await background_tasks.end(failed)
    await background_tasks.end()


def test_nothing_else_waits_for_what_it_has_cancelled() -> None:
    """Else it may wait for ever."""
    found = [f"{path.relative_to(ROOT)}:{line}" for path in SOURCES for line in _own_ways(path)]

    assert found == []
    assert list(_own_ways_in("task.cancel()\nawait asyncio.wait([task])")) == [1]


def _own_ways(path: Path) -> Iterator[int]:
    source = path.read_text(encoding="utf-8")
    return _own_ways_in(source) if ".cancel()" in source else iter(())


def _own_ways_in(source: str) -> Iterator[int]:
    """The lines of blocks that cancel something and await something afterwards."""
    for node in ast.walk(ast.parse(source)):
        for block in (getattr(node, "body", None), getattr(node, "finalbody", None)):
            if not isinstance(block, list):
                continue
            cancelling = [each for each in block if _calls(each, "cancel")]
            waiting = [
                each for each in block if _calls(each, "wait", "gather") or _awaits_name(each)
            ]
            if cancelling and waiting and cancelling[0].lineno < waiting[-1].lineno:
                yield cancelling[0].lineno


def _calls(statement: ast.stmt, *names: str) -> bool:
    return isinstance(statement, ast.Expr | ast.For) and any(
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in names
        for node in ast.walk(statement)
    )


def _awaits_name(statement: ast.stmt) -> bool:
    return any(
        isinstance(node, ast.Await) and isinstance(node.value, ast.Name)
        for node in ast.walk(statement)
    )
