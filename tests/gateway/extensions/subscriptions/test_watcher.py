"""A watcher's events are as new as they have to be, and are not lost before they are received."""

from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any, cast

import orjson
import pytest

from cache.lookup import ComputedAnswer
from cache.protocol import Revisions
from gateway.auth.authenticated_request import AuthenticatedRequest
from gateway.auth.authenticator import utc_now
from gateway.extensions.subscriptions.pinned_answers import ValidAnswer
from gateway.extensions.subscriptions.subscription_store import Subscription
from gateway.extensions.subscriptions.subscription_watcher import (
    EVENT_AGE_S_MAX,
    SubscriptionWatcher,
    WatcherServices,
)
from gateway.search.search_request import SearchRequest
from index.model.query import Query
from index.model.scope import Scope
from index.tenants.principals import Principal

pytestmark = pytest.mark.anyio

PRINCIPAL = Principal(b"digest", "key", "acme", "ana", (), ("reader",), None, "h", 0)
SCOPE = Scope("acme", ("tenant",), (), "user:ana", public=False)
REVISIONS = Revisions("h", {"acme": 7})
SUBSCRIPTION = Subscription(
    "", "acme", "ana", "key", {"query": "leave"}, False, 100, utc_now(), 0, None, None
)


class Services:
    """Answers that take these times in seconds on a clock of their own, one after the other.

    moves: whether the revision rises with each answer.
    """

    def __init__(self, *times_s: float, moves: bool = False) -> None:
        self.answered = 0
        self._moves = moves
        self.now_s = 0.0
        self._times_s: Iterator[float] = iter(times_s)

    async def confirm(self, principal: Principal) -> AuthenticatedRequest:
        revisions = Revisions("h", {"acme": self.answered}) if self._moves else REVISIONS
        return AuthenticatedRequest(principal, revisions, revisions)

    def request_of(self, principal: Principal, body: Any) -> SearchRequest:
        return SearchRequest(principal, body, SCOPE, Query(text="leave"), "e", b"", "key")

    def has_rights_of_now(self, _watcher: object) -> bool:
        return True

    async def answer(self, *_: object) -> ValidAnswer:
        self.now_s += next(self._times_s)
        self.answered += 1
        hit = {"chunk_id": self.answered, "document_id": "leave"}
        return ValidAnswer(ComputedAnswer(orjson.dumps({"hits": [hit]}), REVISIONS), REVISIONS)

    def watcher(self) -> SubscriptionWatcher:
        services = cast(
            "WatcherServices", SimpleNamespace(follower=self, search=self, authenticator=self)
        )
        return SubscriptionWatcher(
            services, SUBSCRIPTION, PRINCIPAL, None, clock_s=lambda: self.now_s
        )


async def test_an_event_that_took_long_is_sent_if_nothing_has_moved_and_else_made_again() -> None:
    for moves, chunk_id in ((False, 1), (True, 2)):
        services = Services(2 * EVENT_AGE_S_MAX, 0.0, moves=moves)

        event = await services.watcher().next_event()

        assert event is not None
        assert b'"chunk_id":%d' % chunk_id in event.body


async def test_an_event_that_takes_long_while_something_always_moves_is_not_made() -> None:
    services = Services(*[2 * EVENT_AGE_S_MAX] * 3, moves=True)

    assert await services.watcher().next_event() is None
    assert services.answered == 3


async def test_what_the_receiver_has_not_received_is_in_the_next_event() -> None:
    watcher = Services(0.0, 0.0, 0.0).watcher()
    first = await watcher.next_event()
    again = await watcher.next_event()
    assert first is not None
    assert again is not None
    watcher.record_received(again)
    then = await watcher.next_event()

    assert [first.fields["since"], again.fields["since"]] == [None, None]
    assert then is not None
    assert then.fields["since"] == again.number
