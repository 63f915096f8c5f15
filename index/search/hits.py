"""From a ranking to the hits of an answer: duplicates and overlaps folded, no document too often.

Pure.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from itertools import starmap
from typing import Any

from index.model.chunk_kind import Kind, kind_of
from index.model.query import Query
from index.postgres.database import Row
from index.search.fusion import FusedChunk


@dataclass(frozen=True, slots=True)
class HitSummary:
    """What is said of a document's text[start:end]."""

    text: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Hit:
    """A chunk in the answer; start and end count characters of the document's text.

    Those of a summary are of what it sums up. summaries: of what it stands in, the whole first;
    empty if nobody asked.
    """

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
    ranking: FusedChunk
    tenant: str
    kind: Kind
    summaries: tuple[HitSummary, ...]
    metadata: Mapping[str, Any] = field(hash=False)

    @property
    def document(self) -> tuple[str, str]:
        """Whose it is too: two tenants may give two documents one identifier."""
        return self.tenant, self.document_id


@dataclass(frozen=True, slots=True)
class SelectedHits:
    """The hits, best first, and the chunks that were looked at to tell that they are these."""

    hits: tuple[Hit, ...]
    looked_at: tuple[int, ...]


def select_hits(
    query: Query, ranking: Sequence[FusedChunk], shown: Mapping[int, Row]
) -> SelectedHits:
    """The first `top_k` of the ranking that may be hits, fewer if there are no more.

    ranking: best first. Of chunks with equal digests the best ranked is the hit.
    shown: by chunk id, what a hit shows. Texts that overlap, for they take in each other's chunks,
           become one, in the place of the best ranked; so do two that a third one bridges.
    """
    hits: list[Hit] = []
    looked_at: list[int] = []
    digests: set[bytes] = set()
    of_document: Counter[tuple[str, str]] = Counter()
    for fused in ranking:
        if len(hits) == query.top_k or fused.score < (query.min_score or 0):
            break
        row = shown[fused.chunk_id]
        looked_at.append(fused.chunk_id)
        if row["digest"] in digests:
            continue
        digests.add(row["digest"])
        hit = _hit(fused, row)
        of_its_document = of_document[hit.document]
        if of_its_document and (overlapped := [other for other in hits if _overlap(other, hit)]):
            best, *rest = overlapped
            hits[hits.index(best)] = reduce(_together, (hit, *rest), best)
            hits = [other for other in hits if other not in rest]
            of_document[hit.document] -= len(rest)
        elif of_its_document != query.document_hits_max:
            of_document[hit.document] += 1
            hits.append(hit)
    return SelectedHits(tuple(hits), tuple(looked_at))


def _overlap(one: Hit, other: Hit) -> bool:
    """Whether they share a piece of a text; a summary is no piece of any."""
    if one.document != other.document or "summary" in (one.kind, other.kind):
        return False
    return one.start < other.end and other.start < one.end


def _together(best: Hit, other: Hit) -> Hit:
    first, second = sorted((best, other), key=lambda hit: hit.start)
    return replace(
        best,
        start=first.start,
        end=max(first.end, second.end),
        text=first.text + second.text[first.end - second.start :],
    )


def _hit(fused: FusedChunk, row: Row) -> Hit:
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
        tenant=row["tenant"],
        kind=kind_of(fused.chunk_id),
        summaries=_outermost_and_innermost(row["summaries"]) if row["summaries"] else (),
        metadata=row["metadata"],
    )


def _outermost_and_innermost(summaries: Sequence[tuple[str, int, int]]) -> tuple[HitSummary, ...]:
    """Those of the whole and of the innermost section, which may be one, or none."""
    around = sorted(starmap(HitSummary, summaries), key=lambda one: one.start - one.end)
    return (*around[:1], *around[1:][-1:])
