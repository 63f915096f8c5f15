"""A session as its document stores it.

Pure.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import date

from gateway.extension import problems
from gateway.extensions.conversations import session_text
from gateway.extensions.conversations.conversation_schemas import (
    SAID_ON,
    SPEAKERS,
    SPEAKERS_MAX,
    Speaker,
)
from index.model.document import Document
from index.model.document_limits import TEXT_CHARACTERS_MAX

CHUNKER = "turns"


@dataclass(frozen=True, slots=True)
class StoredSession:
    document: Document
    said_on: str
    speakers: tuple[Speaker, ...]

    def adding(self, messages: Iterable[str], speakers: Iterable[Speaker]) -> Document:
        """The document with further messages; a 422 `Problem` if it gets too long."""
        speakers = tuple(dict.fromkeys((*self.speakers, *speakers)))
        if len(speakers) > SPEAKERS_MAX:
            detail = f"the session may have {SPEAKERS_MAX} speakers, with those that it has"
            raise problems.invalid_field("turns", detail)
        text = session_text.joined([self.document.text, *messages])
        require_short(text)
        return replace(
            self.document,
            title=session_text.title_with(self.document.title, speakers[len(self.speakers) :]),
            text=text,
            metadata={**self.document.metadata, SPEAKERS: list(speakers)},
        )


def session_of(document: Document) -> StoredSession | None:
    """None if the document is no session, or is none any more."""
    said_on, speakers = document.metadata.get(SAID_ON), document.metadata.get(SPEAKERS)
    if document.chunker != CHUNKER or not isinstance(said_on, str):
        return None
    if not isinstance(speakers, list | tuple):
        return None
    try:
        date.fromisoformat(said_on)
    except ValueError:
        return None
    return StoredSession(document, said_on, tuple(map(str, speakers)))


def require_session(document: Document, path: str) -> StoredSession:
    """A 422 `Problem` for the field at `path` if the document is no session."""
    session = session_of(document)
    if session is None:
        raise problems.invalid_field(path, "names no session; PUT /v1/conversations writes them")
    return session


def require_short(text: str) -> None:
    """A 422 `Problem` if a document can't hold the text."""
    if len(text) > TEXT_CHARACTERS_MAX:
        detail = f"the session's text may have {TEXT_CHARACTERS_MAX:,} characters: begin another"
        raise problems.invalid_field("turns", detail)
