"""The tenant that pays for the current embedding or model call.

An embedder receives only texts, and reports its usage in the middle of a call. The usage meter
reads it, and so do embedders on this machine, whose threads tenants share.
"""

from contextvars import ContextVar

_payer: ContextVar[str | None] = ContextVar("payer", default=None)


class bill_to:  # noqa: N801  a context manager, named for what it does; each question enters one
    """A context in which the tenant pays for embeddings and model calls."""

    def __init__(self, tenant: str) -> None:
        self._tenant = tenant

    def __enter__(self) -> None:
        self._token = _payer.set(self._tenant)

    def __exit__(self, *_error: object) -> None:
        _payer.reset(self._token)


def billed_tenant() -> str | None:
    """The tenant that pays now; None outside of `bill_to`."""
    return _payer.get()
