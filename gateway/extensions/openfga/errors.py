"""OpenFGA does not answer as it should, or no longer knows the position in its changes."""

from index.errors import IndexStoreError


class OpenfgaUnavailable(Exception):
    """A later attempt may succeed. The message quotes no tuple and no credential.

    retry_after_s: how long OpenFGA asks to wait; 0 if it does not say.
    """

    def __init__(self, message: str, retry_after_s: float = 0) -> None:
        super().__init__(message)
        self.retry_after_s = retry_after_s


class PositionLost(OpenfgaUnavailable):
    """All tuples have to be read again."""


class TuplesMoved(IndexStoreError):
    """Nothing was stored; read the tenant's position again."""

    def __init__(self, tenant: str) -> None:
        super().__init__(f"another worker has applied relation tuples of {tenant} meanwhile")
