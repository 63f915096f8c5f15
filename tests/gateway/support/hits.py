"""Hits as a search finds them."""

from index.search.hits import Hit
from index.search.ranking.fusion import FusedChunk


def a_hit(chunk_id: int, text: str, score: float = 0.0) -> Hit:
    return Hit(
        chunk_id=chunk_id,
        document_id=f"document {chunk_id}",
        title="",
        text=text,
        score=score,
        source="wiki",
        uri="",
        language="en",
        tags=(),
        start=0,
        end=len(text),
        ranking=FusedChunk(chunk_id, score, None, None),
        tenant="acme",
        scope_name="tenant",
        kind="text",
        summaries=(),
        metadata={},
    )
