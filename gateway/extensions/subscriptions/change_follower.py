"""Follows the changes of the tenants that this process watches, and wakes who is concerned.

PostgreSQL announces each commit that raises a counter of a tenant with subscriptions. What an
announcement says is also read every `_POLL_S` seconds, and when the connection was lost, so a lost
announcement costs time and nothing else.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field, replace
from typing import Any, Protocol, TypeAlias
from weakref import WeakValueDictionary

import orjson
import structlog

from cache.errors import ChangeFeedUnavailable
from cache.invalidation.drain import ChangeFeed
from cache.lookup import ComputedAnswer
from cache.protocol import Revisions
from common import background_tasks
from common.shares.slots import FairSlots
from gateway.extension import SearchRequest
from gateway.extensions.subscriptions.pinned_answers import PinnedAnswers, ValidAnswer
from gateway.extensions.subscriptions.subscription_metrics import Evaluation
from gateway.extensions.subscriptions.subscription_store import CHANNEL, SubscriptionStore
from index.errors import DatabaseUnavailable
from index.invalidation.changes import ChangeSet
from index.invalidation.reverse_search import ReverseIndex
from index.model.scope import PUBLIC
from index.postgres.database import Database
from index.postgres.session import Session
from index.tenants.principals import Principal, PrincipalStore

# Starting values, not measured.
_POLL_S = 2.0
_POLL_TIMEOUT_S = 5.0
_RECONNECT_S = 0.5
_USE_S = 3_600.0  # between two notes that a subscription is in use
_COMPUTATIONS_MAX = 8  # at once, so that a change which concerns many leaves room for searches
_WAITING_MAX = 100_000  # computations of one tenant; each watcher waits for one at most
_COMPUTATION_WAIT_S_MAX = 600.0

log = structlog.get_logger()

Compute: TypeAlias = Callable[[SearchRequest, Revisions], Coroutine[Any, Any, ComputedAnswer]]


class Watcher(Protocol):
    """One receiver of one subscription. principal: as it was last read."""

    @property
    def tenant(self) -> str: ...
    @property
    def subscription_id(self) -> str:
        """Empty if the search is watched without a stored subscription."""

    @property
    def principal(self) -> Principal: ...

    def wake(self, since_s: float) -> None:
        """Look again. since_s: when the reason was known, on the monotonic clock."""

    def end(self) -> None:
        """The subscription was deleted."""

    def __hash__(self) -> int: ...


@dataclass(slots=True)
class _WatchedTenant:
    """announced: the latest revision of each partition that this process has heard of.

    access_announced: the latest access revision. access_checked: up to which every watcher whose
    rights have changed was woken.
    """

    pinned: PinnedAnswers[ChangeSet, Watcher]
    access_checked: int
    access_announced: int
    announced: dict[str, int] = field(default_factory=dict)
    announced_at_s: float = 0.0
    flights: WeakValueDictionary[str, asyncio.Lock] = field(default_factory=WeakValueDictionary)
    is_pending: bool = False
    task: "asyncio.Task[None] | None" = None


class ChangeFollower:
    """compute: the answer to a search. count: receives computed and reused, for each answer."""

    def __init__(
        self,
        database: Database,
        feed: ChangeFeed[ChangeSet],
        principals: PrincipalStore,
        subscriptions: SubscriptionStore,
        compute: Compute,
        count: Callable[[Evaluation], None],
        *,
        poll_s: float = _POLL_S,
    ) -> None:
        self._database = database
        self._feed = feed
        self._principals = principals
        self._subscriptions = subscriptions
        self._compute = compute
        self._count = count
        self._poll_s = poll_s
        self._tenants: dict[str, _WatchedTenant] = {}
        self._watchers: dict[str, set[Watcher]] = {}
        self._is_watched = asyncio.Event()
        self._computations = FairSlots(
            _COMPUTATIONS_MAX, waiting_max=_WAITING_MAX, wait_s_max=_COMPUTATION_WAIT_S_MAX
        )

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        listening = asyncio.create_task(self._listen())
        try:
            yield
        finally:
            updates = [state.task for state in self._tenants.values() if state.task]
            await background_tasks.end(listening, *updates)

    @contextmanager
    def watching(self, watcher: Watcher) -> Iterator[None]:
        """Wake the watcher during the block whenever its answer or its rights may have changed."""
        access = watcher.principal.access_revision
        state = self._tenants.get(watcher.tenant)
        if state is None:
            pinned = PinnedAnswers[ChangeSet, Watcher](ReverseIndex)
            state = self._tenants[watcher.tenant] = _WatchedTenant(pinned, access, access)
        state.pinned.attach(watcher, None)
        self._watchers.setdefault(watcher.subscription_id, set()).add(watcher)
        self._is_watched.set()
        try:
            yield
        finally:
            state.pinned.detach(watcher)
            if not state.pinned.watchers and self._tenants.get(watcher.tenant) is state:
                del self._tenants[watcher.tenant]
            same = self._watchers[watcher.subscription_id]
            same.discard(watcher)
            if not same:
                del self._watchers[watcher.subscription_id]
            if not self._watchers:
                self._is_watched.clear()

    def receivers(self, subscription_id: str) -> int:
        """How many receivers of the subscription this process has."""
        return len(self._watchers.get(subscription_id, ()))

    def unstored(self, principal: Principal) -> int:
        """How many searches without a stored subscription the subject watches in this process."""
        return sum(
            (watcher.tenant, watcher.principal.subject) == (principal.tenant, principal.subject)
            for watcher in self._watchers.get("", ())
        )

    def has_rights_of_now(self, watcher: Watcher) -> bool:
        """Whether the watcher's rights were read after the last change that others were woken for.

        If not, the comparison by which they were woken may have read the rights before.
        """
        state = self._tenants[watcher.tenant]
        return watcher.principal.access_revision >= state.access_checked

    async def answer(
        self, watcher: Watcher, search: SearchRequest, revisions: Revisions
    ) -> ValidAnswer:
        """The answer to the watcher's search, correct at the revisions.

        It is computed once for all watchers with equal grants, whatever else others see: so a key
        stays a watcher's while the audiences change. Raises `DatabaseUnavailable` and `Saturated`.
        """
        state, revisions = self._tenants[watcher.tenant], revisions.without_audiences()
        state.pinned.attach(watcher, search.own_key)
        async with state.flights.setdefault(search.own_key, asyncio.Lock()):
            return await self._answer(watcher.tenant, state, search, revisions)

    async def _answer(
        self, tenant: str, state: _WatchedTenant, search: SearchRequest, revisions: Revisions
    ) -> ValidAnswer:
        valid = state.pinned.get(search.own_key, revisions)
        if valid is None and state.pinned.registry.reached.history == revisions.history:
            await self._catch_up(tenant, state, revisions.by_partition)
            valid = state.pinned.get(search.own_key, revisions)
        if valid is not None:
            self._count("reused")
            return valid
        async with self._computations.slot(tenant):
            answer = await self._compute(search, revisions)
        self._count("computed")
        self._wake(state.pinned.keep(search.own_key, answer), time.monotonic())
        for partition, revision in list(state.announced.items()):  # while nothing was pinned
            self._follow_soon(tenant, state, partition, revision)
        return ValidAnswer(answer, answer.as_of)

    async def _listen(self) -> None:
        used_s = time.monotonic()
        while True:
            await self._is_watched.wait()
            try:
                async with self._database.listening(CHANNEL, self._on_message) as session:
                    await self._end_deleted()
                    while self._watchers:
                        async with asyncio.timeout(_POLL_TIMEOUT_S):
                            await self._poll(session)
                        if time.monotonic() - used_s > _USE_S:
                            await self._subscriptions.record_use(self._watchers.keys() - {""})
                            used_s = time.monotonic()
                        await asyncio.sleep(self._poll_s)
            except Exception as error:
                log.warning("subscriptions", state="deaf", detail=str(error))
                await asyncio.sleep(_RECONNECT_S)

    async def _poll(self, session: Session) -> None:
        """Read the counters of all watched tenants, as if all had been announced."""
        rows = await session.rows("tenants.revisions", [*self._tenants, PUBLIC])
        by_tenant = {row["tenant"]: row for row in rows}
        history = by_tenant[PUBLIC]["history"]
        for tenant, state in list(self._tenants.items()):
            if state.pinned.registry.reached.history not in ("", history):
                state.access_checked = state.access_announced = 0
                self._wake(state.pinned.clear(), time.monotonic())
            row = by_tenant.get(tenant)
            if row is None:  # deleted
                self._wake(state.pinned.watchers, time.monotonic())
            else:
                self._announce(tenant, row["revision"], row["access_revision"])
        self._announce(PUBLIC, by_tenant[PUBLIC]["revision"], 0)

    async def _end_deleted(self) -> None:
        """End the watchers of subscriptions that were deleted while this process did not listen."""
        watched = self._watchers.keys() - {""}
        for subscription_id in watched - await self._subscriptions.existing(watched):
            self._end(subscription_id)

    def _end(self, subscription_id: str) -> None:
        for watcher in self._watchers.get(subscription_id, set()):
            watcher.end()

    def _on_message(self, text: str) -> None:
        message = orjson.loads(text)
        if "subscription" in message:
            self._end(message["subscription"])
        else:
            self._announce(message["tenant"], message["revision"], message["access_revision"])

    def _announce(self, tenant: str, revision: int, access_revision: int) -> None:
        if tenant != PUBLIC:
            state = self._tenants.get(tenant)
            if state is not None:
                state.access_announced = max(state.access_announced, access_revision)
                self._follow_soon(tenant, state, tenant, revision)
            return
        for home, state in self._tenants.items():
            self._follow_soon(home, state, PUBLIC, revision)

    def _follow_soon(
        self, tenant: str, state: _WatchedTenant, partition: str, revision: int
    ) -> None:
        """Let the tenant's task apply what is announced; it runs once more if it runs already."""
        state.announced[partition] = revision
        is_reached = state.pinned.registry.reached.by_partition.get(partition, revision) >= revision
        if is_reached and state.access_announced <= state.access_checked:
            return
        if not state.is_pending:
            state.is_pending = True
            state.announced_at_s = time.monotonic()
        if state.task is None:
            state.task = asyncio.create_task(self._follow(tenant, state))

    async def _follow(self, tenant: str, state: _WatchedTenant) -> None:
        try:
            while state.is_pending:
                state.is_pending = False
                if state.access_announced > state.access_checked:
                    await self._check_rights(tenant, state)
                await self._catch_up(tenant, state, dict(state.announced))
        except DatabaseUnavailable as error:  # what is announced is read again at the next poll
            log.warning("subscriptions", state="behind", tenant=tenant, detail=str(error))
        finally:
            state.is_pending = False
            state.task = None

    async def _check_rights(self, tenant: str, state: _WatchedTenant) -> None:
        """Wake the watchers whose rights differ from those that they were last answered with."""
        announced, since_s = state.access_announced, state.announced_at_s
        key_ids = {watcher.principal.key_id for watcher in state.pinned.watchers} - {None}
        holders = await self._principals.holders_now(tenant, sorted(filter(None, key_ids)))
        # Before the comparison: who reads its rights from here on, reads them again if need be.
        state.access_checked = announced
        for watcher in state.pinned.watchers:
            if _has_changed(watcher.principal, holders):
                watcher.wake(since_s)

    async def _catch_up(
        self, tenant: str, state: _WatchedTenant, revisions: Mapping[str, int]
    ) -> None:
        """Apply the changes up to the revisions. Raises `DatabaseUnavailable`."""
        registry = state.pinned.registry
        async with registry.catching_up:
            since, since_s = registry.reached, state.announced_at_s or time.monotonic()
            behind = {
                name: revision
                for name, revision in revisions.items()
                if since.by_partition.get(name, revision) < revision
            }
            try:
                change_sets = [
                    await self._feed.changes_after(
                        tenant,
                        name,
                        since.by_partition[name],
                        Revisions(since.history, {name: revision}),
                    )
                    for name, revision in behind.items()
                ]
            except ChangeFeedUnavailable as error:
                raise DatabaseUnavailable("the change log cannot be read") from error
            if None in change_sets:  # a change is no longer stored, or they are too many
                woken = state.pinned.clear()
            else:
                woken = state.pinned.apply([each for each in change_sets if each], since)
            self._wake(woken, since_s)

    def _wake(self, watchers: set[Watcher], since_s: float) -> None:
        for watcher in watchers:
            watcher.wake(since_s)


def _has_changed(principal: Principal, holders: Mapping[str, Principal]) -> bool:
    """Whether the principal may do something else now; unknown for the bearers of web tokens."""
    if principal.key_id is None:
        return True
    now = holders.get(principal.key_id)
    return now is None or principal != replace(
        now, history=principal.history, access_revision=principal.access_revision
    )
