"""On whose behalf something is changed: the audit log asks here, deep in a transaction.

A request's task, a job and a command each say it once; what says nothing is the system's own.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Protocol


class ActingPrincipal(Protocol):
    """A principal is one. subject: None for the operator and the system, whom key_id names."""

    @property
    def subject(self) -> str | None: ...
    @property
    def key_id(self) -> str | None: ...


@dataclass(frozen=True, slots=True)
class AuditActor:
    """key_id: of the key or token; None for a web token."""

    subject: str | None
    key_id: str | None


# No key is called so: those begin with key_ or tok_.
OPERATOR = AuditActor(None, "operator")
SYSTEM = AuditActor(None, "system")

_actor: ContextVar[ActingPrincipal] = ContextVar("actor", default=SYSTEM)


def act_as(who: ActingPrincipal) -> None:
    """From here to the end of the task, and in those that it begins."""
    _actor.set(who)


@contextmanager
def acting_as(who: ActingPrincipal) -> Iterator[None]:
    """What is changed within is changed by them."""
    token = _actor.set(who)
    try:
        yield
    finally:
        _actor.reset(token)


def current_actor() -> ActingPrincipal:
    return _actor.get()
