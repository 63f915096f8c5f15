"""When a host may be asked next, by all sources that one process reads."""

import threading
from collections.abc import Callable

_HOSTS_MAX = 1_000  # beyond it, hosts and tenants that may go on at once are forgotten


class HostRates:
    """now_s: of a clock that only goes forward. Threads may share it."""

    def __init__(self, now_s: Callable[[], float]) -> None:
        self._now_s = now_s
        self._next_s: dict[tuple[str, str | None], float] = {}  # by host and tenant; None: by all
        self._last: dict[str, tuple[float, float]] = {}  # by host: when it was asked, its interval
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._next_s)

    def claim(self, host: str, tenant: str, interval_s: float) -> float:
        """0 if a request begins now; else the seconds after which to claim again.

        All requests of a tenant keep its interval. Between those of two tenants the shorter of
        both intervals passes, so that a tenant that wants to be slow holds up no other one.
        """
        with self._lock:
            now_s = self._now_s()
            asked_at_s, asked_interval_s = self._last.get(host, (now_s, 0.0))
            at_s = max(
                asked_at_s + min(asked_interval_s, interval_s),
                self._next_s.get((host, tenant), now_s),
                self._next_s.get((host, None), now_s),
            )
            if at_s > now_s:
                return at_s - now_s
            self._next_s[host, tenant] = now_s + interval_s
            self._last[host] = now_s, interval_s
            self._forget_idle(now_s)
            return 0.0

    def postpone(self, host: str, pause_s: float) -> None:
        """Let no request to the host begin within so many seconds."""
        with self._lock:
            at_s = self._now_s() + pause_s
            self._next_s[host, None] = max(at_s, self._next_s.get((host, None), at_s))

    def _forget_idle(self, now_s: float) -> None:
        if len(self._next_s) > _HOSTS_MAX:
            self._next_s = {name: at_s for name, at_s in self._next_s.items() if at_s > now_s}
            self._last = {host: last for host, last in self._last.items() if sum(last) > now_s}
