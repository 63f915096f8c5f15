"""Whether a text that is being written may still be shown: what is read, and what ends it."""

import asyncio
import math
import time
from typing import Any, cast

import pytest

from cache.errors import ChangeFeedUnavailable
from cache.lookup import ServedAnswer
from cache.protocol import Revisions
from gateway.auth.authenticated_request import AuthenticatedRequest
from gateway.extensions.answers.revalidation import Revalidation
from gateway.problems import Problem
from gateway.search.pipeline import AnsweredSearch
from gateway.search.schemas.search_schemas import SearchBody
from gateway.search.search_request import SearchRequest
from index.errors import DatabaseUnavailable
from index.invalidation.changes import ChangeSet
from index.model.query import Query
from index.model.scope import Scope
from index.tenants.principals import Principal

pytestmark = pytest.mark.anyio

PRINCIPAL = Principal(b"digest", "key", "acme", "ana", (), ("reader",), None, "h", 1)
HIT = {"chunk_id": 11}
DOCUMENT_KEY = 3  # of the hit


def changes(**fields: Any) -> ChangeSet:
    nothing: frozenset[int] = frozenset()
    values = {
        "history": "h",
        "partition": "acme",
        "revision": 9,
        "outdated": nothing,
        "repositioned": nothing,
        "documents": nothing,
        "changed_chunks": (),
        "languages": frozenset(),
        "vocabulary_size": 0,
        "space": None,
    }
    return ChangeSet(**{**values, **fields})


class Tenant:
    """What is read of a tenant. revisions: of now. log: its changes. asked: of the log."""

    def __init__(self, log: ChangeSet | Exception | None = None, revision: int = 9) -> None:
        self.principal = PRINCIPAL
        self.revisions = Revisions("h", {"acme": revision})
        self.min_revision = None
        self.asked: list[int] = []
        self.is_away = False
        self._log = log

    @property
    def services(self) -> "Tenant":
        """All of them: `search` with the documents of its `stores`, and `feed`."""
        return self

    search = stores = visible_documents = feed = services

    async def authenticate(self, *_: object) -> AuthenticatedRequest:
        if self.is_away:
            await asyncio.get_running_loop().create_future()
        return AuthenticatedRequest(self.principal, self.revisions, self.revisions)

    def request_of(self, principal: Principal, body: SearchBody) -> SearchRequest:
        scope = Scope("acme", principal.groups, (), "user:ana", public=False)
        key = ",".join(principal.groups)
        return SearchRequest(principal, body, scope, Query(text="leave"), "e", b"", key, "")

    async def changes_after(
        self, _tenant: str, _partition: str, revision: int, _required: Revisions
    ) -> ChangeSet | None:
        self.asked.append(revision)
        if isinstance(self._log, Exception):
            raise self._log
        return self._log

    async def openable(self, *_: object, chunk_ids: Any) -> list[int]:
        assert chunk_ids == [HIT["chunk_id"]]
        return [DOCUMENT_KEY]

    def revalidation(
        self, confirmed_at_s: float = -math.inf, check_s_max: float = 60.0
    ) -> Revalidation:
        request = self.request_of(PRINCIPAL, SearchBody(query="leave"))
        served = ServedAnswer(b"", Revisions("h", {"acme": 7}), "miss")
        fake = cast("Any", self)
        return Revalidation(
            fake,
            AnsweredSearch(request, served, b""),
            [HIT],
            confirmed_at_s,
            check_s_max=check_s_max,
        )


async def test_while_nothing_moves_no_change_is_read() -> None:
    tenant = Tenant(revision=7)

    await tenant.revalidation().require_valid()

    assert tenant.asked == []


async def test_what_was_confirmed_a_moment_ago_is_not_read_again() -> None:
    tenant = Tenant()
    tenant.is_away = True

    await tenant.revalidation(confirmed_at_s=time.monotonic() + 60).require_valid()


async def test_changes_of_other_documents_are_read_once() -> None:
    tenant = Tenant(changes(outdated=frozenset({12}), documents=frozenset({4})))
    revalidation = tenant.revalidation()

    await revalidation.confirm()
    await revalidation.confirm()
    tenant.revisions = Revisions("h", {"acme": 10})
    await revalidation.confirm()

    assert tenant.asked == [7, 9]


@pytest.mark.parametrize(
    "log",
    [
        changes(outdated=frozenset({11})),
        changes(documents=frozenset({DOCUMENT_KEY})),
        changes(history="another"),
        None,
    ],
    ids=["chunk", "document", "history", "too many"],
)
async def test_a_change_that_concerns_a_hit_or_cannot_be_told_ends_the_text(
    log: ChangeSet | None,
) -> None:
    with pytest.raises(Problem) as ended:
        await Tenant(log).revalidation().confirm()

    assert (ended.value.status, ended.value.kind) == (409, "answer-outdated")


async def test_other_grants_end_the_text_and_a_key_that_was_only_read_again_does_not() -> None:
    tenant = Tenant(revision=7)
    revalidation = tenant.revalidation()
    tenant.principal = Principal(b"digest", "key", "acme", "ana", (), ("reader",), None, "h", 2)
    await revalidation.confirm()
    tenant.principal = Principal(b"digest", "key", "acme", "ana", ("a",), ("reader",), None, "h", 3)

    with pytest.raises(Problem) as ended:
        await revalidation.confirm()

    assert ended.value.kind == "answer-outdated"


async def test_a_confirmation_that_takes_too_long_ends_the_text() -> None:
    tenant = Tenant()
    tenant.is_away = True

    with pytest.raises(TimeoutError):
        await tenant.revalidation(check_s_max=0.01).confirm()


async def test_a_change_log_that_cannot_be_read_ends_the_text() -> None:
    with pytest.raises(DatabaseUnavailable):
        await Tenant(ChangeFeedUnavailable()).revalidation().confirm()
