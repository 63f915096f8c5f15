"""What a response shows of documents, until it is sent: `gateway/http/revalidation.py` confirms it.

A request's task sets it once. Reads are added where they are logged, deep in a handler.
"""

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field

from gateway.auth.authenticated_request import AuthenticatedRequest
from index.tenants.principals import Principal


@dataclass(slots=True)
class Shown:
    """Each with the principal whose grants admitted it.

    answers: bodies of searches. documents: their addresses. chunks: their identifiers.
    admitted: the caller as it was first authenticated.
    """

    answers: list[tuple[Principal, bytes]] = field(default_factory=list)
    documents: list[tuple[Principal, Collection[str]]] = field(default_factory=list)
    chunks: list[tuple[Principal, Collection[int]]] = field(default_factory=list)
    admitted: AuthenticatedRequest | None = None

    def readers(self) -> list[Principal]:
        return [reader for reader, _ in (*self.answers, *self.documents, *self.chunks)]


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
