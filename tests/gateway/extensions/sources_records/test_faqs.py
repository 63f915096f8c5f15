"""Frequent questions in YAML or JSON: a document a question, and one chunk each."""

import json
from pathlib import Path

import pytest

from gateway.extensions._sources.bounded.reader_request import ReaderRequest
from gateway.extensions._sources.source import Defaults, Item, RefusedItem
from gateway.extensions.sources_records import faqs
from index.model.document import Document
from ingest.chunkers.registry import chunks
from tests.gateway.extensions._sources.files import write

YAML = """
- question: How many days of leave do I get?
  answer: |
    Everybody gets 25 days.

    Unused ones are kept.
  category: leave
  keywords: vacation, holiday
  priority: 3
- {question: "May I work from home?", answer: Yes., id: home, readers: [group:staff], language: pt}
"""


def read(path: Path, content: str, name: str = "faqs.yaml") -> list[Item]:
    defaults = Defaults(readers=("tenant",), tags=("all",))
    request = ReaderRequest(write(path / name, content), defaults, "faqs")
    return list(faqs.documents(request))


def refused(items: list[Item]) -> list[tuple[str, str]]:
    return [(item.path, item.reason) for item in items if isinstance(item, RefusedItem)]


def test_a_question_becomes_a_document_that_is_one_chunk(tmp_path: Path) -> None:
    leave, home = read(tmp_path, YAML)

    assert isinstance(leave, Document)
    assert leave.title == "How many days of leave do I get?"
    assert leave.text.startswith("# How many days of leave do I get?\n\nEverybody gets 25 days.")
    assert leave.tags == ("all", "leave", "vacation", "holiday")
    assert leave.metadata == {"category": "leave", "priority": 3}
    assert (leave.chunker, len(chunks(leave.text, leave.chunker))) == ("whole", 1)
    assert isinstance(home, Document)
    assert (home.document_id, home.readers, home.language) == (
        "faqs/home",
        ("group:staff",),
        "pt",
    )


def test_keywords_are_found_since_they_stand_in_the_text(tmp_path: Path) -> None:
    leave, _ = read(tmp_path, YAML)

    assert isinstance(leave, Document)
    assert leave.text.endswith("vacation, holiday")


def test_a_new_answer_is_the_same_document(tmp_path: Path) -> None:
    before, after = (
        read(tmp_path, json.dumps([{"question": "Why?", "answer": answer}]), "faqs.json")
        for answer in ("So.", "Because.")
    )

    (one,), (other,) = before, after
    assert isinstance(one, Document)
    assert isinstance(other, Document)
    assert one.document_id == other.document_id
    assert one.text != other.text


@pytest.mark.parametrize("key", ["faqs", "questions"])
def test_the_list_may_stand_in_a_mapping(tmp_path: Path, key: str) -> None:
    said = {"version": 2, key: [{"question": "Why?", "answer": "So."}]}

    (document,) = read(tmp_path, json.dumps(said), "faqs.json")

    assert isinstance(document, Document)


def test_a_bad_question_is_refused_and_the_rest_read(tmp_path: Path) -> None:
    items = read(
        tmp_path,
        """
- {question: "One?", answer: One.}
- {question: "Two?"}
- {question: "Three?", anwser: Typo., answer: Three.}
- just text
- {question: "One?", answer: Again.}
- {question: 2024, answer: A number.}
- {question: "Six?", answer: Six., readers: everyone}
- {question: "Seven?", answer: Seven.}
""",
    )

    assert [item.title for item in items if isinstance(item, Document)] == ["One?", "Seven?"]
    found = refused(items)
    assert [path for path, _ in found] == [f"faqs.yaml, question {n}" for n in range(2, 8)]
    assert [reason.partition(":")[0] for _, reason in found] == [
        "answer",
        "anwser",
        "Input should be a valid dictionary or instance of Faq",
        "an earlier question has the same id or text",
        "question",
        "readers.0",
    ]


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("faqs.yaml", "- question: [\n", "line 2: "),
        ("faqs.yaml", "a: &a [1]\nb: *a\n", "line 2: aliases and deep nesting are not allowed"),
        ("faqs.yaml", "just text", "must be a list of questions"),
        ("faqs.yaml", "- " * 5_000 + "x", "not YAML: "),
        ("faqs.json", "[{", "unexpected end of data"),
        ("faqs.json", "[" * 100_000, "depth limit exceeded"),
        ("faqs.json", '{"other": []}', "must be a list of questions"),
    ],
)
def test_a_file_that_is_none_is_refused(
    tmp_path: Path, name: str, content: str, reason: str
) -> None:
    ((path, said),) = refused(read(tmp_path, content, name))

    assert path == name
    assert said.startswith(reason)
    assert "\n" not in said


def test_a_file_that_is_too_large_is_refused(tmp_path: Path) -> None:
    content = "[" + "1," * 20_000_000 + "1]"

    assert refused(read(tmp_path, content, "faqs.json")) == [("faqs.json", "over 33,554,432 bytes")]
