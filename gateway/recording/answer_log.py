"""Collects the answers that callers get, for the watchers: what counts or logs them.

To add an answer costs one look-up. Before a watcher stores or shows its counts, every second at
least, it has `tell` called. So a process that is killed loses no more than if each watcher had
learnt of each answer at once.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, TypeAlias

import structlog

from cache.lookup import ServedAnswer
from gateway.monitoring.search_metrics import Outcome, outcome_of
from index.model.query import Query
from index.tenants.principals import Principal

# Beyond either limit the watchers are told of the oldest answer. To tell them of all would hold the
# event loop for 20 µs an answer. Starting values, not measured.
PENDING_MAX = 64
BODIES_BYTES_MAX = 16_777_216

log = structlog.get_logger()


@dataclass(slots=True, eq=False)
class LoggedAnswer:
    """An answer that a caller got once or several times; times in seconds since 1970.

    durations_s: that it took, each time; None if it is one of several that were computed together.
    is_question: whether the query was asked, and is not still being typed.
    """

    principal: Principal
    query: Query
    served: ServedAnswer
    first_s: float
    last_s: float
    durations_s: list[float | None]
    is_question: bool = True

    @property
    def outcome(self) -> Outcome:
        return outcome_of(self.served.body)


AnswerWatcher: TypeAlias = Callable[[LoggedAnswer], None]


class AuditWatcher(Protocol):
    """Receives that an answer of a tier was computed again, and whether it was the same."""

    def __call__(self, tenant: str, tier: str, /, *, is_equal: bool) -> None: ...


class AnswerLog:
    """now_s: seconds since 1970.

    watchers: told of all answers. question_watchers: told of those to questions.
    audit_watchers: told of those that are audited. Extensions add their own.
    """

    def __init__(self, now_s: Callable[[], float]) -> None:
        self._now_s = now_s
        self.watchers: list[AnswerWatcher] = []
        self.question_watchers: list[AnswerWatcher] = []
        self.audit_watchers: list[AuditWatcher] = []
        self._pending: dict[tuple[bytes, str, str, bool], LoggedAnswer] = {}
        self._bodies_bytes = 0

    def add(
        self,
        principal: Principal,
        query: Query,
        served: ServedAnswer,
        duration_s: float | None,
        *,
        is_question: bool = True,
    ) -> None:
        """Record that the principal gets the answer to the query."""
        now_s, key = self._now_s(), (principal.digest, served.key, served.tier, is_question)
        logged = self._pending.get(key)
        if (
            logged is not None
            and logged.served.body is served.body
            and logged.principal is principal
        ):
            logged.last_s = now_s
            logged.durations_s.append(duration_s)
            return
        if logged is not None:
            self._tell_of(key)
        self._pending[key] = LoggedAnswer(
            principal, query, served, now_s, now_s, [duration_s], is_question
        )
        self._bodies_bytes += len(served.body)
        while len(self._pending) > PENDING_MAX or self._bodies_bytes > BODIES_BYTES_MAX:
            self._tell_of(next(iter(self._pending)))

    def tell(self) -> None:
        """Tell the watchers of the answers since the last time."""
        while self._pending:
            self._tell_of(next(iter(self._pending)))

    def _tell_of(self, key: tuple[bytes, str, str, bool]) -> None:
        answer = self._pending.pop(key)
        self._bodies_bytes -= len(answer.served.body)
        for watch in (*self.watchers, *(self.question_watchers if answer.is_question else ())):
            try:
                watch(answer)
            except Exception:  # a watcher that fails keeps no other from its answers
                log.exception("answer_log")
