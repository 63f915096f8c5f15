"""The reverse search against its rules, read one by one for each answer."""

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from index.invalidation.answer_dependencies import AnswerDependencies
from index.invalidation.changes import ChangedChunk, ChangeSet
from index.invalidation.reverse_search import ReverseIndex
from index.model.conditions.condition import Table
from index.model.query import Filter, Query
from index.model.scope import SCOPE_NAMES, resolve
from tests.index.support import filters, worlds
from tests.sampling import examples

pytestmark = pytest.mark.anyio

HOME, OTHERS = "acme", ("beta", "gamma")
SPACES = ("one", "two")
SLACK = 1e-3  # more than any rounding of what is compared here


def half(numbers: Sequence[float]) -> NDArray[np.float32]:
    return np.array(numbers, np.float16).astype(np.float32)


few = st.sets(st.integers(0, 3), max_size=2).map(frozenset)
sides = st.sampled_from([-0.5, 0.0, 0.1, 0.7, 1.0])
vectors = st.tuples(sides, sides, sides).filter(any).map(half)
weights = st.dictionaries(st.integers(0, 5), st.sampled_from([0.5, 1.0, 2.0]), max_size=2)
floors = st.sampled_from([None, math.inf, 0.1, 0.5, 0.9, 1.0, 2.0, 4.0])
moments = st.integers(0, 2).map(worlds.updated_at)
languages = st.frozensets(st.sampled_from(["en", "pt", "und"]), max_size=2)
asked_filters = st.just(Filter()) | filters.random_filters(
    updated_after=moments, updated_before=moments
)
scopes = st.builds(
    resolve,
    st.just(HOME),
    st.sampled_from(["ana", "ben"]),
    st.sampled_from([[], ["sales"]]),
    st.sets(st.sampled_from(SCOPE_NAMES)),
)
dependences = st.builds(
    AnswerDependencies,
    scope=scopes,
    query=st.builds(Query, text=st.just("?"), filter=asked_filters),
    space=st.sampled_from(SPACES),
    languages=languages,
    vocabulary_size=st.none() | st.integers(0, 1),
    dense=vectors,
    lexical=weights,
    alpha=st.sampled_from([0.0, 0.25, 0.5, 1.0]),
    fused_floor=st.just(math.inf) | st.floats(0, 1),
    dense_floor=floors,
    lexical_floor=floors,
    candidates=few.map(tuple),
    examined=few.map(tuple),
    documents=few.map(tuple),
    exact=st.sampled_from([True, True, True, False]),
    reads_all_documents=st.sampled_from([False, False, True]),
)
arrivals = st.builds(
    ChangedChunk,
    chunk_id=st.integers(10, 20),
    document_key=st.integers(0, 9),
    tenant=st.sampled_from([HOME, *OTHERS]),
    document_id=st.sampled_from(["d1", "d2"]),
    source=st.sampled_from(["wiki", "mail"]),
    language=st.sampled_from(["en", "pt"]),
    tags=st.sampled_from([(), ("red",), ("blue",)]),
    metadata=st.sampled_from([{}, {"team": "sales"}, {"valid_to": "2025-05-31"}]),
    owner=st.sampled_from([None, "ana", "ben"]),
    readers=st.sets(st.sampled_from(["user:ana", "group:sales", "tenant", "public"])).map(tuple),
    updated_at=moments,
    space=st.sampled_from([*SPACES, None]),
    dense=vectors | st.just(half([0, 0, 0])) | st.just(half([0.6, 0.8])),
    lexical=weights,
)
news = st.builds(
    ChangeSet,
    partition=st.sampled_from([HOME, "public"]),
    revision=st.just(7),
    outdated=st.just(frozenset[int]()) | few,
    repositioned=few,
    documents=few,
    changed_chunks=st.lists(arrivals, max_size=3),
    languages=languages,
    vocabulary_size=st.integers(0, 1),
    space=st.sampled_from([*SPACES, None]),
)


@dataclass(frozen=True, slots=True)
class ReverseRules:
    """The contract, for one answer and one piece of news. slack: how far rounding may reach."""

    entry: AnswerDependencies
    news: ChangeSet
    slack: float

    @property
    def at_home(self) -> bool:
        return self.news.partition == HOME

    @property
    def ends(self) -> bool:
        entry, news = self.entry, self.news
        return (
            bool(news.outdated & {*entry.candidates, *entry.examined})
            or bool(news.repositioned & {*entry.examined})
            or bool(news.documents & {*entry.documents})
            or (
                (self.at_home or entry.scope.public)
                and (
                    self._is_put_otherwise
                    or self._is_counted_otherwise
                    or any(map(self._enters, news.changed_chunks))
                )
            )
        )

    @property
    def _is_counted_otherwise(self) -> bool:
        """A removed or changed chunk may have been of any counted document."""
        return self.entry.reads_all_documents and (
            bool(self.news.outdated or self.news.repositioned)
            or any(self._may_be_seen(each, ["documents"]) for each in self.news.changed_chunks)
        )

    @property
    def _is_put_otherwise(self) -> bool:
        entry, news = self.entry, self.news
        wanted = entry.query.filter
        is_content = bool(
            news.outdated or news.repositioned or news.documents or news.changed_chunks
        )
        return (
            (
                self.at_home
                and entry.vocabulary_size is not None
                and entry.vocabulary_size != news.vocabulary_size
            )
            or bool(news.languages - entry.languages)
            or (self.at_home and news.space is not None and news.space != entry.space)
            or (is_content and (wanted.updated_after or wanted.updated_before) is not None)
        )

    def _enters(self, arrival: ChangedChunk) -> bool:
        return self._may_be_seen(arrival, filters.TABLES) and (
            self._is_near(arrival) or self._says_it(arrival) or self._is_good(arrival)
        )

    def _may_be_seen(self, arrival: ChangedChunk, tables: Collection[Table]) -> bool:
        scope, wanted = self.entry.scope, self.entry.query.filter
        seen = (
            arrival.tenant == HOME and scope.admits(arrival.owner, arrival.readers)
            if self.at_home
            else arrival.tenant != HOME and "public" in arrival.readers
        )
        return seen and filters.meets(arrival, wanted, tables)

    def _is_near(self, arrival: ChangedChunk) -> bool:
        entry = self.entry
        if not self._is_comparable(arrival) or entry.dense_floor == math.inf:
            return False
        floor = -math.inf if entry.dense_floor is None else entry.dense_floor
        return self._similarity(arrival) >= floor - self.slack

    def _says_it(self, arrival: ChangedChunk) -> bool:
        score = self._words(arrival)
        floor = 0 if self.entry.lexical_floor is None else self.entry.lexical_floor
        return score > 0 and score >= floor - self.slack

    def _is_good(self, arrival: ChangedChunk) -> bool:
        entry = self.entry
        score = self._words(arrival)
        if self._is_comparable(arrival):
            score = entry.alpha * self._similarity(arrival) + (1 - entry.alpha) * score
        return score > -self.slack and score >= entry.fused_floor - self.slack

    def _is_comparable(self, arrival: ChangedChunk) -> bool:
        """The zero vector stands for none."""
        return bool(arrival.dense.any()) and arrival.space in {None, self.entry.space}

    def _similarity(self, arrival: ChangedChunk) -> float:
        """What can't be compared is nearer than anything."""
        one, other = self.entry.dense.astype(np.float64), arrival.dense.astype(np.float64)
        if len(one) != len(other):
            return 1e9
        return float(one @ other / math.sqrt((one @ one) * (other @ other)))

    def _words(self, arrival: ChangedChunk) -> float:
        weights = self.entry.lexical.items()
        return sum(weight * arrival.lexical.get(term, 0) for term, weight in weights)


keys = st.sampled_from(["a", "b", "c", "d"])
deeds = st.lists(st.tuples(keys, st.none() | dependences), max_size=12)


@pytest.mark.slow
@settings(max_examples=examples(600))
@given(deeds=deeds, news=news)
def test_the_doomed_are_those_that_the_rules_end_and_those_that_rounding_might(
    deeds: Sequence[tuple[str, AnswerDependencies | None]], news: ChangeSet
) -> None:
    reverse = ReverseIndex()
    held: dict[str, AnswerDependencies] = {}
    for key, dependence in deeds:
        if dependence is None:
            reverse.discard(key)
            held.pop(key, None)
        else:
            reverse.add(key, dependence.encode())
            held[key] = dependence

    doomed = reverse.invalidated(news)

    assert len(reverse) == len(held)
    assert doomed >= {key for key, entry in held.items() if ReverseRules(entry, news, -1e-12).ends}
    assert doomed <= {key for key, entry in held.items() if ReverseRules(entry, news, SLACK).ends}
    assert reverse.invalidated(news) == doomed


NONE = frozenset[int]()
NOTHING = ChangeSet("a1", HOME, 7, NONE, NONE, NONE, [], frozenset(), 0, "one")
ENTRY = AnswerDependencies(
    scope=resolve(HOME, "ana", [], SCOPE_NAMES, receives_public=True),
    query=Query("?"),
    space="one",
    languages=frozenset({"en"}),
    vocabulary_size=None,
    dense=half([1, 0, 0]),
    lexical={1: 1.0},
    alpha=0.5,
    fused_floor=math.inf,
    dense_floor=0.5,
    lexical_floor=None,
    candidates=(1, 2),
    examined=(1,),
    documents=(),
    exact=True,
)


ELSEWHERE = resolve(HOME, "ana", [], ["tenant"])
COME = {"tenant": "beta", "readers": ("public",)}


@pytest.mark.parametrize(
    ("entry", "told", "ends"),
    [
        ({}, {}, False),
        ({}, {"outdated": frozenset({2})}, True),
        ({"candidates": ()}, {"outdated": frozenset({1})}, True),
        ({}, {"outdated": frozenset({3})}, False),
        ({}, {"repositioned": frozenset({1})}, True),
        ({}, {"repositioned": frozenset({2})}, False),
        ({}, {"documents": frozenset({4})}, False),
        ({"documents": (4,)}, {"documents": frozenset({4})}, True),
        ({"documents": (4,)}, {"documents": frozenset({5})}, False),
        ({"vocabulary_size": 7}, {"vocabulary_size": 8}, True),
        ({"vocabulary_size": 7}, {"vocabulary_size": 7}, False),
        ({"vocabulary_size": 7}, {"vocabulary_size": 8, "partition": "public"}, False),
        ({"languages": frozenset({"en"})}, {"languages": frozenset({"en", "pt"})}, True),
        ({"languages": frozenset({"en", "pt"})}, {"languages": frozenset({"en"})}, False),
        (
            {"languages": frozenset({"en"})},
            {"languages": frozenset({"pt"}), "partition": "public"},
            True,
        ),
        (
            {"languages": frozenset({"en"}), "scope": ELSEWHERE},
            {"languages": frozenset({"pt"}), "partition": "public"},
            False,
        ),
        ({}, {"space": "two"}, True),
        ({}, {"space": None}, False),
        ({}, {"space": "two", "partition": "public"}, False),
        ({"exact": False}, {"outdated": frozenset({9})}, False),
        ({"query": Query("?", filter=Filter(updated_after=worlds.EPOCH))}, {}, False),
        *(
            ({"query": Query("?", filter=dated)}, {said: few_}, True)
            for dated in (Filter(updated_after=worlds.EPOCH), Filter(updated_before=worlds.EPOCH))
            for said, few_ in (
                ("outdated", frozenset({9})),
                ("repositioned", frozenset({9})),
                ("documents", frozenset({9})),
            )
        ),
        ({}, {"changed_chunks": [{"dense": half([1, 1, 0])}]}, True),
        ({}, {"changed_chunks": [{"dense": half([1, 2, 0])}]}, False),
        ({"dense_floor": None}, {"changed_chunks": [{"dense": half([-1, 0, 0])}]}, True),
        ({"dense_floor": math.inf}, {"changed_chunks": [{"dense": half([1, 0, 0])}]}, False),
        ({}, {"changed_chunks": [{"dense": half([1, 0, 0]), "space": "two"}]}, False),
        ({}, {"changed_chunks": [{"dense": half([1, 0, 0]), "space": None}]}, True),
        ({}, {"changed_chunks": [{"dense": half([0, 0, 0])}]}, False),  # no vector
        ({}, {"changed_chunks": [{"dense": half([0, 0, 0]), "lexical": {1: 0.1}}]}, True),
        ({}, {"changed_chunks": [{"dense": half([0, 1])}]}, True),
        ({}, {"changed_chunks": [{"lexical": {1: 0.1}}]}, True),
        ({}, {"changed_chunks": [{"lexical": {2: 9.0}}]}, False),
        ({"lexical_floor": 1.0}, {"changed_chunks": [{"lexical": {1: 1.0}}]}, True),
        ({"lexical_floor": 1.0}, {"changed_chunks": [{"lexical": {1: 0.9}}]}, False),
        ({"lexical_floor": math.inf}, {"changed_chunks": [{"lexical": {1: 9.0}}]}, False),
        ({}, {"changed_chunks": [{"lexical": {1: 1.0}, "readers": ()}]}, False),
        ({}, {"changed_chunks": [{"lexical": {1: 1.0}, "readers": (), "owner": "ana"}]}, True),
        ({}, {"changed_chunks": [{"lexical": {1: 1.0}, **COME}]}, False),
        ({}, {"changed_chunks": [{"lexical": {1: 1.0}, **COME}], "partition": "public"}, True),
        (
            {"scope": ELSEWHERE},
            {"changed_chunks": [{"lexical": {1: 1.0}, **COME}], "partition": "public"},
            False,
        ),
        (
            {},
            {
                "changed_chunks": [{"lexical": {1: 1.0}, **COME, "readers": ()}],
                "partition": "public",
            },
            False,
        ),
        ({"reads_all_documents": True}, {}, False),
        ({"reads_all_documents": True}, {"outdated": frozenset({9})}, True),
        ({"reads_all_documents": True}, {"repositioned": frozenset({9})}, True),
        ({"reads_all_documents": True}, {"documents": frozenset({9})}, False),
        ({"reads_all_documents": True}, {"changed_chunks": [{}]}, True),
        ({"reads_all_documents": True}, {"changed_chunks": [{"readers": ()}]}, False),
        (
            {"reads_all_documents": True, "query": Query("?", filter=Filter(kinds=("summary",)))},
            {"changed_chunks": [{}]},
            True,
        ),
        (
            {"reads_all_documents": True, "scope": ELSEWHERE},
            {"outdated": frozenset({9}), "partition": "public"},
            False,
        ),
        (
            {"query": Query("?", filter=Filter(tags_any=("red",)))},
            {"changed_chunks": [{"lexical": {1: 1.0}}, {"lexical": {1: 1.0}, "tags": ("red",)}]},
            True,
        ),
        (
            {"query": Query("?", filter=Filter(tags_any=("red",)))},
            {"changed_chunks": [{"lexical": {1: 1.0}}, {"lexical": {2: 1.0}, "tags": ("red",)}]},
            False,
        ),
    ],
)
def test_each_rule_ends_an_answer_by_itself(
    entry: dict[str, Any], told: dict[str, Any], *, ends: bool
) -> None:
    reverse = ReverseIndex()
    reverse.add("key", replace(ENTRY, **entry).encode())
    come = [an_arrival(**fields) for fields in told.get("changed_chunks", [])]

    doomed = reverse.invalidated(replace(NOTHING, **(told | {"changed_chunks": come})))

    assert doomed == ({"key"} if ends else set())


def test_what_can_not_be_read_or_compared_is_ended_by_any_news() -> None:
    reverse = ReverseIndex()
    record = ENTRY.encode()
    reverse.add("whole", record)
    reverse.add("cut", record[:-1])
    reverse.add("empty", b"")
    reverse.add("nowhere", replace(ENTRY, dense=half([])).encode())
    reverse.add("wide", replace(ENTRY, dense=half([1, 0, 0, 0])).encode())
    reverse.add("undirected", replace(ENTRY, dense=half([0, 0, 0])).encode())

    assert reverse.invalidated(NOTHING) == {"cut", "empty", "nowhere", "wide", "undirected"}
    for key in ("cut", "empty", "nowhere", "wide", "undirected"):
        reverse.discard(key)
    assert reverse.invalidated(NOTHING) == set()
    assert len(reverse) == 1


def an_arrival(**fields: Any) -> ChangedChunk:
    plain: dict[str, Any] = {
        "chunk_id": 99,
        "document_key": 9,
        "tenant": HOME,
        "document_id": "d1",
        "source": "wiki",
        "language": "en",
        "tags": (),
        "metadata": {},
        "owner": None,
        "readers": ("tenant",),
        "updated_at": worlds.EPOCH,
        "trust": None,
        "space": "one",
        "dense": half([0, 0, 1]),
        "lexical": {},
    }
    return ChangedChunk(**plain | fields)


@given(change=news, chunk_ids=few)
def test_a_text_that_was_written_from_chunks_ends_with_any_of_them_and_with_nothing_else(
    change: ChangeSet, chunk_ids: frozenset[int]
) -> None:
    index = ReverseIndex()
    scope = resolve(HOME, "ana", ["sales"], SCOPE_NAMES)
    index.add("text", AnswerDependencies.of_chunks(scope, sorted(chunk_ids)).encode())

    is_concerned = bool(change.outdated & chunk_ids)

    assert index.invalidated(change) == ({"text"} if is_concerned else set())
