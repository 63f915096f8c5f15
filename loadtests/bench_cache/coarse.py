"""What the same searches and writes give a cache that drops a tenant's answers at each write."""

from collections.abc import Iterable

WRITE = -1  # in a trace, among the numbers of the questions


def hits(trace: Iterable[int]) -> int:
    """How many searches of the trace hit: those asked before, with no write since."""
    cached: set[int] = set()
    count = 0
    for step in trace:
        if step == WRITE:
            cached.clear()
        elif step in cached:
            count += 1
        else:
            cached.add(step)
    return count


def mixed(questions: Iterable[int], searches_a_write: int) -> Iterable[int]:
    """The questions in their order, with a write after each so many."""
    for number, question in enumerate(questions, start=1):
        yield question
        if number % searches_a_write == 0:
            yield WRITE
