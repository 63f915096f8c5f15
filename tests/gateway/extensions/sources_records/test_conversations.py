"""Conversations in JSON Lines: a document a line, cut by its messages."""

import json
from pathlib import Path
from typing import Any

import pytest

from gateway.extensions._sources.bounded.reader_request import ReaderRequest
from gateway.extensions._sources.source import Defaults, Item, RefusedItem
from gateway.extensions.sources_records import conversations
from gateway.extensions.sources_records.conversations import LINE_BYTES_MAX
from index.model.document import Document
from ingest.chunkers.registry import chunks
from tests.gateway.extensions._sources.files import write


def talk(**fields: Any) -> str:
    return json.dumps({"messages": [{"author": "ana", "text": "Hello."}], **fields})


def read(path: Path, *lines: str | bytes) -> list[Item]:
    content = b"\n".join(line.encode() if isinstance(line, str) else line for line in lines)
    return items_of(write(path / "talks.jsonl", content))


def items_of(file: Path) -> list[Item]:
    request = ReaderRequest(file, Defaults(readers=("tenant",)), "talks")
    return list(conversations.documents(request))


def documents(items: list[Item]) -> list[Document]:
    return [item for item in items if isinstance(item, Document)]


def refused(items: list[Item]) -> list[tuple[str, str]]:
    return [(item.path, item.reason) for item in items if isinstance(item, RefusedItem)]


def test_a_line_becomes_a_document_of_its_messages(tmp_path: Path) -> None:
    messages = [
        {"author": "ana", "text": "Who has\n\nthe key?", "time": "2026-11-21T10:00:00Z"},
        {"role": "assistant", "content": "Rui has."},
        {"text": "Thanks."},
        {"author": "ana", "text": None},
    ]

    (document,) = documents(
        read(tmp_path, talk(id="k", messages=messages, tags=["keys"], readers=["user:ana"]))
    )

    assert document.text == (
        "**ana** 2026-11-21T10:00:00+00:00: Who has\nthe key?\n\n**assistant**: Rui has.\n\nThanks."
    )
    assert (document.document_id, document.title) == ("talks/k", "Who has the key?")
    assert (document.tags, document.readers, document.chunker) == (
        ("keys",),
        ("user:ana",),
        "messages:10",
    )


def test_its_chunks_are_windows_of_ten_messages(tmp_path: Path) -> None:
    messages = [{"author": "ana", "text": f"Number {number}."} for number in range(25)]

    (document,) = documents(read(tmp_path, talk(messages=messages)))

    found = chunks(document.text, document.chunker)
    assert [chunk.text.count("**ana**") for chunk in found] == [10, 10, 5]


def test_a_conversation_without_an_id_is_known_by_its_line(tmp_path: Path) -> None:
    found = documents(read(tmp_path, talk(), "", talk(title="Keys")))

    assert [(each.document_id, each.title) for each in found] == [
        ("talks/1", "Hello."),
        ("talks/3", "Keys"),
    ]


def test_a_bad_line_is_refused_and_the_rest_read(tmp_path: Path) -> None:
    items = read(
        tmp_path,
        b"\xef\xbb\xbf" + talk(id=1).encode(),
        "{",
        talk(id=3, messages=[]),
        talk(id=4, reader="user:ana"),
        talk(id=1),
        b'{"messages": [{"text": "caf\xe9"}]}',
        b'{"messages": [{"text": "' + b"x" * LINE_BYTES_MAX + b'"}]}',
        talk(id=8, messages=[{"text": ""}]),
        talk(id=9),
    )

    assert [each.document_id for each in documents(items)][-1] == "talks/9"
    reasons = dict(refused(items))
    assert list(reasons)[:6] == [f"talks.jsonl, line {number}" for number in range(2, 8)]
    assert [reason.partition(":")[0] for reason in reasons.values()][:6] == [
        "Invalid JSON",
        "messages",
        "reader",
        "an earlier line also has the id '1'",
        "Invalid JSON",
        "over 8,388,608 bytes",
    ]


@pytest.mark.parametrize("name", ["nowhere.jsonl", "."])
def test_a_file_that_is_none_is_refused(tmp_path: Path, name: str) -> None:
    items = items_of(tmp_path / name)

    assert len(refused(items)) == len(items) == 1
