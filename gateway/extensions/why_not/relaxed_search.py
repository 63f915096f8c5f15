"""What the chunks of one search tell of others, which ask for fewer hits or rank otherwise.

Pure.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

from gateway.extension import TOP_K_MAX, SearchRequest
from index.model.query import Query
from index.search.found_chunks import FoundChunks
from index.search.hits import Hit, Selection, select, select_hits
from index.search.ranking.fusion import FusedChunk

Change: TypeAlias = Mapping[str, Any]  # a merge patch of the body of a search


def deepest(query: Query) -> Query:
    """The same search for as many hits as one can ask for."""
    return replace(query, top_k=TOP_K_MAX, candidates=TOP_K_MAX)


def for_chunks(query: Query) -> Query:
    """A search for all chunks that decide which documents the answer has, and nothing else."""
    return replace(
        deepest(query),
        min_score=None,
        explain=False,
        summaries=False,
        metadata=False,
        updated_at=False,
        postprocessing=None,
        highlights=False,
        highlight_units="code_points",
        facets=(),
        relations=False,
    )


@dataclass(frozen=True, slots=True)
class RelaxedSearch:
    """A search without what leaves a document out before anything is compared.

    document:   its tenant and its identifier.
    request_of: the search with a further change.
    chunks:     of `for_chunks`.
    ranked:     by the digest of each query that was tried, but for its `top_k`.
    """

    document: tuple[str, str]
    request: SearchRequest
    request_of: Callable[[Change], SearchRequest]
    chunks: FoundChunks
    ranked: dict[bytes, Selection] = field(default_factory=dict)

    def select(self, query: Query) -> Selection:
        form = replace(query, top_k=1).digest
        ranked = self.ranked.get(form)
        if ranked is None:  # diversity takes milliseconds
            ranked = self.ranked[form] = select(query, self.chunks, query.depth)
        return replace(ranked, selected=select_hits(query, ranked.order, self.chunks.rows))

    def rank(self, query: Query) -> int | None:
        """The rank of the document's best hit; None if it has none."""
        return self.rank_in(self.select(query))

    def widest(self, query: Query) -> Selection:
        """As many hits as one can ask for, of the query's own candidates if the document is there.

        More hits than these are found among more candidates, which may rank otherwise.
        """
        selected = self.select(replace(query, top_k=TOP_K_MAX))
        return self.select(deepest(query)) if self.rank_in(selected) is None else selected

    def rank_in(self, selected: Selection) -> int | None:
        hits = enumerate(selected.selected.hits, start=1)
        return next((rank for rank, hit in hits if hit.document == self.document), None)

    def hit_in(self, selected: Selection) -> Hit | None:
        return next((hit for hit in selected.selected.hits if hit.document == self.document), None)

    def ranked_in(self, selected: Selection) -> FusedChunk | None:
        """The document's best chunk in the ranking, a hit or not."""
        return next((each for each in selected.ranking if self.is_its(each.chunk_id)), None)

    def is_its(self, chunk_id: int) -> bool:
        row = self.chunks.rows[chunk_id]
        return (row["tenant"], row["document_id"]) == self.document

    def brings_in(self, change: Change) -> bool:
        """Whether the changed search has the document in its answer, however it is reranked."""
        request = self.request_of(change)
        selected = self.select(request.query)
        if self.rank_in(selected) is None:
            return False
        return not is_reranked(request.query) or request.body.top_k >= len(selected.selected.hits)

    def smallest_change(self, score: float) -> Change | None:
        """What brings the document in, and asks for the rest as it was; None if nothing does.

        score: of its best chunk, to which `min_score` has to go down.
        """
        for change in self._changes(score):
            if self.brings_in(change):
                return change
            for top_k in self._top_ks(change):
                if self.brings_in({**change, "top_k": top_k}):
                    return {**change, "top_k": top_k}
        return None

    def _changes(self, score: float) -> Iterator[Change]:
        query = self.request.query
        lowered = {}
        if query.min_score is not None and score < query.min_score:
            lowered = {"min_score": score}
        as_ranked: list[Change] = [{"diversity": 0}] if query.diversity else []
        if query.boost is not None:
            as_ranked += [{"boost": None}, *({**each, "boost": None} for each in as_ranked)]
        yield lowered
        for change in as_ranked:
            yield {**lowered, **change}

    def _top_ks(self, change: Change) -> list[int]:
        """A few that may be the least number of hits with the document among them.

        More candidates may rank others before it, and of two hits a third one may make one. A
        reranker puts it among the first only if all are shown.
        """
        request = self.request_of(change)
        rank, query = self.rank_in(self.widest(request.query)), request.query
        if rank is None:
            return []
        hits = len(self.select(query).selected.hits) if is_reranked(query) else 0
        likely = {rank, rank + 1, rank + 2, hits, query.top_k, TOP_K_MAX}
        return sorted(each for each in likely if request.body.top_k < each <= TOP_K_MAX)


def is_reranked(query: Query) -> bool:
    return query.postprocessing is not None and query.postprocessing.ranker is not None
