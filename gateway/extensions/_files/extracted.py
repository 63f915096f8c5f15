"""What a reader finds in a file, or why it finds nothing."""

from collections.abc import Sequence
from dataclasses import dataclass


class Unreadable(ValueError):
    """No text can be extracted from the file; the message says why."""


class NotRead(Unreadable):
    """Something else ended the reading, which says nothing about the file."""


@dataclass(frozen=True, slots=True)
class Extracted:
    """text: Markdown. title, language: None if the file does not name them.

    An empty title says that no heading of the text is one.

    losses: what the file shows and the text lacks, or has in another form.
    has_hidden_text: whether the file has text that readers don't see.
    links: of a web page. robots: what it tells crawlers, such as `noindex`.
    """

    text: str
    title: str | None = None
    language: str | None = None
    losses: Sequence[str] = ()
    has_hidden_text: bool = False
    links: Sequence[str] = ()
    robots: str = ""


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """content_type: the HTTP header of a web page.

    marks_hidden: whether text that readers don't see is marked; otherwise it is left out.
    reads_scans: whether the text of a PDF's scanned pages is read, with the extra `ocr`.
    """

    content_type: str = ""
    marks_hidden: bool = False
    reads_scans: bool = False


DEFAULT_OPTIONS = ReadOptions()
