"""Parts of texts that fit into a budget of tokens: the first ones, or those that match a question.

Pure: equal texts, question and budget give equal excerpts.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from gateway.extensions._passages import token_estimate
from index.text import lexical
from ingest.chunkers.segments import line_ends, sentence_ends

_GAP = " … "  # stands for omitted sentences
_WORD = re.compile(r"\S+\s*")


@dataclass(frozen=True, slots=True)
class SourceText:
    """frame: what is shown around an excerpt of the text, if there is one; its tokens count too."""

    text: str
    language: str
    frame: str


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


def matching_sentences(texts: Sequence[SourceText], question: str, budget: int) -> list[str]:
    """Of each text the sentences that match the question best, in their order; empty if none does.

    Sentences of all texts are ranked by lexical score; ties go to the earlier one.
    """
    question_weights: dict[str, Mapping[int, float]] = {}
    sentences = []
    for index, source in enumerate(texts):
        language = source.language
        if language not in question_weights:
            question_weights[language] = lexical.query(question, {language}).weights
        for start, end in _sentences(source.text):
            score = _score(question_weights[language], source.text[start:end], language)
            sentences.append((-score, index, start, end))
    tokens_left, selected = budget, []
    started: set[int] = set()
    for _, index, start, end in sorted(sentences):
        source = texts[index]
        tokens = token_estimate.count(source.text[start:end]) + token_estimate.count(_GAP)
        if index not in started:
            tokens += token_estimate.count(source.frame)
        if tokens <= tokens_left:
            tokens_left -= tokens
            started.add(index)
            selected.append((index, start, end))
    spans: dict[int, list[tuple[int, int]]] = {}
    for index, start, end in sorted(selected):
        spans.setdefault(index, []).append((start, end))
    return [_join(source.text, spans.get(index, ())) for index, source in enumerate(texts)]


def _join(text: str, spans: Sequence[tuple[int, int]]) -> str:
    excerpt = ""
    for index, (start, end) in enumerate(spans):
        if index and spans[index - 1][1] != start:
            excerpt = excerpt.rstrip() + _GAP
        excerpt += text[start:end]
    return excerpt.strip()


def _score(question_weights: Mapping[int, float], sentence: str, language: str) -> float:
    sentence_weights = lexical.chunk(sentence, language)
    return sum(
        weight * sentence_weights.get(term, 0.0) for term, weight in question_weights.items()
    )


def _sentences(text: str) -> Iterator[tuple[int, int]]:
    """The start and end of each sentence or line; together they are the whole text."""
    ends = {*sentence_ends(text, 0, len(text)), *line_ends(text, 0, len(text))}
    inner_ends = sorted(end for end in ends if 0 < end < len(text))
    return pairwise((0, *inner_ends, len(text))) if text else iter(())
