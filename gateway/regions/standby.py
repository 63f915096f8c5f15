"""The region's standby of PostgreSQL: what it has replayed, and whether it answers."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager

import structlog

from cache.revision_reader import RevisionReader
from common.circuit_breaker import STANDBY, CircuitBreaker
from gateway.errors import CommandError
from gateway.settings.settings import Settings
from index.errors import DatabaseUnavailable
from index.postgres import connections, database
from index.postgres.database import Database
from index.postgres.session import ObserveStatement
from index.tenants.tenant_store import TenantRevisions, TenantStore

# Starting values, not measured.
_TRUSTED_S = 1.0  # after an answer, before the standby is asked whether it is still there
ANSWER_S_MAX = 0.25  # for its revisions, which are in its memory
SEARCH_S_MAX = 1.0  # then the primary is asked
_POLL_S = 0.002
_REPLAY_WAIT_S = 0.02  # of a search; then the primary answers
_CHECK_S_MAX = 5.0
_STATEMENT_S_MAX = 30.0  # loading a large partition

log = structlog.get_logger()


class Standby:
    """wait_s: for what it has not replayed yet, before the primary is asked.

    count: receives what a question met: standby, behind, or unavailable.
    """

    def __init__(
        self,
        standby: Database,
        *,
        wait_s: float,
        count: Callable[[str], None],
        clock_s: Callable[[], float] = time.monotonic,
    ) -> None:
        self.database = standby
        self._wait_s = wait_s
        self._count = count
        self._clock_s = clock_s
        self._breaker = CircuitBreaker(clock_s, STANDBY)
        self._revisions = RevisionReader(TenantStore(standby), clock_s)
        self._failed_at_s = float("-inf")

    async def has_replayed(
        self, history: str, revisions: Mapping[str, int], wait_s: float | None = None
    ) -> bool:
        """Whether it has these revisions or later ones of the history, now or within the wait.

        What it has once replayed it keeps. False if it does not answer.
        """
        admitted = self._breaker.admit()
        if admitted is None:
            self._count("unavailable")
            return False
        try:
            has_replayed = await self._wait(history, revisions, wait_s)
        except (DatabaseUnavailable, TimeoutError) as error:
            log.warning("standby", state="unavailable", detail=str(error))
            self._failed_at_s = self._clock_s()
            self._breaker.failed(admitted)
            self._count("unavailable")
            return False
        except BaseException:
            self._breaker.abandoned(admitted)
            raise
        self._breaker.succeeded(admitted)
        self._count("standby" if has_replayed else "behind")
        return has_replayed

    def failed(self) -> None:
        """A statement was not answered: ask the primary for some time."""
        self._failed_at_s = self._clock_s()
        admitted = self._breaker.admit()
        if admitted is not None:
            self._breaker.failed(admitted)

    async def _wait(self, history: str, revisions: Mapping[str, int], wait_s: float | None) -> bool:
        now_s = self._clock_s()
        trusted_s = min(_TRUSTED_S, now_s - self._failed_at_s)
        known = {name: self._revisions.latest(name, trusted_s) for name in revisions}
        ends_s = now_s + (self._wait_s if wait_s is None else wait_s)
        while not _has_reached(known, history, revisions):
            async with asyncio.timeout(ANSWER_S_MAX):
                counters = await self._revisions.read(revisions)
            known = {name: counters.get(name) for name in revisions}
            if self._clock_s() >= ends_s:
                return _has_reached(known, history, revisions)
            await asyncio.sleep(_POLL_S)
        return True


def _has_reached(
    known: Mapping[str, TenantRevisions | None], history: str, revisions: Mapping[str, int]
) -> bool:
    return all(
        counters is not None
        and counters.history == history
        and counters.revision >= revisions[name]
        for name, counters in known.items()
    )


@asynccontextmanager
async def connect(
    settings: Settings, primary: Database, observe: ObserveStatement, count: Callable[[str], None]
) -> AsyncIterator[Standby | None]:
    """The standby of the settings, if they have one.

    Raises `CommandError` if it is reachable, and a copy of another server.
    """
    if settings.replica_url is None or settings.database_url is None:
        yield None
        return
    url = settings.replica_url.get_secret_value()
    await _check(settings.database_url.get_secret_value(), url)
    async with database.connect_standby(
        primary,
        url,
        connections_max=settings.database_connections,
        statement_timeout_s=_STATEMENT_S_MAX,
        search_timeout_s=min(SEARCH_S_MAX, settings.deadline_s),
        observe=observe,
    ) as standby:
        yield Standby(standby, wait_s=_REPLAY_WAIT_S, count=count)


async def _check(primary_url: str, url: str) -> None:
    try:
        async with asyncio.timeout(_CHECK_S_MAX):
            identifiers = [await connections.system_identifier(each) for each in (url, primary_url)]
    except (DatabaseUnavailable, TimeoutError) as error:
        log.warning("standby", state="unavailable", detail=str(error))
        return
    if len(set(identifiers)) > 1:
        raise CommandError(
            "NEARHIT_REPLICA_URL leads to a copy of another PostgreSQL than NEARHIT_DATABASE_URL"
        )
