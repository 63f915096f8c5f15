"""What a request asks for, and what its answer states."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cache.protocol import Revisions
from gateway.auth import freshness
from gateway.auth.freshness import Consistency, DatedRevisions, Freshness, MinRevision
from gateway.problems.problems import Problem

HERE = Revisions("a1", {"acme": 12, "public": 4})
NUMBERS = st.integers(0, 10**18 - 1)


@given(NUMBERS, st.none() | NUMBERS)
def test_a_revision_of_an_answer_is_a_revision_to_ask_for(number: int, public: int | None) -> None:
    partitions = {"acme": number} | ({} if public is None else {"public": public})
    header = freshness.revision_header(Revisions("a1", partitions), "acme")

    parsed = freshness.parse_min_revision(header)

    assert parsed == MinRevision(number, public, freshness.digest_of_history("acme", "a1"))
    assert parsed.is_reached("acme", Revisions("a1", {"acme": number, "public": public or 0}))


def test_a_person_may_name_the_numbers_alone() -> None:
    assert freshness.parse_min_revision(None) is None
    assert freshness.parse_min_revision(b"12") == MinRevision(12)
    assert freshness.parse_min_revision(b"12;public=4") == MinRevision(12, 4)
    assert freshness.parse_min_revision(b"0;of=0a1b2c3d") == MinRevision(0, None, "0a1b2c3d")


FORMLESS = ["", "x", "-1", "1.5", "012", "9" * 19, "1,2", "1\xb2", "1\n", "1;", "1; public=4"]
FORMLESS += ["1;public=", "1;other=3", "1;of=12", "1;of=0A1B2C3D", "1;of=0a1b2c3d;public=4"]


@pytest.mark.parametrize("header", FORMLESS)
def test_what_no_answer_says_is_refused_by_the_name_of_the_header(header: str) -> None:
    with pytest.raises(Problem) as refused:
        freshness.parse_min_revision(header.encode("latin-1"))

    assert refused.value.status == 422
    assert [error.field for error in refused.value.errors] == ["Nearhit-Min-Revision"]


@pytest.mark.parametrize(
    ("asked", "is_reached"),
    [
        (MinRevision(12, 4), True),
        (MinRevision(12), True),
        (MinRevision(13), False),
        (MinRevision(12, 5), False),
        (MinRevision(1, 0, freshness.digest_of_history("acme", "a1")), True),
        (MinRevision(1, 0, freshness.digest_of_history("acme", "b2")), False),
        (MinRevision(1, 0, freshness.digest_of_history("globex", "a1")), False),
    ],
)
def test_a_revision_is_reached_in_its_own_history_alone(
    asked: MinRevision, *, is_reached: bool
) -> None:
    assert asked.is_reached("acme", HERE) is is_reached
    if is_reached:
        asked.require_reached("acme", HERE)
        return
    with pytest.raises(Problem) as refused:
        asked.require_reached("acme", HERE)
    assert (refused.value.status, refused.value.kind) == (409, "revision-unknown")


def test_a_refusal_says_whether_the_tenant_the_history_or_the_number_is_another() -> None:
    details = []
    for of in (None, ("globex", "a1"), ("acme", "b2")):
        digest = None if of is None else freshness.digest_of_history(*of)
        with pytest.raises(Problem) as refused:
            MinRevision(99, None, digest).require_reached("acme", HERE)
        details.append(refused.value.detail)

    assert "not reached" in details[0]
    assert "another tenant" in details[1]
    assert "another history" in details[2]


def test_tenants_whose_digests_begin_alike_have_different_ones() -> None:
    digest = freshness.digest_of_history("acme", "a1")
    others = (freshness.digest_of_history(f"tenant-{number}", "a1") for number in range(10_000))

    alike = [other for other in others if other[:2] == digest[:2]]

    assert alike
    assert digest not in alike


@pytest.mark.parametrize(
    ("consistency", "max_staleness_ms", "revision", "promise"),
    [
        (None, 0, None, Freshness()),
        (None, 500, None, Freshness("bounded", 0.5)),
        (None, 0, MinRevision(1), Freshness("session", math.inf, MinRevision(1))),
        (None, 500, MinRevision(1), Freshness("bounded", 0.5, MinRevision(1))),
        ("strong", 0, MinRevision(1), Freshness("strong", 0.0, MinRevision(1))),
        ("session", 0, MinRevision(1), Freshness("session", math.inf, MinRevision(1))),
        ("bounded", 500, None, Freshness("bounded", 0.5)),
        ("strong", 500, None, None),
        ("session", 500, MinRevision(1), None),
        ("session", 0, None, None),
        ("bounded", 0, None, None),
    ],
)
def test_a_request_says_what_it_means_or_is_refused(
    consistency: Consistency | None,
    max_staleness_ms: int,
    revision: MinRevision | None,
    promise: Freshness | None,
) -> None:
    if promise is not None:
        asked = freshness.requested_freshness(consistency, max_staleness_ms, revision)
        assert asked == promise
        return
    with pytest.raises(Problem) as refused:
        freshness.requested_freshness(consistency, max_staleness_ms, revision, "searches.1.")
    assert refused.value.status == 422
    assert [error.field for error in refused.value.errors] == ["searches.1.consistency"]


def test_of_several_searches_the_strictest_counts() -> None:
    first = MinRevision(1)
    session, bounded = Freshness("session", math.inf, first), Freshness("bounded", 0.5, first)
    younger, strong = Freshness("bounded", 0.2, first), Freshness("strong", 0.0, first)

    assert freshness.strictest([bounded, younger]) == younger
    assert freshness.strictest([bounded, session]) == Freshness("session", 0.5, first)
    assert freshness.strictest([bounded, session, strong]) == strong


def test_an_answer_states_what_it_has_kept_not_what_was_asked() -> None:
    bounded, session = Freshness("bounded", 1.0), Freshness("session", math.inf, MinRevision(11))
    older = Revisions("a1", {"acme": 11, "public": 4})
    now = (DatedRevisions(HERE), DatedRevisions(older, 0.7401))
    earlier = (DatedRevisions(HERE, 0.2), DatedRevisions(older, 0.7401))

    assert freshness.kept_promise(bounded, now, HERE) == b"strong"
    assert freshness.kept_promise(bounded, now, older) == b"bounded;ms=741"
    assert freshness.kept_promise(bounded, earlier, HERE) == b"bounded;ms=200"
    assert freshness.kept_promise(session, earlier, HERE) == b"session"
    assert freshness.kept_promise(session, now, HERE) == b"strong"
    # Of a search that sees no public documents.
    assert freshness.kept_promise(bounded, now, Revisions("a1", {"acme": 12})) == b"strong"


def test_several_writes_are_contained_from_the_latest_revision_of_each_partition_on() -> None:
    writes = [
        Revisions("a1", {"acme": 3, "public": 8}),
        Revisions("a1", {"acme": 5}),
        Revisions("a1", {"acme": 4}),
    ]

    assert freshness.latest_revisions(writes) == Revisions("a1", {"acme": 5, "public": 8})
    assert freshness.latest_revisions([*writes, Revisions("b2", {"acme": 1})]) == Revisions(
        "b2", {"acme": 1}
    )
    assert freshness.latest_revisions([]) is None
