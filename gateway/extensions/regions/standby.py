"""The region's standby of PostgreSQL: what it has replayed, and whether it answers."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager

import structlog

from cache.invalidation.drain import ChangeFeed
from cache.revision_reader import RevisionReader
from common.circuit_breaker import BreakerLimits, CircuitBreaker
from gateway.extension import CommandError, Settings
from gateway.extensions.regions import standby_database
from gateway.extensions.regions.standby_change_feed import StandbyChangeFeed
from index.errors import DatabaseUnavailable
from index.invalidation.changes import ChangeSet
from index.postgres.database import Database
from index.postgres.session import ObserveStatement
from index.search.found_chunks import FoundChunks
from index.search.preparation import AskedSearch
from index.search.search_executor import SearchExecutor
from index.search.shards.shard_search import KnownRevisions
from index.tenants.tenant_store import TenantRevisions, TenantStore

# Starting values, not measured.
_TRUSTED_S = 1.0  # after an answer, before the standby is asked whether it is still there
ANSWER_S_MAX = 0.25  # for its revisions, which are in its memory
SEARCH_S_MAX = 1.0  # then the primary is asked
_POLL_S = 0.002
_REPLAY_WAIT_S = 0.02  # of a search; then the primary answers
_CHECK_S_MAX = 5.0
_STATEMENT_S_MAX = 30.0  # loading a large partition
# One failure is enough: the primary answers too.
_BREAKER = BreakerLimits(failures_max=1, first_pause_s=0.25, longest_pause_s=5.0)

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
        self._breaker = CircuitBreaker(clock_s, _BREAKER)
        self._revisions = RevisionReader(TenantStore(standby), clock_s)
        self._failed_at_s = float("-inf")

    async def execute(
        self, executor: SearchExecutor, asked: AskedSearch, rows_max: int, known: KnownRevisions, /
    ) -> FoundChunks | None:
        """As `SearchExecutor.execute`; None if the primary has to be asked.

        Shards that are at the known revisions need no standby.
        """
        shards = executor.shards
        if not (
            (shards is not None and shards.is_in_memory_at(asked.scope, asked.query, known))
            or await self.has_replayed(known.history, known.by_partition)
        ):
            return None
        try:
            found = await executor.execute(asked, rows_max, known)
        except DatabaseUnavailable:
            self.failed()
            return None
        # Behind a balancer, another standby may have answered.
        has_reached = found.history == known.history and all(
            found.revisions[name] >= revision for name, revision in known.by_partition.items()
        )
        return found if has_reached else None

    def change_feed(self, primary: ChangeFeed[ChangeSet], /) -> ChangeFeed[ChangeSet]:
        """Reads the changes that the standby has; `primary` reads all others."""
        return StandbyChangeFeed(self, primary)

    async def has_replayed(
        self, history: str, revisions: Mapping[str, int], wait_s: float | None = None, /
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
    async with standby_database.connect(
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
            identifiers = [
                await standby_database.system_identifier(each) for each in (url, primary_url)
            ]
    except (DatabaseUnavailable, TimeoutError) as error:
        log.warning("standby", state="unavailable", detail=str(error))
        return
    if len(set(identifiers)) > 1:
        raise CommandError(
            "NEARHIT_REPLICA_URL leads to a copy of another PostgreSQL than NEARHIT_DATABASE_URL"
        )
