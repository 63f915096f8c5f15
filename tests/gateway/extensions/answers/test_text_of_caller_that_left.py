"""A caller that has left gets no more pieces of a text that others wait for."""

import asyncio
from typing import Any, cast

import pytest

from cache.answers import Answers
from cache.lookup import CacheLookup, ComputedAnswer, ServedAnswer
from cache.protocol import Revisions
from cache.singleflight import Singleflight
from gateway.extensions.answers.text_cache import GeneratedText, Material, OnText, TextCache
from gateway.search.pipeline import AnsweredSearch
from gateway.search.schemas.search_schemas import SearchBody
from gateway.search.search_request import SearchRequest
from index.errors import DatabaseUnavailable
from index.model.query import Query
from index.model.scope import Scope
from index.search.searcher import Searcher
from index.tenants.principals import Principal

pytestmark = pytest.mark.anyio

PRINCIPAL = Principal(b"digest", "key", "acme", "ana", (), ("reader",), None, "a1", 0)
REVISIONS = Revisions("a1", {"acme": 7})


class Flights:
    """Answers that are stored nowhere, and computed once for concurrent callers."""

    def __init__(self) -> None:
        self._flights = Singleflight[ComputedAnswer]()

    async def get_or_compute(
        self, lookup: CacheLookup, revisions: Revisions, compute: Any
    ) -> ServedAnswer:
        computed = await self._flights.do(lookup.key, compute)
        return ServedAnswer(computed.body, revisions, "miss")


class NoDatabase:
    async def search(self, *_: Any, **__: Any) -> Any:
        raise DatabaseUnavailable("it is away")


async def test_a_piece_for_a_caller_that_left_does_not_end_the_text_of_another() -> None:
    texts = TextCache(cast("Answers", Flights()), cast("Searcher", NoDatabase()))
    has_begun, left = asyncio.Event(), asyncio.Event()
    sent: dict[str, list[str]] = {"leaving": [], "staying": []}

    async def generate(on_text: OnText) -> str:
        await on_text("25 ")
        has_begun.set()
        await left.wait()
        await on_text("days.")
        return "stop"

    async def answer(caller: str) -> GeneratedText:
        async def on_text(piece: str) -> None:
            if left.is_set() and caller == "leaving":
                raise RuntimeError("the response has ended")
            sent[caller].append(piece)

        material = Material("How much leave?", (), ())
        return await texts.get_or_generate(
            answered_search(), material, "model", generate, on_text, is_new=False
        )

    leaving = asyncio.create_task(answer("leaving"))
    await has_begun.wait()
    staying = asyncio.create_task(answer("staying"))
    await asyncio.sleep(0)  # it joins the computation
    leaving.cancel()
    await asyncio.wait([leaving])
    left.set()
    text = await staying

    assert text == GeneratedText("25 days.", "stop", cached=True)
    assert sent == {"leaving": ["25 "], "staying": ["25 days."]}


def answered_search() -> AnsweredSearch:
    scope = Scope("acme", ("tenant",), (), "user:ana", public=False)
    body = SearchBody(query="leave")
    request = SearchRequest(PRINCIPAL, body, scope, Query(text="leave"), "e", b"", "key")
    return AnsweredSearch(request, ServedAnswer(b"{}", REVISIONS, "miss"), b"")
