"""What a response shows of documents, until it is sent: `gateway/http/revalidation.py` confirms it.

A request's task sets it once. Reads are added where they are logged, deep in a handler.
"""

from collections.abc import Awaitable, Callable, Collection, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import TypeAlias

from gateway.auth.authenticated_request import AuthenticatedRequest
from index.tenants.principals import Principal

ReadAs: TypeAlias = Callable[[Principal], Awaitable[Principal]]
Record: TypeAlias = Callable[[], Awaitable[None] | None]


@dataclass(slots=True)
class Shown:
    """Each with the principal whose grants admitted it.

    answers: bodies of searches. documents: their addresses. chunks: their identifiers.
    checks: of what answers show besides hits: whether it may be shown now.
    records: what is stored of the response once it is confirmed, and before it is sent.
    admitted: the caller as it was first authenticated.
    read_as: the principal whose grants count, made of the caller; None for the caller's own.
    """

    answers: list[tuple[Principal, bytes]] = field(default_factory=list)
    documents: list[tuple[Principal, Collection[str]]] = field(default_factory=list)
    chunks: list[tuple[Principal, Collection[int]]] = field(default_factory=list)
    checks: list[Callable[[], Awaitable[bool]]] = field(default_factory=list)
    records: list[Record] = field(default_factory=list)
    admitted: AuthenticatedRequest | None = None
    read_as: ReadAs | None = None

    def readers(self) -> list[Principal]:
        return [reader for reader, _ in (*self.answers, *self.documents, *self.chunks)]

    async def record(self) -> bool:
        """Whether something was stored, which may have taken long."""
        has_waited = False
        for record in self.records:
            if (stored := record()) is not None:
                await stored
                has_waited = True
        return has_waited


# None if nothing is collected: then a response is sent as soon as it is read.
CURRENT: ContextVar[Shown | None] = ContextVar("shown", default=None)


@contextmanager
def recording() -> Iterator[Shown]:
    """Collect what is shown within the block."""
    shown = Shown()
    token = CURRENT.set(shown)
    try:
        yield shown
    finally:
        CURRENT.reset(token)


def record_when_confirmed(record: Callable[[], None]) -> None:
    """Record it once the response is confirmed; now if nothing confirms it."""
    if (shows := CURRENT.get()) is not None:
        shows.records.append(record)
    else:
        record()
