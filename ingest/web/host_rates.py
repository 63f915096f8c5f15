"""When a host may be asked next, by all sources that one process reads."""

import threading
from collections.abc import Callable

_HOSTS_MAX = 1_000  # beyond it, hosts that may be asked at once are forgotten


class HostRates:
    """now_s: of a clock that only goes forward. Threads may share it."""

    def __init__(self, now_s: Callable[[], float]) -> None:
        self._now_s = now_s
        self._next_s: dict[str, float] = {}
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._next_s)

    def reserve(self, host: str, interval_s: float) -> float:
        """The seconds until this request may begin; the next one waits `interval_s` longer."""
        with self._lock:
            now_s = self._now_s()
            at_s = max(now_s, self._next_s.get(host, now_s))
            self._next_s[host] = at_s + interval_s
            self._forget_idle(now_s)
            return at_s - now_s

    def postpone(self, host: str, pause_s: float) -> None:
        """Let no request to the host begin within so many seconds."""
        with self._lock:
            at_s = self._now_s() + pause_s
            self._next_s[host] = max(at_s, self._next_s.get(host, at_s))

    def _forget_idle(self, now_s: float) -> None:
        if len(self._next_s) > _HOSTS_MAX:
            self._next_s = {host: at_s for host, at_s in self._next_s.items() if at_s > now_s}
