"""Connections of the soak's callers, as an HTTP client keeps them."""

from loadtests.load.connection_pool import ConnectionPool

_TIMEOUT_S = 60.0  # longer than any server of the soak is away


def connect(url: str) -> ConnectionPool:
    """One connection, opened again when the server has closed it."""
    return ConnectionPool(url, connections_max=1, timeout_s=_TIMEOUT_S, resend=True)
