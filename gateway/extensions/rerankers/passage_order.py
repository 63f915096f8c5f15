"""What rerankers read of hits, and what they make of an order that names some of them."""

from gateway.extension import PASSAGE_CHARACTERS_MAX, Order, RerankerUnavailable
from gateway.extensions._passages.passage import heading
from index.search.hits import Hit


def passage_text(hit: Hit) -> str:
    """As much of its heading and text as a reranker sees."""
    return f"{heading(hit.title, hit.document_id)}\n\n{hit.text}"[:PASSAGE_CHARACTERS_MAX]


def complete(order: Order, count: int) -> Order:
    """The order with the missing ones of `count` passages at its end.

    Raises `RerankerUnavailable` if a place is no passage's, or comes twice.
    """
    indexes = {index for index, _ in order}
    if len(indexes) < len(order) or not all(0 <= index < count for index in indexes):
        raise RerankerUnavailable("garbage")
    return [*order, *((index, None) for index in range(count) if index not in indexes)]
