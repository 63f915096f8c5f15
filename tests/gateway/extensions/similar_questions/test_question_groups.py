"""Questions at rest and in memory: what was put in is found, and nothing else."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from gateway.extensions.similar_questions import cached_question
from gateway.extensions.similar_questions.cached_question import CachedQuestion
from gateway.extensions.similar_questions.question_index import QuestionIndex

FAMILY, OTHER_FAMILY = "00" * 16, "ff" * 16
DIMENSIONS = 8


def vector(seed: int, dimensions: int = DIMENSIONS) -> NDArray[np.float16]:
    drawn = np.random.default_rng(seed).standard_normal(dimensions)
    return (drawn / np.linalg.norm(drawn)).astype(np.float16)


def asked(seed: int, family: str = FAMILY) -> CachedQuestion:
    return CachedQuestion(family, f"question {seed}?", vector(seed))


def test_a_question_comes_back_as_it_was() -> None:
    first = CachedQuestion(FAMILY, "quantos dias de férias?", vector(1))

    back = cached_question.decode(first.encode())

    assert back is not None
    assert (back.family, back.text) == (first.family, first.text)
    assert back.vector.tobytes() == first.vector.tobytes()
    assert len(CachedQuestion(FAMILY, "short", vector(1, 256)).encode()) == 3 + 16 + 512 + 5


@given(st.binary(max_size=200))
def test_bytes_that_are_no_question_are_none(noise: bytes) -> None:
    decoded = cached_question.decode(noise)

    assert decoded is None or decoded.encode() == noise


def test_a_question_of_another_format_is_none() -> None:
    record = asked(1).encode()

    assert cached_question.decode(bytes([record[0] + 1]) + record[1:]) is None
    assert cached_question.decode(record[: 3 + 16 + 5]) is None
    assert cached_question.decode(record + b"\xff") is None
    assert (
        cached_question.decode(CachedQuestion(FAMILY, "?", np.full(4, np.nan, np.float16)).encode())
        is None
    )


def test_the_nearest_of_the_family_come_first_and_no_other_family_at_all() -> None:
    families = QuestionIndex()
    for seed in range(40):
        families.add(f"key-{seed:02}", asked(seed).encode())
    families.add("stranger", CachedQuestion(OTHER_FAMILY, "question 7?", vector(7)).encode())

    found = families.nearest(FAMILY, vector(7).astype(np.float32), 5)

    key, similarity, text = found[0]
    assert (key, text) == ("key-07", "question 7?")
    assert similarity == pytest.approx(1.0, abs=2e-3)
    assert len(found) == 5
    assert sorted(found, key=lambda each: -each[1]) == found
    assert families.nearest("ab" * 16, vector(7).astype(np.float32), 5) == []


def test_equal_similarities_go_by_their_keys() -> None:
    families = QuestionIndex()
    for key in ("c", "a", "d", "b"):
        families.add(key, asked(1).encode())

    found = families.nearest(FAMILY, vector(1).astype(np.float32), 2)

    assert [key for key, _, _ in found] == ["a", "b"]


def test_a_record_that_can_not_be_read_only_takes_its_key_away() -> None:
    families = QuestionIndex()
    families.add("key", asked(1).encode())

    families.add("key", b"\x09 written by another version")

    assert len(families) == 0
    assert families.nearest(FAMILY, vector(1).astype(np.float32), 5) == []


def test_a_vector_of_another_judge_never_meets_these() -> None:
    families = QuestionIndex()
    families.add("key", asked(1).encode())

    families.add("other", CachedQuestion(FAMILY, "?", vector(1, DIMENSIONS * 2)).encode())

    assert len(families) == 1
    assert families.nearest(FAMILY, vector(1, DIMENSIONS * 2).astype(np.float32), 5) == []


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["add", "discard"]),
            st.integers(0, 12),  # key
            st.integers(0, 30),  # question
            st.sampled_from([FAMILY, OTHER_FAMILY]),
        ),
        max_size=60,
    )
)
def test_after_any_history_the_nearest_are_those_of_a_plain_search(
    history: list[tuple[str, int, int, str]],
) -> None:
    families = QuestionIndex()
    held: dict[str, CachedQuestion] = {}
    for what, key, seed, family in history:
        if what == "add":
            families.add(str(key), asked(seed, family).encode())
            held[str(key)] = asked(seed, family)
        else:
            families.discard(str(key))
            held.pop(str(key), None)

    wanted = vector(99).astype(np.float32)
    found = families.nearest(FAMILY, wanted, 4)

    plain = {
        key: float(each.vector.astype(np.float32) @ wanted)
        for key, each in held.items()
        if each.family == FAMILY
    }
    assert len(families) == len(held)
    assert [similarity for _, similarity, _ in found] == pytest.approx(
        sorted(plain.values(), reverse=True)[:4], abs=1e-5
    )
    for name, similarity, text in found:
        assert similarity == pytest.approx(plain[name], abs=1e-5)
        assert text == held[name].text
