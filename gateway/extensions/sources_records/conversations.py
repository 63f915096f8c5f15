"""The source of conversations: JSON Lines, one conversation a line, chunked by messages."""

import re
from collections.abc import Iterator
from datetime import datetime
from functools import partial
from typing import Any

from pydantic import AliasChoices, BaseModel, ConfigDict, Field

from gateway.extensions._records import json_lines
from gateway.extensions._sources import confined
from gateway.extensions._sources.bounded.reader_request import ReaderRequest
from gateway.extensions._sources.source import Item, RefusedItem, document, each_once, reason
from index.model.document import Document, normalise
from index.model.document_limits import TITLE_CHARACTERS_MAX

CHUNKER = "messages:10"
LINE_BYTES_MAX = 8 * 2**20  # starting values, not measured
FILE_BYTES_MAX = 2**30
MESSAGES_MAX = 50_000

_BLANK_LINES = re.compile(r"\n\s*\n")


class Message(BaseModel):
    model_config = ConfigDict(extra="ignore")

    author: str = Field("", validation_alias=AliasChoices("author", "role", "name", "user", "from"))
    text: str | None = Field(
        None, validation_alias=AliasChoices("text", "content", "message", "body")
    )
    time: datetime | str | None = Field(
        None, validation_alias=AliasChoices("time", "at", "timestamp", "date")
    )


class Conversation(BaseModel):
    """A line of the file; owner, readers, language and tags as in front matter."""

    model_config = ConfigDict(extra="forbid")

    id: str | int | None = None
    title: str | None = None
    messages: list[Message] = Field(min_length=1, max_length=MESSAGES_MAX)
    language: str | None = None
    tags: tuple[str, ...] | None = None
    owner: str | None = None
    readers: tuple[str, ...] | None = None
    uri: str | None = None
    metadata: dict[str, Any] | None = None


def documents(request: ReaderRequest) -> Iterator[Item]:
    """The conversations of the lines {"id", "title", "messages": [{"author", "text", "time"}]}.

    `role` and `content` also name the author and the text. A conversation without an id is
    identified by its line's number, so new lines must be appended. Does blocking I/O; raises
    nothing.
    """
    name = request.path.name
    try:
        with confined.open_file(request.path, FILE_BYTES_MAX, request.within) as file:
            lines = json_lines.lines(file, LINE_BYTES_MAX)
            placed = ((f"{name}, line {number:,}", (number, line)) for number, line in lines)
            repeated = "an earlier line also has the id {}"
            yield from each_once(request.name, placed, partial(_document, request), repeated)
    except (OSError, ValueError) as error:
        yield RefusedItem(name, reason(error), holds="")


def _document(request: ReaderRequest, numbered: tuple[int, bytes]) -> Document:
    number, line = numbered
    if len(line) > LINE_BYTES_MAX:
        raise ValueError(f"over {LINE_BYTES_MAX:,} bytes")
    conversation = Conversation.model_validate_json(line)
    text = "\n\n".join(filter(None, map(_message_text, conversation.messages)))
    fields = conversation.model_dump(
        include={"language", "tags", "owner", "readers", "uri", "metadata", "title"},
        exclude_none=True,
    )
    key = number if conversation.id is None else conversation.id
    first_message = conversation.messages[0].text or ""
    title = " ".join(first_message.split())[:TITLE_CHARACTERS_MAX]
    name, defaults = request.name, request.defaults
    own = {"document_id": f"{name}/{key}", "source": name, "text": normalise(text)}
    return document(defaults.fields(CHUNKER) | {"title": title, "uri": ""} | fields | own)


def _message_text(message: Message) -> str:
    """The message without blank lines, which separate messages."""
    text = _BLANK_LINES.sub("\n", (message.text or "").strip())
    time = message.time.isoformat() if isinstance(message.time, datetime) else message.time
    prefix = " ".join(filter(None, [f"**{message.author}**" if message.author else "", time]))
    return f"{prefix}: {text}" if prefix and text else text
