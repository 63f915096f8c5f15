"""What a writer is warned of, although its document is stored; does no I/O.

A warning tells that the index does something else than the writer seems to expect. A new one gets a
code here, and a row in docs/how-to/ingest.md.
"""

from dataclasses import dataclass
from typing import Literal, TypeAlias

from index.model.document import Document
from ingest.chunkers import whole

WarningCode: TypeAlias = Literal["not-whole"]


@dataclass(frozen=True, slots=True)
class WriteWarning:
    """code: for programs, and stable. detail: for people; it quotes no text of the document."""

    code: WarningCode
    detail: str


def warnings_of(document: Document) -> tuple[WriteWarning, ...]:
    """The same for a document that is unchanged, so that a repeated write repeats them."""
    if document.chunker == "whole" and len(document.text) > whole.CHARACTERS_MAX:
        detail = (
            f"the text has {len(document.text):,} characters, and `whole` keeps up to "
            f"{whole.CHARACTERS_MAX:,} in one chunk: it is chunked as with `structure`"
        )
        return (WriteWarning("not-whole", detail),)
    return ()
