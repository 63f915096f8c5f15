"""Visits every world that a machine of small steps can reach."""

from collections import deque
from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass
from typing import TypeAlias, TypeVar

W = TypeVar("W", bound=Hashable)
Steps: TypeAlias = Iterator[tuple[str, W | None]]  # None: a rule is broken


@dataclass(frozen=True, slots=True)
class Exploration:
    """How many worlds were visited, and a way to a broken rule, if there is one.

    labels: of all steps that were taken.
    """

    states: int
    trace: list[str] | None
    labels: frozenset[str]


def explore(
    start: W, steps: "Callable[[W], Steps[W]]", *, deepest_first: bool = False
) -> Exploration:
    """Visit every world that can come about, until a rule is broken.

    deepest_first: finds a broken rule in fewer steps; otherwise it finds the shortest way to one.
    """
    came_from: dict[W, tuple[str, W] | None] = {start: None}
    waiting, labels = deque([start]), set[str]()
    while waiting:
        world = waiting.pop() if deepest_first else waiting.popleft()
        for label, after in steps(world):
            labels.add(label)
            if after is None:
                trace = [*_way(came_from, world), label]
                return Exploration(len(came_from), trace, frozenset(labels))
            step = (label, world)
            if came_from.setdefault(after, step) is step:  # hashed once
                waiting.append(after)
    return Exploration(len(came_from), None, frozenset(labels))


def _way(came_from: dict[W, tuple[str, W] | None], world: W) -> list[str]:
    way = []
    while (step := came_from[world]) is not None:
        label, world = step
        way.append(label)
    return way[::-1]
