"""The source of conversations: JSON Lines, a conversation a line, cut by its messages."""

import re
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any, BinaryIO

from pydantic import AliasChoices, BaseModel, ConfigDict, Field

from index.model.document import TITLE_CHARACTERS_MAX, Document, normalise
from ingest.sources import confined
from ingest.sources.source import Defaults, Item, RefusedItem, document, reason

CUT = "messages:10"
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
    """What a line says; owner, readers, language and tags as in front matter."""

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

    `role` and `content` will do for author and text. Without an id a conversation is known by its
    line's number, so lines should only ever be appended.

    within: a resolved folder that the file lies in; anywhere unless given.
    """

    def __init__(
        self,
        path: Path,
        defaults: Defaults,
        *,
        name: str | None = None,
        within: Path | None = None,
    ) -> None:
        self.name = name or path.stem
        self._path = path
        self._defaults = defaults
        self._within = within

    def documents(self) -> Iterator[Item]:
        """The lines in their order. Blocks on the disk, and raises nothing."""
        try:
            with confined.open_file(self._path, FILE_BYTES_MAX, self._within) as file:
                yield from self._items(file)
        except (OSError, ValueError) as error:
            yield RefusedItem(self._path.name, reason(error), holds="")

    def _items(self, file: BinaryIO) -> Iterator[Item]:
        seen: set[str] = set()
        for number, line in _lines(file):
            place = f"{self._path.name}, line {number:,}"
            try:
                made = self._document(line, number)
            except ValueError as error:
                # Which of the stored conversations it was can't be told, so all of them stay.
                yield RefusedItem(place, reason(error), holds="")
                continue
            if made.document_id in seen:
                holds = made.document_id.removeprefix(f"{self.name}/")
                yield RefusedItem(place, f"an earlier line has the id {holds!r} too", holds=holds)
                continue
            seen.add(made.document_id)
            yield made

    def _document(self, line: bytes, number: int) -> Document:
        if len(line) > LINE_BYTES_MAX:
            raise ValueError(f"over {LINE_BYTES_MAX:,} bytes")
        said = Conversation.model_validate_json(line)
        text = "\n\n".join(filter(None, map(_spoken, said.messages)))
        fields = said.model_dump(
            include={"language", "tags", "owner", "readers", "uri", "metadata", "title"},
            exclude_none=True,
        )
        key = number if said.id is None else said.id
        first = " ".join((said.messages[0].text or "").split())[:TITLE_CHARACTERS_MAX]
        own = {"document_id": f"{self.name}/{key}", "source": self.name, "text": normalise(text)}
        return document(self._defaults.fields(CUT) | {"title": first, "uri": ""} | fields | own)


def _lines(file: BinaryIO) -> Iterator[tuple[int, bytes]]:
    """The lines that are not blank, each cut off behind what a line may have."""
    number = 0
    while line := file.readline(LINE_BYTES_MAX + 1):
        number += 1
        rest = line
        while rest and not rest.endswith(b"\n"):
            rest = file.readline(LINE_BYTES_MAX)
        if line.strip():
            yield number, line


def _spoken(message: Message) -> str:
    """A message as one block: blank lines part it from the others."""
    text = _BLANK_LINES.sub("\n", (message.text or "").strip())
    when = message.time.isoformat() if isinstance(message.time, datetime) else message.time
    by = " ".join(filter(None, [f"**{message.author}**" if message.author else "", when]))
    return f"{by}: {text}" if by and text else text
