"""What a writer is warned of, although its document is stored; does no I/O.

A warning tells that the index does something else than the writer seems to expect. A new one gets a
code here, and a row in docs/how-to/ingest.md.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from index.documents.chunk_store import AddedChunk
from index.model.document import Document
from index.text import language_detection
from index.text.word_lists import analysed_languages
from index.text.word_lists.stemming import UNDETERMINED
from ingest.chunkers import whole

WarningCode: TypeAlias = Literal["not-whole", "other-language", "no-vector"]


@dataclass(frozen=True, slots=True)
class WriteWarning:
    """code: for programs, and stable. detail: for people; it quotes no text of the document."""

    code: WarningCode
    detail: str


def warnings_of(document: Document) -> tuple[WriteWarning, ...]:
    """The same for a document that is unchanged, so that a repeated write repeats them."""
    return (*_not_whole(document), *_other_language(document))


def without_vectors(added: Sequence[AddedChunk]) -> Iterator[WriteWarning]:
    """For each new chunk that the embedder could not embed; chunks count from 1 in their order."""
    for number, chunk in enumerate(added, start=1):
        if not chunk.has_vector:
            detail = (
                f"new chunk {number} of {len(added)}, characters {chunk.start:,} to "
                f"{chunk.end:,}, has no vector: the embedder failed on its text. Searches find it "
                "by its words; `nearhit backfill` tries again"
            )
            yield WriteWarning("no-vector", detail)


def _other_language(document: Document) -> tuple[WriteWarning, ...]:
    """For a declared language that has word lists: of others, no words are known."""
    detected = language_detection.detect_surely(document.text)
    declared = analysed_languages.base_language(document.language)
    if detected is None or declared in (detected, UNDETERMINED):
        return ()
    detail = (
        f"the text reads as {detected}, and the document's language is {document.language}: its "
        f"words are analysed as {declared}"
    )
    return (WriteWarning("other-language", detail),)


def _not_whole(document: Document) -> tuple[WriteWarning, ...]:
    if document.chunker == "whole" and len(document.text) > whole.CHARACTERS_MAX:
        detail = (
            f"the text has {len(document.text):,} characters, and `whole` keeps up to "
            f"{whole.CHARACTERS_MAX:,} in one chunk: it is chunked as with `structure`"
        )
        return (WriteWarning("not-whole", detail),)
    return ()
