"""The slot of a running job, which the job leaves if it only waits for others from then on."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_leave: ContextVar[Callable[[], None] | None] = ContextVar("leave", default=None)


def leave() -> None:
    """Let another job have the slot of the job that calls this.

    What the job still does takes shares of its own, or no time of a processor. It keeps its slot if
    the worker has as many such jobs as it may have. A command has no slot.
    """
    if (leave_slot := _leave.get()) is not None:
        leave_slot()


@contextmanager
def left_by(leave_slot: Callable[[], None]) -> Iterator[None]:
    """leave_slot: what `leave` calls in the block."""
    token = _leave.set(leave_slot)
    try:
        yield
    finally:
        _leave.reset(token)
