"""The actor of changes, which the audit log reads deep in a transaction.

A request's task, a job and a command each set it once; without it the actor is the system.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol


class ActingPrincipal(Protocol):
    """An actor, such as a principal.

    subject: None for the operator and the system. tenant: whose shares it uses; empty for none.
    access_revision: of its tenant, at which its rights were read; None for rights that do not end,
        or that are checked elsewhere.
    expires_at: when its credential expires; None if it does not, or that is checked elsewhere.
    """

    @property
    def subject(self) -> str | None: ...
    @property
    def key_id(self) -> str | None: ...
    @property
    def tenant(self) -> str: ...
    @property
    def access_revision(self) -> int | None: ...
    @property
    def expires_at(self) -> datetime | None: ...


@dataclass(frozen=True, slots=True)
class AuditActor:
    """key_id: of the key or token; None for a web token."""

    subject: str | None
    key_id: str | None
    tenant: str = ""
    access_revision: int | None = None
    expires_at: datetime | None = None


# No key has such an id: those begin with key_ or tok_.
OPERATOR = AuditActor(None, "operator")
SYSTEM = AuditActor(None, "system")
UNKNOWN = AuditActor(None, "unknown")  # whose credential is none, or one of many

_actor: ContextVar[ActingPrincipal] = ContextVar("actor", default=SYSTEM)


def act_as(who: ActingPrincipal) -> None:
    """Set the actor for the rest of this task and for the tasks that it starts."""
    _actor.set(who)


@contextmanager
def acting_as(who: ActingPrincipal) -> Iterator[None]:
    """Set the actor for the changes within the block."""
    token = _actor.set(who)
    try:
        yield
    finally:
        _actor.reset(token)


def current_actor() -> ActingPrincipal:
    return _actor.get()
