"""Which sources this process follows: it claims them, keeps their leases, and drops their slots."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from uuid import UUID, uuid4

import orjson
import structlog

from common import background_tasks
from common.errors import Saturated
from gateway.extension import Settings, listed
from gateway.extensions._sources.source import Defaults
from gateway.extensions._web.addresses import AddressPolicy, parse_networks
from gateway.extensions.sources_postgres.follower import Follower, FollowerParts
from gateway.extensions.sources_postgres.follower_store import ClaimedFollower
from gateway.extensions.sources_postgres.postgres_schemas import PostgresSource
from gateway.extensions.sources_postgres.postgres_settings import PostgresSettings
from gateway.extensions.sources_postgres.sealed_password import PasswordSealing
from gateway.extensions.sources_postgres.server.connection import connected
from gateway.extensions.sources_postgres.server.errors import FollowingFailed, SourceMisconfigured
from gateway.extensions.sources_postgres.server.replication_slot import ReplicationSlot
from index.errors import IndexStoreError, JobLost
from ingest.errors import DocumentContended

# Starting values, not measured.
FOLLOWED_MAX = 100  # by a process
TENANT_FOLLOWED_MAX = 10  # by all processes
LEASE_S = 15.0
_DROPPED_MAX = 10  # slots at a tick
_TICK_S = 1.0
_PAUSE_S_MAX = 60.0  # after repeated failures
DROP_ATTEMPTS_MAX = 200  # of a slot: with these pauses three hours
_NOT_ALLOWED = (
    "This host may not be followed: ask the operator to add it to NEARHIT_SOURCES_POSTGRES_HOSTS."
)
_NO_PASSWORD = "The password can't be opened: give it again in the settings of the source."  # noqa: S105

log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class ServerAccess:
    """Which servers may be followed, and with which password."""

    hosts: frozenset[str]
    policy: AddressPolicy
    passwords: PasswordSealing

    @classmethod
    def of(cls, own: PostgresSettings) -> "ServerAccess":
        policy = AddressPolicy(parse_networks(listed(own.networks)))
        return cls(frozenset(listed(own.hosts)), policy, PasswordSealing(own.keys))

    def denial_reason(self, config: PostgresSource) -> str | None:
        if not self.hosts.isdisjoint({config.host, f"{config.host}:{config.port}"}):
            return None
        return _NOT_ALLOWED

    def password(self, tenant: str, source: str, config: PostgresSource) -> str:
        """Raises `SourceMisconfigured`."""
        if config.password is None:
            return ""
        password = self.passwords.open(tenant, source, config)
        if password is None:
            raise SourceMisconfigured(_NO_PASSWORD)
        return password


@dataclass(slots=True)
class Followers:
    """lease_s: after which another process follows what a lost one followed."""

    settings: Settings
    access: ServerAccess
    parts: FollowerParts
    lease_s: float = LEASE_S
    tick_s: float = _TICK_S
    _lease: UUID = field(default_factory=uuid4)
    _tasks: dict[int, asyncio.Task[None]] = field(default_factory=dict)
    _followed: dict[int, Follower] = field(default_factory=dict)

    async def run(self, stop: asyncio.Event) -> None:
        """Follow what nobody follows until `stop` is set."""
        stopping = asyncio.create_task(stop.wait())
        try:
            while not stop.is_set():
                try:
                    async with asyncio.timeout(self.lease_s / 2):
                        await self._tick()
                except (IndexStoreError, Saturated, TimeoutError) as failure:
                    log.warning("follower", state="unavailable", detail=str(failure))
                await asyncio.wait((stopping,), timeout=self.tick_s)
        finally:
            await background_tasks.end(stopping, *self._tasks.values())

    async def _tick(self) -> None:
        """Keep what this process follows, and claim more."""
        if self._tasks:
            kept = await self.parts.followers.renew(
                self._lease, list(self._tasks), lease_s=self.lease_s
            )
            for number, task in self._tasks.items():
                if number not in kept:
                    task.cancel()
                elif follower := self._followed.get(number):
                    follower.copy_requested |= kept[number]
        claimed = await self.parts.followers.claim(
            self._lease,
            lease_s=self.lease_s,
            limit=max(0, FOLLOWED_MAX - len(self._tasks)),
            tenant_max=TENANT_FOLLOWED_MAX,
            dropped_max=_DROPPED_MAX,
        )
        for each in claimed:
            self._start(each)

    def _start(self, claimed: ClaimedFollower) -> None:
        number = claimed.lease.follower_no

        def forget(_task: object) -> None:
            self._tasks.pop(number, None)
            self._followed.pop(number, None)

        task = asyncio.create_task(self._keep(claimed))
        self._tasks[number] = task
        task.add_done_callback(forget)

    async def _keep(self, claimed: ClaimedFollower) -> None:
        """Follow, or drop the slot of what is not to be followed any more, and free the lease."""
        failures, due_s = claimed.failures, 0.0

        def begin_anew() -> None:
            nonlocal failures
            failures = 0

        try:
            try:
                await self._follow_or_drop(claimed, begin_anew)
            except JobLost:
                return
            except Exception as error:
                failures += 1
                due_s = min(_PAUSE_S_MAX, 2.0 ** min(failures - 1, 10))
                _log_failure(claimed, error)
                await self._failed(claimed, error, failures)
            finally:
                await self.parts.followers.release(claimed.lease, due_s=due_s, failures=failures)
        except (IndexStoreError, Saturated) as failure:  # the lease ends by itself
            log.warning("follower", state="unavailable", detail=str(failure))

    async def _follow_or_drop(
        self, claimed: ClaimedFollower, on_progress: Callable[[], None]
    ) -> None:
        config = PostgresSource.model_validate_json(orjson.dumps(dict(claimed.settings)))
        if reason := self.access.denial_reason(config):
            raise SourceMisconfigured(reason)
        password = self.access.password(claimed.tenant, claimed.source, config)
        async with connected(claimed.tenant, config, password, self.access.policy) as connection:
            if not claimed.is_current:
                await ReplicationSlot(connection, claimed.slot, config).drop()
                await self.parts.followers.remove(claimed.lease)
                return
            follower = Follower(
                self.parts, claimed, config, self._defaults(config), connection, on_progress
            )
            self._followed[claimed.lease.follower_no] = follower
            await follower.run()

    def _defaults(self, config: PostgresSource) -> Defaults:
        return Defaults(
            owner=config.owner,
            readers=config.readers,
            tags=config.tags,
            language=config.language,
            default_language=self.settings.language,
            chunker=config.chunker,
            summaries=config.summaries,
        )

    async def _failed(self, claimed: ClaimedFollower, error: Exception, failures: int) -> None:
        """Tell the source; a slot that can't be dropped is given up in the end."""
        if claimed.is_current:
            await self.parts.sources.record_failure(claimed.tenant, claimed.source, _reason(error))
        elif failures >= DROP_ATTEMPTS_MAX:
            log.warning("follower", state="slot_left", slot=claimed.slot)
            await self.parts.followers.remove(claimed.lease)


def _log_failure(claimed: ClaimedFollower, error: Exception) -> None:
    is_known = isinstance(error, FollowingFailed | IndexStoreError | Saturated | DocumentContended)
    log.warning(
        "follower",
        state="failed",
        detail=type(error).__name__,
        tenant=claimed.tenant,
        source=claimed.source,
        exc_info=None if is_known else error,
    )


def _reason(error: Exception) -> str:
    """For an admin of the tenant; only the name of an unknown exception, which may quote a row."""
    match error:
        case FollowingFailed() | IndexStoreError() | Saturated():
            return str(error)
        case DocumentContended():
            return "Concurrent writes kept changing a document."
        case _:
            return type(error).__name__
