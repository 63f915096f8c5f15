from collections import Counter
from random import Random

import pytest

from loadtests.workload import questions
from loadtests.workload.questions import BEGINNINGS

LEAVE = "Colleagues submit the **absence form** two weeks before the holiday starts."
TRAINS = "The travel office books sleeper cabins to Lisbon, on request."
TEXTS = [LEAVE, TRAINS]


def test_equal_seeds_make_equal_questions_and_others_make_others() -> None:
    assert questions.typed(TEXTS, 10, 1) == questions.typed(TEXTS, 10, 1)
    assert questions.typed(TEXTS, 10, 1) != questions.typed(TEXTS, 10, 2)


def test_all_questions_differ() -> None:
    assert len(set(questions.typed(TEXTS, 30, 1))) == 30


def test_texts_that_hold_too_few_questions_are_refused() -> None:
    with pytest.raises(ValueError, match="not 1"):
        questions.typed(["# Leave"], 1, 1)


def test_some_questions_begin_as_people_begin_and_some_hold_a_typo() -> None:
    text_words = {word.lower() for text in TEXTS for word in questions.words(text)}
    made_questions = questions.typed(TEXTS, 60, 1)

    assert any(question.startswith("how do i ") for question in made_questions)
    beginnings = {word for beginning in BEGINNINGS for word in beginning.split()}
    assert any(set(question.split()) - text_words - beginnings for question in made_questions)


def test_the_second_is_asked_about_half_as_often_as_the_first() -> None:
    random = Random(1)  # noqa: S311  no secret
    drawn = Counter(questions.zipf(100, random) for _ in range(50_000))

    assert drawn[0] / drawn[1] == pytest.approx(1.7, rel=0.1)
    assert drawn[0] / drawn[9] == pytest.approx(7.3, rel=0.2)
    assert max(drawn) < 100
