"""Joins passages into one text with titles and citation marks, within a limit of tokens.

Pure: equal passages, query and budget give equal bytes.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from gateway.extensions._passages import excerpts, token_estimate
from gateway.extensions._passages.excerpts import SourceText
from gateway.extensions._passages.passage import Passage

_NO_LIMIT = 2**62


@dataclass(frozen=True, slots=True)
class Citation:
    """text[start:end] of the context is the mark of a passage. passage: its index, from 0."""

    start: int
    end: int
    passage: int


@dataclass(frozen=True, slots=True)
class Context:
    """tokens: estimated; at most the budget. truncated: passages of which it has the beginning."""

    text: str
    tokens: int
    citations: tuple[Citation, ...]
    truncated: tuple[int, ...] = ()


def build_context(passages: Sequence[Passage], budget: int) -> Context:
    """Markdown: `## Title`, the text and a mark such as [2] of each passage that fits.

    Consecutive passages of one document share a title. The first passage that does not fit is cut
    after its last sentence or line that fits, and ends the context.
    """
    text, tokens, citations = "", 0, []
    truncated: tuple[int, ...] = ()
    previous_document: tuple[str | None, str] | None = None
    for index, passage in enumerate(passages):
        if not passage.text.strip():
            continue
        document = (passage.tenant, passage.document_id)
        is_continued = document == previous_document
        heading = "" if is_continued else f"## {passage.heading}\n\n"
        mark = f"[{index + 1}]"
        overhead = token_estimate.count(heading) + token_estimate.count(mark)
        body = excerpts.first_sentences(passage.text, budget - tokens - overhead)
        if not body:
            break
        text += ("\n\n" if text else "") + heading + body + " "
        citations.append(Citation(len(text), len(text) + len(mark), index))
        text += mark
        tokens += overhead + token_estimate.count(body)
        previous_document = document
        if len(body) < len(passage.text.strip()):
            truncated = (index,)
            break
    return Context(text, tokens, tuple(citations), truncated)


def fits(passages: Sequence[Passage], budget: int) -> bool:
    """Whether the context of all passages, uncut, fits into the budget."""
    return build_context(passages, _NO_LIMIT).tokens <= budget


def extract_sentences(passages: Sequence[Passage], query: str, budget: int) -> list[Passage]:
    """The passages, each reduced to its sentences that match the query best, in their order.

    A passage without a selected sentence stays in the list with an empty text.
    """
    texts = [
        SourceText(passage.text, passage.language, f"## {passage.heading} [{number}]")
        for number, passage in enumerate(passages, start=1)
    ]
    extracts = excerpts.matching_sentences(texts, query, budget)
    return [passage.with_text(text) for passage, text in zip(passages, extracts, strict=True)]
