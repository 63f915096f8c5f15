"""Hits in the order of 0.60 of their score, 0.25 of how much of the query their text holds, and
0.15 of how much their title does.

Pure.
"""

from collections.abc import Sequence

from index.model.query import Query
from index.search.hits import Hit
from index.text import lexical

SCORE, TEXT, TITLE = 0.60, 0.25, 0.15


def scores(query: Query, hits: Sequence[Hit]) -> list[float]:
    """Of each hit; scores of other fusions than `absolute` count as shares of the greatest."""
    most = 1.0
    if query.fusion != "absolute":
        most = max((hit.score for hit in hits), default=0.0) or 1.0
    terms = {
        language: frozenset(lexical.query(query.text, {language}).weights)
        for language in {hit.language for hit in hits}
    }
    return [
        SCORE * hit.score / most
        + TEXT * _overlap(terms[hit.language], hit.text, hit.language)
        + TITLE * _overlap(terms[hit.language], hit.title, hit.language)
        for hit in hits
    ]


def _overlap(terms: frozenset[int], text: str, language: str) -> float:
    """The share of the query's terms that the text holds; those of nearly every text count not."""
    return len(terms & lexical.chunk(text, language).keys()) / len(terms) if terms else 0.0
