"""The clock that read leases are measured with."""

import time

# It goes on while the machine is suspended; `time.monotonic` may stand still meanwhile.
_CLOCK = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)


def suspend_aware_s() -> float:
    """Seconds since the machine has started."""
    return time.clock_gettime(_CLOCK)
