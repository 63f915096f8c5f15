"""The times in which a fault explains errors. Pure."""

import math
from dataclasses import dataclass, field

_AFTER_S = 2.0  # in which lost connections are noticed


@dataclass(slots=True)
class _Outage:
    begun_s: float
    ended_s: float = math.inf


@dataclass(slots=True)
class Outages:
    _all: list[_Outage] = field(default_factory=list)

    def begin(self, at_s: float) -> None:
        self._all.append(_Outage(at_s))

    def end(self, at_s: float) -> None:
        self._all[-1].ended_s = at_s

    def explain(self, asked_s: float, answered_s: float) -> bool:
        """Whether an outage lasted, or had just ended, between request and answer."""
        return any(
            outage.begun_s <= answered_s and asked_s <= outage.ended_s + _AFTER_S
            for outage in self._all
        )
