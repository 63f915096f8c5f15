"""How many examples Hypothesis tries: the numbers in the tests are those of `make thorough`.

`make test` tries one in eight of them, and `make quick` one in ten. Of the parameters of a test
that is marked `sampled`, `make test` tries those that the mark names.
"""

import hypothesis
from hypothesis import HealthCheck, Phase

EXAMPLES = {"thorough": 100, "nearhit": 12, "quick": 10}  # of a property that names no number
_EXAMPLES_MIN = 4


def is_thorough() -> bool:
    """Whether `make thorough` runs the tests, which may then take an hour."""
    return bool(hypothesis.settings().max_examples == EXAMPLES["thorough"])


def examples(number: int) -> int:
    """The number of examples under the profile in use, of `number` under the thorough one."""
    share = hypothesis.settings().max_examples / EXAMPLES["thorough"]
    return max(round(number * share), _EXAMPLES_MIN)


def plays(number: int, *, steps: int, thorough: tuple[int, int]) -> hypothesis.settings:
    """Of a state machine over real servers. thorough: how many plays and steps at night.

    In `make test` all plays are the same each time, and one that fails is told as it is: to make it
    shorter takes so long that the test looks like one that hangs.
    """
    is_large = is_thorough()
    plays_max, steps_max = thorough if is_large else (number, steps)
    return hypothesis.settings(
        max_examples=plays_max,
        stateful_step_count=steps_max,
        derandomize=not is_large,
        phases=tuple(Phase) if is_large else (Phase.generate,),
        suppress_health_check=list(HealthCheck),
        deadline=None,
        print_blob=is_large,
    )
