from collections import Counter

import pytest

from loadtests.bench_cache import questions
from loadtests.workload.agents import BEGINNINGS

LEAVE = """---
title: Leave
---
# How to ask for [annual leave](/leave/)

Colleagues submit the **absence form** two weeks before the holiday starts.
"""
TRAINS = """## Booking trains

The travel office books sleeper cabins to Lisbon, on request.
"""
TEXTS = [LEAVE, TRAINS]


def words_of(texts: list[str]) -> set[str]:
    return {word.strip(".,#*[]()").lower() for text in texts for word in text.split()}


def test_equal_seeds_make_equal_questions_and_others_make_others() -> None:
    assert questions.make(TEXTS, 10, 1) == questions.make(TEXTS, 10, 1)
    assert questions.make(TEXTS, 10, 1) != questions.make(TEXTS, 10, 2)


def test_all_questions_differ() -> None:
    assert len(set(questions.make(TEXTS, 30, 1))) == 30


def test_texts_that_hold_too_few_questions_are_refused() -> None:
    with pytest.raises(ValueError, match="not 10"):
        questions.make(["# Leave"], 10, 1)


def test_headings_are_asked_without_their_links() -> None:
    assert "how to ask for annual leave" in questions.make(TEXTS, 30, 1)


def test_sentences_are_asked_by_their_rarest_words_in_their_order() -> None:
    common = "The travel office books cabins to Lisbon."
    made_questions = questions.make([TRAINS, common, common], 10, 1)

    rarest = ["sleeper", "request"]  # of the first text's sentence: only that one holds them
    question_words = [text.split() for text in made_questions if "sleeper" in text]
    assert question_words
    assert all([word for word in words if word in rarest] == rarest for words in question_words)
    assert not any("the" in words for words in question_words)


def test_nothing_of_the_front_matter_is_asked() -> None:
    assert not any("title" in question for question in questions.make(TEXTS, 30, 1))


def test_some_questions_begin_as_people_begin_and_some_hold_a_typo() -> None:
    text_words = words_of(TEXTS)
    made_questions = questions.make(TEXTS, 40, 1)

    assert any(question.startswith("how do i ") for question in made_questions)
    beginnings = {word for beginning in BEGINNINGS for word in beginning.split()}
    assert any(set(question.split()) - text_words - beginnings for question in made_questions)


def test_by_zipf_the_second_is_asked_half_as_often_as_the_first() -> None:
    drawn = Counter(questions.by_zipf(100, 50_000, 1))

    assert drawn[0] / drawn[1] == pytest.approx(2, rel=0.1)
    assert drawn[0] / drawn[9] == pytest.approx(10, rel=0.2)
    assert max(drawn) < 100
