"""Quotes other people's texts in a prompt, so that no text can end its own quotation."""

import secrets
from collections.abc import Mapping, Sequence

import orjson

from gateway.extension import SearchBody

MARK = "{{MARK}}"  # the placeholder of the mark in a prompt


def make_mark() -> str:
    """A random mark that no existing text contains."""
    return secrets.token_hex(8)


def quote(name: str, text: str, mark: str, **attributes: str | int) -> str:
    """The text between two lines that contain the mark.

    attributes: written on the first line, as JSON, which has no line breaks.
    """
    assert mark not in text, "the mark is newer than the text"
    suffix = f" {orjson.dumps(attributes).decode()}" if attributes else ""
    return f"<<<{name} {mark}{suffix}\n{text}\n{name} {mark}>>>"


def history_of(body: SearchBody) -> Sequence[Mapping[str, str]]:
    return [{"role": message.role, "content": message.content} for message in body.history]


def quote_conversation(history: Sequence[Mapping[str, str]], mark: str) -> str:
    """The messages, quoted, each as a line of JSON."""
    lines = "\n".join(orjson.dumps(message).decode() for message in history)
    return quote("CONVERSATION", lines, mark)
