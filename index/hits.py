"""From a ranking to the hits of an answer: duplicates folded, no document too often.

Pure.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from index.database import Row
from index.fusion import Fused
from index.query import Query


@dataclass(frozen=True, slots=True)
class Hit:
    """A chunk in the answer; start and end count characters of the document's text."""

    chunk_id: int
    document_id: str
    title: str
    text: str
    score: float
    source: str
    uri: str
    language: str
    tags: tuple[str, ...]
    start: int
    end: int
    ranking: Fused


def pick(query: Query, ranking: Sequence[Fused], shown: Mapping[int, Row]) -> list[Hit] | None:
    """The first `top_k` of the ranking that may be hits; None if one of them is not in `shown`.

    ranking: best first. Of chunks with equal digests the best ranked is the hit.
    shown: by chunk id, what a hit shows.
    """
    hits: list[Hit] = []
    digests: set[bytes] = set()
    of_document: Counter[str] = Counter()
    for fused in ranking:
        if len(hits) == query.top_k or fused.score < (query.min_score or 0):
            break
        row = shown.get(fused.chunk_id)
        if row is None:
            return None
        if row["digest"] in digests or of_document[row["document_id"]] == query.document_hits_max:
            continue
        digests.add(row["digest"])
        of_document[row["document_id"]] += 1
        hits.append(_hit(fused, row))
    return hits


def _hit(fused: Fused, row: Row) -> Hit:
    return Hit(
        chunk_id=fused.chunk_id,
        document_id=row["document_id"],
        title=row["title"],
        text=row["text"],
        score=fused.score,
        source=row["source"],
        uri=row["uri"],
        language=row["language"],
        tags=tuple(row["tags"]),
        start=row["start_at"],
        end=row["end_at"],
        ranking=fused,
    )
