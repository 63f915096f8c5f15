"""The scores that hits were found with, as the rerankers of this process use them. Pure."""

from collections.abc import Sequence

from index.model.query import Query
from index.search.hits import Hit


def first_scores(query: Query, hits: Sequence[Hit]) -> list[float]:
    """In the order of the hits.

    Scores of a fusion other than `absolute` are divided by the largest one.
    """
    largest = 1.0
    if query.fusion != "absolute":
        largest = max((hit.score for hit in hits), default=0.0) or 1.0
    return [hit.score / largest for hit in hits]
