"""Where a task waits: the functions that it is in, from its first one to what it awaits."""

import asyncio
from collections import Counter
from collections.abc import Iterator
from types import FrameType
from typing import Any

from common.shares.turns import SteppedCoroutine

_DEPTH_MAX = 100  # functions of one task
_TASKS_MAX = 5  # that wait for each other
_PLACES_MAX = 20  # at which other tasks wait


def waits_of(task: asyncio.Task[Any]) -> list[str]:
    """The functions of the task and of the tasks that it waits for, as `module:function:line`.

    The last entry of each task says what it awaits: "Turn" is its tenant's turn at the event loop.
    "ready" means that it awaits nothing any more: the event loop was late to run it.
    """
    waits: list[str] = []
    pending, found = [task], {task}
    while pending and len(found) <= _TASKS_MAX:
        current = pending.pop()
        awaited = getattr(current, "_fut_waiter", None)
        end = "ready" if awaited is None else type(awaited).__name__
        waits += [*_functions(current.get_coro()), end]
        for other in _tasks_behind(awaited):
            if other not in found and not other.done():
                found.add(other)
                pending.append(other)
    return waits


def waited_s(task: asyncio.Task[Any]) -> float | None:
    """For how long the task has waited there; None if it is none that takes turns."""
    return next(
        (each.waited_s for each in _chain(task.get_coro()) if isinstance(each, SteppedCoroutine)),
        None,
    )


def places_of_others(task: asyncio.Task[Any]) -> dict[str, int]:
    """How many other tasks wait at which functions of ours, the most frequent first."""
    places: Counter[str] = Counter()
    for other in asyncio.all_tasks():
        if other is not task:
            places[" < ".join(list(_functions(other.get_coro()))[:-4:-1])] += 1
    return dict(places.most_common(_PLACES_MAX))


def _functions(awaited: Any) -> Iterator[str]:
    for each in _chain(awaited):
        frame = _frame(each)
        module = frame.f_globals.get("__name__", "?")
        yield f"{module}:{frame.f_code.co_qualname}:{frame.f_lineno}"


def _chain(awaited: Any) -> Iterator[Any]:
    """What is awaited in turn, as long as it has a frame."""
    for _ in range(_DEPTH_MAX):
        frame = _frame(awaited)
        if frame is None:
            return
        yield awaited
        awaited = _entered(frame) or _attribute(awaited, "cr_await", "gi_yieldfrom", "ag_await")


def _frame(awaited: Any) -> Any:
    return _attribute(awaited, "cr_frame", "gi_frame", "ag_frame")


def _attribute(awaited: Any, *names: str) -> Any:
    return next((value for name in names if (value := getattr(awaited, name, None))), None)


def _entered(frame: FrameType) -> Any:
    """The generator of an `asynccontextmanager`, whose awaitable does not name it."""
    if frame.f_globals.get("__name__") != "contextlib":
        return None
    return getattr(frame.f_locals.get("self"), "gen", None)


def _tasks_behind(awaited: Any) -> Iterator[asyncio.Task[Any]]:
    """The task that is awaited, those of a `gather`, and that behind a `shield`."""
    if isinstance(awaited, asyncio.Task):
        yield awaited
    for child in getattr(awaited, "_children", ()):
        if isinstance(child, asyncio.Task):
            yield child
    for callback, _context in getattr(awaited, "_callbacks", None) or ():
        for cell in getattr(callback, "__closure__", None) or ():
            if isinstance(cell.cell_contents, asyncio.Task):
                yield cell.cell_contents
