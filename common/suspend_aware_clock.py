"""The clock by which it is known how old a reading is, on a machine that may be suspended."""

import time
from functools import partial

# It goes on while the machine is suspended; `time.monotonic` may stand still meanwhile.
_CLOCK = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)
# Seconds since the machine has started.
suspend_aware_s = partial(time.clock_gettime, _CLOCK)
