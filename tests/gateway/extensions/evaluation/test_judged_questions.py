"""Files of questions, and questions that are made of headings."""

from pathlib import Path

import pytest

from common.command_errors import CommandError
from gateway.extensions.evaluation import judged_questions
from gateway.extensions.evaluation.judged_questions import QUESTIONS_MAX

HANDBOOK = """# Leave

Everybody has 25 days of annual leave each year.

## Overview
Short.

## Sick leave ##

- Send a message to your manager before nine on the first day, or ask someone to do it for you.
"""


def test_a_file_has_a_question_a_line(tmp_path: Path) -> None:
    file = tmp_path / "questions.jsonl"
    file.write_text(
        '{"question": " Who? ", "documents": ["a"]}\n\n{"question": "?", "passage": "x"}'
    )

    who, other = judged_questions.read(file)

    assert (who.question, who.documents, who.passage) == ("Who?", ("a",), None)
    assert (other.documents, other.passage) == ((), "x")
    file.write_bytes(b"".join(judged_questions.written([who, other])))
    assert judged_questions.read(file) == [who, other]


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ("", "must have 1 to 10,000 questions"),
        ('{"question": "Who?"}', "line 1: give documents, a passage, or both"),
        ('\n{"question": "", "passage": "x"}', "line 2: question: "),
        ('{"question": "Who?", "document": "a"}', "line 1: document: unknown field"),
        ("[1]", "line 1: "),
        ('{"question": "\x00", "passage": "x"}', "line 1: Invalid JSON"),
    ],
)
def test_a_file_that_is_wrong_is_refused_with_its_line(
    tmp_path: Path, content: str, reason: str
) -> None:
    file = tmp_path / "questions.jsonl"
    file.write_text(content)

    with pytest.raises(CommandError, match=reason):
        judged_questions.read(file)


def test_a_file_may_begin_with_a_byte_order_mark(tmp_path: Path) -> None:
    file = tmp_path / "questions.jsonl"
    file.write_text('{"question": "Who?", "passage": "x"}', encoding="utf-8-sig")

    assert [each.question for each in judged_questions.read(file)] == ["Who?"]


def test_a_file_is_read_no_further_than_its_limits(tmp_path: Path) -> None:
    file = tmp_path / "questions"
    question = b'{"question":"How long?","documents":["leave"]}\n'
    for content, reason in (
        (question * (QUESTIONS_MAX + 1) + b"no JSON", "must have 1 to 10,000 questions"),
        (question + b'{"question":"' + b"a" * 2**21 + b'"}\n', "line 2"),
    ):
        file.write_bytes(content)
        with pytest.raises(CommandError, match=reason):
            judged_questions.read(file)


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match=f"can't read {tmp_path}: Is a directory"):
        judged_questions.read(tmp_path)


def test_headings_become_questions_that_the_beginning_of_their_section_answers() -> None:
    leave, sick = judged_questions.of_sections(judged_questions.sections("leave", HANDBOOK), 10)

    assert (leave.question, leave.documents) == ("Leave", ("leave",))
    assert leave.passage == "Everybody has 25 days of annual leave each year."
    assert sick.question == "Sick leave"
    assert sick.passage is not None
    assert HANDBOOK.index(sick.passage) > HANDBOOK.index("Sick leave")
    assert len(sick.passage) <= 80
    assert not sick.passage.endswith(" ")


@pytest.mark.parametrize(
    ("line", "asked"),
    [
        ("No heading", []),
        ("# Notes on C#", ["Notes on C#"]),
        ("# Leave  ##  ", ["Leave"]),
        ("# \u00a0", []),
        ("# ##", []),
        ("#" * 5 + " Deep", []),
        ("# " + "a" * 2_000, ["a" * 2_000]),
        ("# " + "a" * 2_001, []),
        ("# a" + " " * 200_000 + "b", []),  # in linear time
        ("# " + "#" * 200_000 + "b", []),
    ],
)
def test_a_heading_that_a_search_may_ask_becomes_a_question(line: str, asked: list[str]) -> None:
    text = f"{line}\n\nEverybody has 25 days of annual leave each year.\n"

    made = judged_questions.of_sections(judged_questions.sections("leave", text), 10)

    assert [each.question for each in made] == asked


def test_a_heading_that_several_sections_have_asks_for_none_of_them() -> None:
    twice = [*judged_questions.sections("a", HANDBOOK), *judged_questions.sections("b", HANDBOOK)]

    assert judged_questions.of_sections(twice, 10) == []


def test_a_text_without_headings_makes_no_question() -> None:
    assert [*judged_questions.sections("note", "Everybody has 25 days of leave.")] == []


def test_made_questions_are_right_for_the_section_and_no_other() -> None:
    leave, _ = judged_questions.of_sections(judged_questions.sections("leave", HANDBOOK), 10)

    assert leave.is_answered_by({"document_id": "leave", "text": HANDBOOK})
    assert not leave.is_answered_by({"document_id": "leave", "text": "## Sick leave"})
    assert not leave.is_answered_by({"document_id": "other", "text": HANDBOOK})


def test_a_passage_is_found_in_either_normal_form() -> None:
    asked = judged_questions.JudgedQuestion(question="?", passage="Cafe\u0301")

    assert asked.is_answered_by({"document_id": "a", "text": "the caf\u00e9 is open"})
