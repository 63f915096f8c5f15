"""When a call is sent again, and after which wait."""

import random
from dataclasses import dataclass

from nearhit_client.errors import NearhitError

_BACKOFF_S_MAX = 8.0


@dataclass(frozen=True, slots=True)
class Retries:
    """retries_max: of one call; 0 for none. backoff_s: the first wait, which doubles each time.

    wait_s_max: a call for which the gateway asks to wait longer fails at once.
    """

    retries_max: int = 3
    backoff_s: float = 0.25
    wait_s_max: float = 30.0

    def wait_s(self, error: NearhitError, retried: int, *, is_repeatable: bool) -> float | None:
        """The seconds until the next try; None if there is none.

        retried: how often before. is_repeatable: whether the call may be carried out twice; else it
        is sent again only if the gateway has certainly done nothing.
        """
        is_harmless = is_repeatable or _nothing_was_done(error)
        if not error.is_temporary or not is_harmless or retried >= self.retries_max:
            return None
        asked_s = error.retry_after_s
        wait_s = self.own_wait_s(retried) if asked_s is None else asked_s
        # Callers that were refused together come back apart.
        return None if wait_s > self.wait_s_max else wait_s * random.uniform(1, 1.25)  # noqa: S311

    def own_wait_s(self, retried: int) -> float:
        """If the gateway does not ask for another."""
        return min(self.backoff_s * 2.0**retried, _BACKOFF_S_MAX)


def _nothing_was_done(error: NearhitError) -> bool:
    return not error.was_sent or error.status == 429 or error.kind == "overloaded"
