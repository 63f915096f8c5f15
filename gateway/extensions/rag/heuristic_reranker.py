"""Reranks hits without a model.

The new score is 0.60 of the hit's score, plus 0.25 of the share of the query's terms that its text
contains, plus 0.15 of the share that its title contains. Pure.
"""

from collections.abc import Sequence

from gateway.extension import PASSAGE_CHARACTERS_MAX
from gateway.extensions.rag.first_scores import first_scores
from index.model.query import Query
from index.search.hits import Hit
from index.text import lexical

SCORE, TEXT, TITLE = 0.60, 0.25, 0.15


def scores(query: Query, hits: Sequence[Hit]) -> list[float]:
    """The new score of each hit, in the order of the hits."""
    terms = {
        language: frozenset(lexical.query(query.text, {language}).weights)
        for language in {hit.language for hit in hits}
    }
    return [
        SCORE * score
        + TEXT * _coverage(terms[hit.language], hit.text[:PASSAGE_CHARACTERS_MAX], hit.language)
        + TITLE * _coverage(terms[hit.language], hit.title, hit.language)
        for score, hit in zip(first_scores(query, hits), hits, strict=True)
    ]


def _coverage(terms: frozenset[int], text: str, language: str) -> float:
    """The share of the terms that the text contains; 0 without terms."""
    return len(terms & lexical.chunk(text, language).keys()) / len(terms) if terms else 0.0
