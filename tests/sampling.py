"""How many examples Hypothesis tries: all of them, or a tenth with `--hypothesis-profile quick`."""

import hypothesis

EXAMPLES = 100  # of a property that names no number; Hypothesis's own default
QUICK_EXAMPLES = 10
_EXAMPLES_MIN = 3


def examples(number: int) -> int:
    """Return the number of examples under the profile in use, of `number` under the full one."""
    share = hypothesis.settings().max_examples / EXAMPLES
    return max(round(number * share), _EXAMPLES_MIN)
