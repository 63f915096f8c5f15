"""The number of Locust users at each moment. Pure."""

from typing import Literal, TypeAlias

Shape: TypeAlias = Literal["steady", "ramp", "spike", "soak"]
SHAPES: tuple[Shape, ...] = ("steady", "ramp", "spike", "soak")

_SPIKE = (0.4, 0.6)  # of the time, with all users
_QUIET = 0.1  # of the users, before and after a spike
_SOAK_SECONDS_MIN = 3600.0


def users(shape: Shape, at_s: float, seconds: float, most: int) -> int:
    """steady, soak: all users. ramp: more and more. spike: few, then all, then few."""
    share = at_s / seconds
    match shape:
        case "steady" | "soak":
            return most
        case "ramp":
            return max(1, round(most * min(1.0, share)))
        case "spike":
            is_spike = _SPIKE[0] <= share < _SPIKE[1]
            return most if is_spike else max(1, round(most * _QUIET))


def lasting(shape: Shape, seconds: float) -> float:
    """A soak takes an hour at least."""
    return max(seconds, _SOAK_SECONDS_MIN) if shape == "soak" else seconds
