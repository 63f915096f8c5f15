"""One text made of the hits: their titles and texts in their order, cut to a budget of tokens.

Pure: equal hits, query and budget give equal bytes.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from gateway.rag import token_estimate
from gateway.rag.passage import Passage
from index.text import lexical
from ingest.chunkers.segments import line_ends, sentence_ends

_GAP = " … "  # where sentences were left out
_NO_BUDGET = 2**62
_WORD = re.compile(r"\S+\s*")


@dataclass(frozen=True, slots=True)
class Citation:
    """text[start:end] is the mark of the passage of this number, counted from 0."""

    start: int
    end: int
    passage: int


@dataclass(frozen=True, slots=True)
class Context:
    """tokens: as estimated, never more than the budget."""

    text: str
    tokens: int
    citations: tuple[Citation, ...]


def markdown(passages: Sequence[Passage], budget: int) -> Context:
    """`## Title`, the text and its mark, such as [2], of each passage until the budget is used up.

    Passages of one document that follow each other share the title. The last one that has room for
    a sentence of its own is cut at a sentence's or a line's end; after it there is no other.
    """
    text, spent, citations = "", 0, []
    before: str | None = None
    for number, passage in enumerate(passages):
        if not passage.text.strip():
            continue
        head = "" if passage.document_id == before else f"## {passage.heading}\n\n"
        mark = f"[{number + 1}]"
        room = budget - spent - token_estimate.count(head) - token_estimate.count(mark)
        body = fitted(passage.text, room)
        if not body:
            break
        text += ("\n\n" if text else "") + head + body + " "
        citations.append(Citation(len(text), len(text) + len(mark), number))
        text += mark
        spent += (
            token_estimate.count(head) + token_estimate.count(body) + token_estimate.count(mark)
        )
        before = passage.document_id
        if len(body) < len(passage.text.strip()):
            break
    return Context(text, spent, tuple(citations))


def fitted(text: str, budget: int) -> str:
    """As many of its first sentences as have room; empty if not one has."""
    whole, left, end = text.strip(), budget, 0
    for start, until in _sentences(whole):
        left -= token_estimate.count(whole[start:until])
        if left < 0:
            break
        end = until
    return whole[:end].rstrip()


def begun(text: str, budget: int) -> str:
    """As many of its first words as have room, if not one sentence has."""
    whole, left, end = text.strip(), budget, 0
    for word in _WORD.finditer(whole):
        left -= token_estimate.count(word[0])
        if left < 0:
            break
        end = word.end()
    return whole[:end].rstrip() or whole.encode()[:budget].decode(errors="ignore")


def fits(passages: Sequence[Passage], budget: int) -> bool:
    """Whether nothing has to be left out."""
    return markdown(passages, _NO_BUDGET).tokens <= budget


def extracted(passages: Sequence[Passage], query: str, budget: int) -> list[Passage]:
    """The passages with those sentences alone, in their order, that concern the query most.

    A sentence is worth its lexical score; equal ones go by the passages' order. A passage of which
    nothing is left keeps its place, with an empty text.
    """
    asked: dict[str, Mapping[int, float]] = {}
    sentences = []
    for number, passage in enumerate(passages):
        language = passage.language
        if language not in asked:
            asked[language] = lexical.query(query, {language}).weights
        for start, end in _sentences(passage.text):
            worth = _score(asked[language], passage.text[start:end], language)
            sentences.append((-worth, number, start, end))
    left, chosen = budget, []
    marked: set[int] = set()
    for _, number, start, end in sorted(sentences):
        passage = passages[number]
        needed = token_estimate.count(passage.text[start:end]) + token_estimate.count(_GAP)
        if number not in marked:
            needed += token_estimate.count(f"## {passage.heading} [{number + 1}]")
        if needed <= left:
            left -= needed
            marked.add(number)
            chosen.append((number, start, end))
    spans: dict[int, list[tuple[int, int]]] = {}
    for number, start, end in sorted(chosen):
        spans.setdefault(number, []).append((start, end))
    return [
        replace(passage, text=_joined(passage.text, spans.get(number, ())))
        for number, passage in enumerate(passages)
    ]


def _joined(text: str, spans: Sequence[tuple[int, int]]) -> str:
    said = ""
    for place, (start, end) in enumerate(spans):
        if place and spans[place - 1][1] != start:
            said = said.rstrip() + _GAP
        said += text[start:end]
    return said.strip()


def _score(asked: Mapping[int, float], sentence: str, language: str) -> float:
    held = lexical.chunk(sentence, language)
    return sum(weight * held.get(term, 0.0) for term, weight in asked.items())


def _sentences(text: str) -> Iterator[tuple[int, int]]:
    inner = {*sentence_ends(text, 0, len(text)), *line_ends(text, 0, len(text))}
    places = sorted(place for place in inner if 0 < place < len(text))
    return pairwise((0, *places, len(text))) if text else iter(())
