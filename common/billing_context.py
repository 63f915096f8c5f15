"""The tenant that pays for the current embedding or model call.

An embedder receives only texts, and reports its usage in the middle of a call. The usage meter
reads it, and so do embedders on this machine, whose threads tenants share.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_payer: ContextVar[str | None] = ContextVar("payer", default=None)


@contextmanager
def bill_to(tenant: str) -> Iterator[None]:
    """A context in which the tenant pays for embeddings and model calls."""
    token = _payer.set(tenant)
    try:
        yield
    finally:
        _payer.reset(token)


def billed_tenant() -> str | None:
    """The tenant that pays now; None outside of `bill_to`."""
    return _payer.get()
