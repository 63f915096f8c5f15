"""Selection of an answer's hits from the chunks that were found: it folds duplicates and overlaps.

Pure. The chunks of a search tell what another search would select too, if it has the same scope,
question and filter, and asks for no more candidates.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import reduce
from itertools import starmap
from typing import Any, Literal, NamedTuple, assert_never

from index.model.chunk_kind import Kind, kind_of
from index.model.provenance import Trust
from index.model.query import Query
from index.model.scope import ScopeName
from index.postgres.session import Row
from index.search.found_chunks import FoundChunks
from index.search.ranking import fusion, reordering
from index.search.ranking.boosting import Boosts
from index.search.ranking.fusion import FusedChunk
from index.search.tables.related import RelatedDocument
from index.text.highlights import Highlight


@dataclass(frozen=True, slots=True)
class HitSummary:
    """A summary of a document's text[start:end]."""

    text: str
    start: int
    end: int


class Hit(NamedTuple):
    """A chunk in the answer; start and end count characters of the document's text.

    A tuple is made in a quarter of the time of a dataclass of as many fields.

    A summary's start and end are those of the text that it summarizes.
    summaries: of the document and the sections around the hit, the whole document first; empty
               unless the request asks for them.
    scope_name: see `Scope.name_of`.
    metadata: None if it is longer than an answer shows; see `search.sql`.
    highlights: of the query's words in `text`; empty unless the request asks for them.
    related: documents that are related to the hit's; empty unless the request asks for them.
    updated_at: of the document; None unless the request asks for it.
    boosts: what was added to the score to rank by; None unless the request asks for an explanation.
    trust: how much the document is trusted; None if that is not known.
    required_score: see `RequiredScores`; None too unless the request asks for an explanation.
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
    scope_name: ScopeName
    kind: Kind
    summaries: tuple[HitSummary, ...]
    metadata: Mapping[str, Any] | None
    highlights: tuple[Highlight, ...] = ()
    related: tuple[RelatedDocument, ...] = ()
    boosts: Boosts | None = None
    required_score: float | None = None
    updated_at: datetime | None = None
    trust: Trust | None = None

    @property
    def warning(self) -> Literal["claim", "web"] | None:
        """How little its document is trusted; None if that is known to be more, or not known."""
        return self.trust if self.trust in ("claim", "web") else None

    @property
    def document(self) -> tuple[str, str]:
        """Tenant and document id: two tenants may use the same document id."""
        return self.tenant, self.document_id


@dataclass(frozen=True, slots=True)
class SelectedHits:
    """The hits, best first, and the ids of all chunks examined to select them."""

    hits: tuple[Hit, ...]
    examined: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Selection:
    """What a search has found, and the hits selected from it.

    ranking: by relevance, as far as it was read. order: in which its chunks become hits.
    """

    chunks: FoundChunks
    ranking: Sequence[FusedChunk]
    order: Sequence[FusedChunk]
    selected: SelectedHits


def select(query: Query, chunks: FoundChunks, rows_max: int) -> Selection:
    """rows_max: how many of the best chunks may become hits."""
    dense, lexical = chunks.dense[: query.candidates], chunks.lexical[: query.candidates]
    match query.fusion:
        case "absolute":
            alpha = chunks.prepared.embedded_query.alpha
            ranking = fusion.absolute(chunks.scored, dense, lexical, alpha=alpha)
        case "relative":
            ranking = fusion.relative(dense, lexical, alpha=leg_share(chunks))
        case "rrf":
            ranking = fusion.reciprocal_rank(dense, lexical)
        case _:
            assert_never(query.fusion)
    ranking = ranking[:rows_max]
    if not query.reorders:
        return Selection(chunks, ranking, ranking, select_hits(query, ranking, chunks.rows))
    order = reordering.reordered(query, ranking, chunks.rows, chunks.extras)
    # Also a candidate that is no hit decides the order.
    examined = tuple(one.chunk_id for one in order)
    selected = replace(select_hits(query, order, chunks.rows), examined=examined)
    return Selection(chunks, ranking, order, selected)


def leg_share(chunks: FoundChunks) -> float:
    """The dense leg's share; 0 if the leg is empty."""
    return chunks.prepared.embedded_query.alpha if chunks.dense else 0.0


def select_hits(
    query: Query, ranking: Sequence[FusedChunk], rows: Mapping[int, Row]
) -> SelectedHits:
    """The first `top_k` hits of the ranking, or fewer if there are no more.

    ranking: best first. Of chunks with equal digests the best ranked is the hit.
    rows: by chunk id, the fields of a hit. Hits whose texts overlap are merged into one, at the
          rank of the best; so are two hits that a third one bridges.
    """
    hits: list[Hit] = []
    examined: list[int] = []
    digests: set[bytes] = set()
    document_hits: dict[tuple[str, str], int] = {}
    for fused in ranking:
        if len(hits) == query.top_k or fused.score < (query.min_score or 0):
            break
        row = rows[fused.chunk_id]
        examined.append(fused.chunk_id)
        if row["digest"] in digests:
            continue
        digests.add(row["digest"])
        hit = _hit(fused, row)
        document = hit.tenant, hit.document_id
        hits_of_document = document_hits.get(document, 0)
        if hits_of_document and (overlapping := [other for other in hits if _overlap(other, hit)]):
            best, *others = overlapping
            hits[hits.index(best)] = reduce(_together, (hit, *others), best)
            hits = [other for other in hits if other not in others]
            document_hits[document] -= len(others)
        elif hits_of_document != query.document_hits_max:
            document_hits[document] = hits_of_document + 1
            hits.append(hit)
    return SelectedHits(tuple(hits), tuple(examined))


def _overlap(hit: Hit, other: Hit) -> bool:
    """Whether both hits share a part of a text; a summary never does."""
    if hit.document != other.document or "summary" in (hit.kind, other.kind):
        return False
    return hit.start < other.end and other.start < hit.end


def _together(best: Hit, other: Hit) -> Hit:
    first, second = sorted((best, other), key=lambda hit: hit.start)
    added = max(0, second.end - first.end)  # a text may begin with lines from before its start
    return best._replace(
        start=first.start,
        end=max(first.end, second.end),
        text=first.text + second.text[len(second.text) - added :],
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
        scope_name=row["scope_name"],
        kind=kind_of(fused.chunk_id),
        summaries=_outermost_and_innermost(row["summaries"]) if row["summaries"] else (),
        metadata=row["metadata"],
        trust=row["trust"],
    )


def _outermost_and_innermost(summaries: Sequence[tuple[str, int, int]]) -> tuple[HitSummary, ...]:
    """The summaries of the widest and of the innermost section, if they exist; may be the same."""
    widest_first = sorted(starmap(HitSummary, summaries), key=lambda part: part.start - part.end)
    return (*widest_first[:1], *widest_first[1:][-1:])
