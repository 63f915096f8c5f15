"""How many examples Hypothesis tries: the numbers in the tests are those of `make thorough`.

`make test` tries one in eight of them, and `make quick` one in ten. Of the parameters of a test
that is marked `sampled`, `make test` tries those that the mark names.
"""

import hypothesis

EXAMPLES = {"thorough": 100, "nearhit": 12, "quick": 10}  # of a property that names no number
_EXAMPLES_MIN = 4


def is_thorough() -> bool:
    """Whether `make thorough` runs the tests, which may then take an hour."""
    return bool(hypothesis.settings().max_examples == EXAMPLES["thorough"])


def examples(number: int) -> int:
    """The number of examples under the profile in use, of `number` under the thorough one."""
    share = hypothesis.settings().max_examples / EXAMPLES["thorough"]
    return max(round(number * share), _EXAMPLES_MIN)
