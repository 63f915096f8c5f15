"""Watches one subscription for one receiver: finds out what to report to it, and when.

A receiver is told of the answer of now, never of one that was queued: with the rights that it has
at that moment, and with the changes since what it has seen. So what is lost on the way, or comes
while it is away, is in the next event. A sender asks for an event when it can send it, and sends it
at once. If its rights and revisions were read more than `EVENT_AGE_S_MAX` ago, they are read again.
"""

import asyncio
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import orjson
import structlog

from cache.protocol import Revisions
from common.errors import Saturated
from gateway.extension import (
    CONFIRMED_S_MAX,
    Authenticator,
    ReadLog,
    SearchBody,
    SearchRequest,
    SearchServices,
    problems,
    schemas,
    utc_now,
)
from gateway.extensions.subscriptions import answer_events
from gateway.extensions.subscriptions.answer_events import (
    EventId,
    HitReference,
    SeenAnswer,
    WatchedAnswer,
)
from gateway.extensions.subscriptions.change_follower import ChangeFollower
from gateway.extensions.subscriptions.pinned_answers import ValidAnswer
from gateway.extensions.subscriptions.subscription_store import (
    StoredEvent,
    Subscription,
    SubscriptionStore,
)
from index.errors import IndexStoreError
from index.model.scope import PUBLIC
from index.tenants.principals import Principal

EndReason: TypeAlias = Literal["deleted", "expired", "revoked", "public_not_received"]

# Starting values, not measured.
EVENT_AGE_S_MAX = CONFIRMED_S_MAX  # since its rights and revisions were read
_CHECK_S_MAX = 1.0  # to read them again
_LOOKS_MAX = 3  # the first one computes the answer; the others take it from memory if they can
_RETRY_S = 1.0  # while PostgreSQL or a model is unavailable

log = structlog.get_logger()


class SubscriptionEnded(Exception):
    """The receiver hears nothing more."""

    def __init__(self, reason: EndReason) -> None:
        super().__init__(reason)
        self.reason: EndReason = reason


@dataclass(frozen=True, slots=True)
class AnswerEvent:
    """What a receiver is told. since_s: when the reason was known, on the monotonic clock.

    seen: what its receiver has seen once it has the event.
    key, body: of the answer that it reports, for the log of reads.
    """

    event_id: str
    number: int
    fields: Mapping[str, Any]
    since_s: float
    seen: SeenAnswer
    key: str
    body: bytes


@dataclass(frozen=True, slots=True)
class WatcherServices:
    follower: ChangeFollower
    store: SubscriptionStore
    search: SearchServices
    authenticator: Authenticator
    read_log: ReadLog


class SubscriptionWatcher:
    """last_event: the id of the last event that the receiver has; None if it has none.

    clock_s: monotonic, by which events age.
    """

    def __init__(
        self,
        services: WatcherServices,
        subscription: Subscription,
        principal: Principal,
        last_event: EventId | None,
        clock_s: Callable[[], float] = time.monotonic,
    ) -> None:
        self.principal = principal
        self._services = services
        self._subscription = subscription
        self._last_event = last_event
        self._clock_s = clock_s
        self._body = schemas.parse(SearchBody, orjson.dumps(subscription.search))
        self._seen: SeenAnswer | None = None
        self._read: tuple[Principal, Revisions] | None = None
        self._is_deleted = False
        self._woken = asyncio.Event()
        self._woken_at_s = time.monotonic()

    @property
    def tenant(self) -> str:
        return self._subscription.tenant

    @property
    def subscription_id(self) -> str:
        return self._subscription.subscription_id

    def wake(self, since_s: float) -> None:
        if not self._woken.is_set():
            self._woken_at_s = since_s
            self._woken.set()

    def end(self) -> None:
        """The subscription was deleted."""
        self._is_deleted = True
        self.wake(time.monotonic())

    async def wait(self, timeout_s: float) -> bool:
        """Wait until the answer or the rights may have changed; False after the time."""
        expires_at = self.principal.expires_at
        if expires_at is not None:
            timeout_s = min(timeout_s, max(0.0, (expires_at - utc_now()).total_seconds()))
        try:
            async with asyncio.timeout(timeout_s):
                await self._woken.wait()
        except TimeoutError:
            return expires_at is not None and expires_at <= utc_now()
        return True

    async def next_event(self) -> AnswerEvent | None:
        """The event that reports the answer of now; None if the receiver has seen this answer.

        Until `record_received` the receiver counts as not having it. Raises `SubscriptionEnded`.
        What cannot be read or confirmed now wakes the watcher again a little later.
        """
        for _ in range(_LOOKS_MAX):
            begun_at_s = self._clock_s()
            event = await self._look()
            if event is None or await self._is_valid(begun_at_s):
                return event
        self._retry_later()
        return None

    def record_read(self, event: AnswerEvent) -> None:
        """Log that the event's hits are shown to the receiver; call it before they are sent."""
        if self._subscription.reports_hits:
            shows_more = bool(self._body.expand or self._body.summaries)
            self._services.read_log.answer(
                self.principal, event.key, event.body, shows_more=shows_more
            )

    def record_received(self, event: AnswerEvent) -> None:
        """The receiver has the event: the next one reports the changes since this one."""
        self._seen = event.seen

    async def _is_valid(self, begun_at_s: float) -> bool:
        """Whether the event may be sent that was begun then: nothing that it is made of has moved.

        Raises `SubscriptionEnded`.
        """
        if self._clock_s() - begun_at_s <= EVENT_AGE_S_MAX:
            return True
        before = self._read
        with suppress(IndexStoreError, Saturated, problems.Problem, TimeoutError):
            async with asyncio.timeout(_CHECK_S_MAX):
                await self._authenticate()
            return self._read == before
        return False

    async def _look(self) -> AnswerEvent | None:
        """As `next_event`, however long it takes."""
        self._woken.clear()
        since_s = self._woken_at_s
        if self._is_deleted:
            raise SubscriptionEnded("deleted")
        try:
            search, revisions = await self._authenticate()
            valid = await self._services.follower.answer(self, search, revisions)
            if not valid.answer.is_complete:
                self._retry_later()
                return None
            return await self._report(search, valid, since_s)
        except (IndexStoreError, Saturated) as error:
            log.warning("subscriptions", state="unavailable", detail=str(error))
        except problems.Problem as problem:
            if problem.status == 401:
                raise SubscriptionEnded(self._end_reason()) from None
            log.warning("subscriptions", state="unavailable", detail=problem.detail)
        self._retry_later()
        return None

    async def _authenticate(self) -> tuple[SearchRequest, Revisions]:
        """The search with the rights of now, and revisions that were read with them.

        Raises `SubscriptionEnded` if it names public documents that the tenant does not receive:
        the answer of the tenant's own alone would look complete.
        """
        admitted = await self._services.authenticator.confirm(self.principal)
        self.principal = admitted.principal
        if not self._services.follower.has_rights_of_now(self):
            self.wake(time.monotonic())
        search = self._services.search.request_of(self.principal, self._body)
        if search.asks_in_vain:
            raise SubscriptionEnded("public_not_received")
        revisions = admitted.revisions.of(search.scope.partitions)
        self._read = self.principal, revisions.without_audiences()
        return search, revisions

    async def _report(
        self, search: SearchRequest, valid: ValidAnswer, since_s: float
    ) -> AnswerEvent | None:
        answer = await answer_events.watched_answer(valid.answer.body)
        seen = await self._what_is_seen(answer)
        if seen is not None and seen.digest == answer.digest:
            return None
        number = await self._number(seen, answer, valid.valid_until)
        if number is None:  # another process has reported the answer of a later revision
            self.wake(time.monotonic())
            return None
        return AnswerEvent(
            answer_events.event_id(number, answer.digest),
            number,
            self._fields(seen, answer, number, valid.valid_until),
            since_s,
            SeenAnswer(number, answer.digest, answer.references),
            search.own_key,
            valid.answer.body,
        )

    async def _what_is_seen(self, answer: WatchedAnswer) -> SeenAnswer | None:
        """The answer that the receiver has; at first the one that its last event names."""
        last, self._last_event = self._last_event, None
        if last is None:
            return self._seen
        if last.is_of(answer.digest):
            self._seen = SeenAnswer(last.number, answer.digest, answer.references)
            return self._seen
        try:
            stored = await self._services.store.event(
                self.tenant, self.subscription_id, last.number
            )
        except (IndexStoreError, Saturated):
            self._last_event = last
            raise
        if stored is not None and last.is_of(stored.digest):
            references = tuple(HitReference(*hit) for hit in stored.hits)
            self._seen = SeenAnswer(last.number, stored.digest, references)
        return self._seen

    async def _number(
        self, seen: SeenAnswer | None, answer: WatchedAnswer, valid_until: Revisions
    ) -> int | None:
        """The number of the event that reports the answer. Raises `SubscriptionEnded`."""
        after = 0 if seen is None else seen.number
        if not self.subscription_id:
            return after + 1
        record = await self._services.store.record_event(
            self.tenant,
            self.subscription_id,
            StoredEvent(
                answer.digest,
                [(hit.chunk_id, hit.document_id, hit.digest) for hit in answer.references]
                if self._subscription.reports_hits
                else [],
            ),
            after=after,
            history=valid_until.history,
            revision=valid_until.by_partition[self.tenant],
            public_revision=valid_until.by_partition.get(PUBLIC),
        )
        if record is None:
            raise SubscriptionEnded("deleted")
        return record.number

    def _fields(
        self, seen: SeenAnswer | None, answer: WatchedAnswer, number: int, valid_until: Revisions
    ) -> dict[str, Any]:
        fields: dict[str, Any] = {
            "subscription": self.subscription_id,
            "number": number,
            "since": None if seen is None else seen.number,
            "revision": valid_until.by_partition[self.tenant],
            "low_confidence": answer.low_confidence,
        }
        if self._subscription.reports_hits:
            fields["hits"] = answer_events.hit_changes(seen, answer)
        return fields

    def _retry_later(self) -> None:
        asyncio.get_running_loop().call_later(_RETRY_S, self.wake, time.monotonic())

    def _end_reason(self) -> EndReason:
        expires_at = self.principal.expires_at
        return "expired" if expires_at is not None and expires_at <= utc_now() else "revoked"
