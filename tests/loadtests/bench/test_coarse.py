from hypothesis import given
from hypothesis import strategies as st

from loadtests.scenarios.hit_rate import WRITE, coarse_hits, mixed

QUESTIONS = st.lists(st.integers(0, 9))


def test_a_question_asked_before_is_a_hit_until_something_is_written() -> None:
    assert coarse_hits([1, 2, 1, WRITE, 1, 1]) == 2


def test_a_write_follows_each_so_many_questions() -> None:
    assert list(mixed([1, 2, 3, 4, 5], 2)) == [1, 2, WRITE, 3, 4, WRITE, 5]


@given(QUESTIONS)
def test_without_writes_all_but_the_first_of_each_question_hit(questions: list[int]) -> None:
    assert coarse_hits(questions) == len(questions) - len(set(questions))


@given(QUESTIONS, st.integers(1, 5))
def test_a_write_never_makes_a_hit(questions: list[int], searches_a_write: int) -> None:
    assert coarse_hits(mixed(questions, searches_a_write)) <= coarse_hits(questions)
