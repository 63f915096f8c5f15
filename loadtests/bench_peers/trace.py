"""The sequence of callers and questions: repeats by Zipf's law among new questions.

Pure and seeded: every system gets the same requests in the same order.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from random import Random

from loadtests.workload.agents import zipf

REPEATS = 0.7  # of the mix, as the bars say


@dataclass(frozen=True, slots=True)
class TraceStep:
    """Numbers of a caller and of a question."""

    caller: int
    question: int


def mix(callers: Sequence[float], questions: range, seed: int) -> Iterator[TraceStep]:
    """Without end, as long as there are new questions.

    callers: how much each asks. A repeat is of what was asked r-th with a chance of 1 / r.
    """
    random = Random(seed)  # noqa: S311  no secret
    steps: list[TraceStep] = []
    for new in fresh(callers, questions, seed + 1):
        while steps and random.random() < REPEATS:
            yield steps[zipf(len(steps), random)]
        steps.append(new)
        yield new


def fresh(callers: Sequence[float], questions: range, seed: int) -> Iterator[TraceStep]:
    """No two alike, until all were asked by everybody."""
    random = Random(seed)  # noqa: S311  no secret
    numbers = range(len(callers))
    left = [list(questions) for _ in numbers]
    for left_of_caller in left:
        random.shuffle(left_of_caller)
    while any(left):
        weights = [
            weight if left_of_caller else 0.0
            for weight, left_of_caller in zip(callers, left, strict=True)
        ]
        caller = random.choices(numbers, weights)[0]
        yield TraceStep(caller, left[caller].pop())
