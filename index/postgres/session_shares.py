"""The connections of sessions, shared by tenants: one uses half of them at most.

A tenant's writes wait for each other in PostgreSQL, each with its connection, so more connections
would make none of them faster, and leave none to other tenants.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from contextvars import ContextVar

from common.audit_actor import current_actor
from common.errors import Saturated
from common.shares.slots import FairSlots
from index.errors import DatabaseUnavailable
from index.postgres.connections import ACQUIRE_TIMEOUT_S

SESSIONS_WAITING_MAX = 512  # of one tenant; a worker serves fewer of its requests at once

# Whether the task has a session already. One within it waits for no share: those that hold the
# tenant's may be waiting for the same.
_HAS_SESSION: ContextVar[bool] = ContextVar("has_session", default=False)


class SessionShares:
    def __init__(self, connections: int) -> None:
        self._slots = FairSlots(
            connections, waiting_max=SESSIONS_WAITING_MAX, wait_s_max=ACQUIRE_TIMEOUT_S
        )

    @asynccontextmanager
    async def slot(self) -> AsyncIterator[None]:
        """A place for a session of the tenant that acts. Raises `DatabaseUnavailable`."""
        tenant = current_actor().tenant
        if not tenant or _HAS_SESSION.get():
            yield
            return
        try:
            await self._slots.acquire(tenant)
        except Saturated as error:
            raise DatabaseUnavailable(str(error)) from error
        _HAS_SESSION.set(True)
        try:
            yield
        finally:
            _HAS_SESSION.set(False)
            self._slots.release(tenant)
