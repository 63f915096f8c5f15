"""For which tenant an embedder is at work: whoever counts what it costs asks here.

An embedder is told texts and nothing else, and says in the middle of a call what that used.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_payer: ContextVar[str | None] = ContextVar("payer", default=None)


@contextmanager
def bill_to(tenant: str) -> Iterator[None]:
    """What is embedded within is the tenant's to pay."""
    token = _payer.set(tenant)
    try:
        yield
    finally:
        _payer.reset(token)


def billed_tenant() -> str | None:
    """Who pays for what is embedded now; None if nobody has said."""
    return _payer.get()
