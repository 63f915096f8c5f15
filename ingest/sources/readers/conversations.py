"""The source of conversations: JSON Lines, one conversation a line, chunked by messages."""

import re
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any, BinaryIO

from pydantic import AliasChoices, BaseModel, ConfigDict, Field

from index.model.document import Document, normalise
from index.model.document_limits import TITLE_CHARACTERS_MAX
from index.model.form import composed
from ingest.sources.readers import confined, json_lines
from ingest.sources.source import Defaults, Item, RefusedItem, document, reason

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


class ConversationSource:
    """A file of lines {"id", "title", "messages": [{"author", "text", "time"}]}.

    `role` and `content` also name the author and the text. A conversation without an id is
    identified by its line's number, so new lines must be appended.

    within: the resolved folder that must contain the file; None allows any location.
    """

    def __init__(
        self,
        path: Path,
        defaults: Defaults,
        *,
        name: str | None = None,
        within: Path | None = None,
    ) -> None:
        self.name = composed(name or path.stem)
        self._path = path
        self._defaults = defaults
        self._within = within

    def documents(self) -> Iterator[Item]:
        """The conversations in the order of their lines. Does blocking I/O; raises nothing."""
        try:
            with confined.open_file(self._path, FILE_BYTES_MAX, self._within) as file:
                yield from self._items(file)
        except (OSError, ValueError) as error:
            yield RefusedItem(self._path.name, reason(error), holds="")

    def _items(self, file: BinaryIO) -> Iterator[Item]:
        document_ids: set[str] = set()
        for number, line in json_lines.lines(file, LINE_BYTES_MAX):
            path = f"{self._path.name}, line {number:,}"
            try:
                conversation = self._document(line, number)
            except ValueError as error:
                # Its stored document is unknown, so pruning keeps all of them.
                yield RefusedItem(path, reason(error), holds="")
                continue
            if conversation.document_id in document_ids:
                holds = conversation.document_id.removeprefix(f"{self.name}/")
                yield RefusedItem(path, f"an earlier line also has the id {holds!r}", holds=holds)
                continue
            document_ids.add(conversation.document_id)
            yield conversation

    def _document(self, line: bytes, number: int) -> Document:
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
        own = {"document_id": f"{self.name}/{key}", "source": self.name, "text": normalise(text)}
        return document(self._defaults.fields(CHUNKER) | {"title": title, "uri": ""} | fields | own)


def _message_text(message: Message) -> str:
    """The message without blank lines, which separate messages."""
    text = _BLANK_LINES.sub("\n", (message.text or "").strip())
    time = message.time.isoformat() if isinstance(message.time, datetime) else message.time
    prefix = " ".join(filter(None, [f"**{message.author}**" if message.author else "", time]))
    return f"{prefix}: {text}" if prefix and text else text
