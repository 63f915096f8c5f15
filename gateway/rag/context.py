"""Joins passages into one text with titles and citation marks, within a limit of tokens.

Pure: equal passages, query and budget give equal bytes.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from gateway.rag import token_estimate
from gateway.rag.passage import Passage
from index.text import lexical
from ingest.chunkers.segments import line_ends, sentence_ends

_GAP = " … "  # stands for omitted sentences
_NO_LIMIT = 2**62
_WORD = re.compile(r"\S+\s*")


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
        body = first_sentences(passage.text, budget - tokens - overhead)
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


def first_sentences(text: str, budget: int) -> str:
    """The first sentences that fit into the budget; empty if none does."""
    text, tokens_left, cut_at = text.strip(), budget, 0
    for start, end in _sentences(text):
        tokens_left -= token_estimate.count(text[start:end])
        if tokens_left < 0:
            break
        cut_at = end
    return text[:cut_at].rstrip()


def first_words(text: str, budget: int) -> str:
    """The first words that fit into the budget, or the first characters if no word fits."""
    text, tokens_left, cut_at = text.strip(), budget, 0
    for word in _WORD.finditer(text):
        tokens_left -= token_estimate.count(word[0])
        if tokens_left < 0:
            break
        cut_at = word.end()
    return text[:cut_at].rstrip() or text.encode()[:budget].decode(errors="ignore")


def fits(passages: Sequence[Passage], budget: int) -> bool:
    """Whether the context of all passages, uncut, fits into the budget."""
    return build_context(passages, _NO_LIMIT).tokens <= budget


def extract_sentences(passages: Sequence[Passage], query: str, budget: int) -> list[Passage]:
    """The passages, each reduced to its sentences that match the query best, in their order.

    Sentences are ranked by lexical score; ties go to the earlier one. A passage without a selected
    sentence stays in the list with an empty text.
    """
    query_weights: dict[str, Mapping[int, float]] = {}
    sentences = []
    for index, passage in enumerate(passages):
        language = passage.language
        if language not in query_weights:
            query_weights[language] = lexical.query(query, {language}).weights
        for start, end in _sentences(passage.text):
            score = _score(query_weights[language], passage.text[start:end], language)
            sentences.append((-score, index, start, end))
    tokens_left, selected = budget, []
    started: set[int] = set()
    for _, index, start, end in sorted(sentences):
        passage = passages[index]
        tokens = token_estimate.count(passage.text[start:end]) + token_estimate.count(_GAP)
        if index not in started:
            tokens += token_estimate.count(f"## {passage.heading} [{index + 1}]")
        if tokens <= tokens_left:
            tokens_left -= tokens
            started.add(index)
            selected.append((index, start, end))
    spans: dict[int, list[tuple[int, int]]] = {}
    for index, start, end in sorted(selected):
        spans.setdefault(index, []).append((start, end))
    return [
        replace(passage, text=_join(passage.text, spans.get(index, ())))
        for index, passage in enumerate(passages)
    ]


def _join(text: str, spans: Sequence[tuple[int, int]]) -> str:
    extract = ""
    for index, (start, end) in enumerate(spans):
        if index and spans[index - 1][1] != start:
            extract = extract.rstrip() + _GAP
        extract += text[start:end]
    return extract.strip()


def _score(query_weights: Mapping[int, float], sentence: str, language: str) -> float:
    sentence_weights = lexical.chunk(sentence, language)
    return sum(weight * sentence_weights.get(term, 0.0) for term, weight in query_weights.items())


def _sentences(text: str) -> Iterator[tuple[int, int]]:
    """The start and end of each sentence or line; together they are the whole text."""
    ends = {*sentence_ends(text, 0, len(text)), *line_ends(text, 0, len(text))}
    inner_ends = sorted(end for end in ends if 0 < end < len(text))
    return pairwise((0, *inner_ends, len(text))) if text else iter(())
