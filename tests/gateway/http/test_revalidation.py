"""What is confirmed of a response that its caller has waited for, and what ends it."""

import asyncio
import math
import time
from dataclasses import dataclass, field, replace
from types import SimpleNamespace
from typing import Any, cast

import orjson
import pytest
from structlog.typing import EventDict

from cache.protocol import Revisions
from gateway.auth.authenticated_request import AuthenticatedRequest
from gateway.http.deadlines import Deadlines
from gateway.http.revalidation import Revalidation
from gateway.problems.problems import Problem
from gateway.recording.shown import Shown
from index.tenants.principals import Principal

pytestmark = pytest.mark.anyio

PRINCIPAL = Principal(b"digest", "key", "acme", "ana", (), ("reader",), None, "h", 1)
BEFORE = AuthenticatedRequest(PRINCIPAL, *2 * (Revisions("h", {"acme": 7}),))
LATER = Revisions("h", {"acme": 8})
HITS = [
    {"chunk_id": 11, "document_id": "tax", "tenant": "beta"},
    {"chunk_id": 12, "document_id": "leave", "relations": [{"document_id": "law"}]},
]
BODY = orjson.dumps({"hits": HITS})


@dataclass
class Request:
    """Of Ana, who has waited for it. now: as whom it is authenticated next. gone: of what it shows.

    asked: the documents and chunks that were counted.
    """

    now: AuthenticatedRequest = BEFORE
    gone: int = 0
    begun_at_s: float = -math.inf
    is_away: bool = False
    shown: Shown = field(default_factory=lambda: Shown([(PRINCIPAL, BODY)], admitted=BEFORE))
    asked: list[tuple[Any, Any]] = field(default_factory=list)

    @property
    def principal(self) -> Principal:
        return PRINCIPAL

    @property
    def http(self) -> Any:
        return SimpleNamespace(visible_documents=self, deadlines=Deadlines())

    @property
    def threads(self) -> Any:
        return self

    async def map(self, function: Any, texts: Any) -> list[Any]:
        return [*map(function, texts)]

    async def count(self, _scope: Any, _filter: Any, documents: Any, chunks: Any, **_: bool) -> int:
        self.asked.append((documents, chunks))
        return len(documents) + len(chunks) - self.gone

    async def authenticate(self, **_: Any) -> AuthenticatedRequest:
        if self.is_away:
            await asyncio.get_running_loop().create_future()
        return self.now

    def revalidation(self, check_s_max: float = 60.0, *, is_of_text: bool = False) -> Revalidation:
        return Revalidation(
            cast("Any", self),
            self.shown,
            self.begun_at_s,
            is_of_text=is_of_text,
            check_s_max=check_s_max,
        )


async def test_while_nothing_moves_no_document_is_counted() -> None:
    request = Request()

    assert await request.revalidation().is_valid()
    assert request.asked == []


async def test_what_has_just_begun_or_was_just_confirmed_is_not_confirmed() -> None:
    just_begun = Request(is_away=True, begun_at_s=time.perf_counter() + 60)

    assert await just_begun.revalidation().is_valid()


async def test_after_a_change_all_documents_that_are_shown_are_counted_once() -> None:
    request = Request(now=replace(BEFORE, revisions=LATER))
    request.shown.documents.append((PRINCIPAL, ["form", "urn:nearhit:public:beta:fee"]))
    request.shown.chunks.append((PRINCIPAL, [13]))
    revalidation = request.revalidation()

    assert await revalidation.is_valid_now()
    assert await revalidation.is_valid_now()

    own, others = ("form", "law", "leave"), ("fee", "tax")
    documents = [*(("acme", each) for each in own), *(("beta", each) for each in others)]
    assert request.asked == [(documents, [13])]


async def test_of_a_text_each_chunk_is_counted_too() -> None:
    request = Request(now=replace(BEFORE, revisions=LATER))

    await request.revalidation(is_of_text=True).require_valid()

    assert [chunks for _, chunks in request.asked] == [[11, 12]]


async def test_what_shows_something_that_is_gone_is_not_valid() -> None:
    request = Request(now=replace(BEFORE, revisions=LATER), gone=1)

    assert not await request.revalidation().is_valid()
    with pytest.raises(Problem) as ended:
        await request.revalidation().require_valid(now=True)

    assert (ended.value.status, ended.value.kind) == (409, "answer-outdated")


@pytest.mark.parametrize(
    "other",
    [{"groups": ("a",)}, {"scopes": ("public",)}, {"roles": ("admin",)}, {"history": "restored"}],
    ids=str,
)
@pytest.mark.parametrize("shows_something", [True, False])
async def test_what_was_read_with_other_rights_is_not_valid(
    other: dict[str, Any], *, shows_something: bool
) -> None:
    request = Request(now=replace(BEFORE, principal=replace(PRINCIPAL, **other)))
    if not shows_something:
        request.shown.answers.clear()

    assert not await request.revalidation().is_valid()


async def test_what_was_read_as_the_caller_is_now_is_valid() -> None:
    now = replace(PRINCIPAL, groups=("a",), access_revision=2)
    request = Request(now=replace(BEFORE, principal=now))
    request.shown.answers[:] = [(now, BODY)]

    assert await request.revalidation().is_valid()


async def test_a_caller_that_was_only_read_again_keeps_its_response() -> None:
    read_again = replace(PRINCIPAL, access_revision=2)

    assert await Request(now=replace(BEFORE, principal=read_again)).revalidation().is_valid()


async def test_what_may_be_older_is_not_compared_with_what_is_stored_now() -> None:
    older = replace(BEFORE, revisions=LATER, age_s=1.0)

    assert await Request(now=older, gone=1).revalidation().is_valid()


async def test_a_confirmation_that_takes_too_long_ends_the_response_and_is_logged(
    logs: list[EventDict],
) -> None:
    with pytest.raises(TimeoutError):
        await Request(is_away=True).revalidation(check_s_max=0.01).is_valid()

    (line,) = logs
    assert line["event"] == "deadline"
    assert any("Request.authenticate" in place for place in line["waits"])
