"""Why a document that was compared is no hit.

Pure.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from gateway.extensions.why_not.relaxed_search import Change, RelaxedSearch
from gateway.extensions.why_not.why_not_schemas import PassageScores, Reason
from index.model.query import Query
from index.search.hits import Selection
from index.search.ranking import boosting
from index.search.ranking.fusion import FusedChunk, LegRank


@dataclass(frozen=True, slots=True)
class Explanation:
    """Of a document in the relaxed search; `change` is one of that search.

    rank: see `WhyNotAnswer`. is_hit: of the relaxed search, before a reranker.
    """

    is_hit: bool
    rank: int | None
    reasons: Sequence[Reason]
    best: PassageScores | None
    last: PassageScores | None
    duplicate_of: PassageScores | None
    change: Change | None


def explain(search: RelaxedSearch, compared: Selection | None) -> Explanation:
    """compared: the document's own chunks, if none of them is in the ranking."""
    query = search.request.query
    selected = search.select(query)
    unlimited = replace(query, min_score=None)
    own, deep = search.select(unlimited), search.widest(unlimited)
    best = _best(search, own, deep)
    last = selected.selected.hits[-1].ranking if selected.selected.hits else None
    rank, duplicate = search.rank_in(selected), None
    reasons: Sequence[Reason] = ()
    if rank is None and best is None:
        rank, reasons = None, _reasons_of_unranked(query, compared)
    elif rank is None:
        assert best is not None
        rank = search.rank_in(deep)
        duplicate = None if rank else _original(search, deep, best)
        reasons = _reasons(search, best, is_duplicate=duplicate is not None)
    is_hit = search.rank_in(selected) is not None
    return Explanation(
        is_hit=is_hit,
        rank=rank,
        reasons=reasons,
        best=_scores_of_compared(query, compared) if best is None else _scores(search, best),
        last=None if last is None else _scores(search, last),
        duplicate_of=None if duplicate is None else _scores(search, duplicate),
        change=None
        if best is None or not search.chunks.exact
        else search.smallest_change(best.score),
    )


def _best(search: RelaxedSearch, own: Selection, deep: Selection) -> FusedChunk | None:
    """The chunk of its hit, with the score of the search itself where that has one."""
    for selected in (own, deep):
        hit = search.hit_in(selected)
        if hit is not None:
            return hit.ranking
    return search.ranked_in(own) or search.ranked_in(deep)


def _reasons_of_unranked(query: Query, compared: Selection | None) -> Sequence[Reason]:
    if compared is None or not compared.chunks.rows:
        return ["not_indexed"]
    if not compared.ranking:
        return ["unrelated"]
    is_low = query.fusion == "absolute" and compared.ranking[0].score < (query.min_score or 0)
    return ["min_score", "outranked"] if is_low else ["outranked"]


def _reasons(search: RelaxedSearch, best: FusedChunk, *, is_duplicate: bool) -> Sequence[Reason]:
    query, reasons = search.request.query, list[Reason]()
    if query.min_score is not None and best.score < query.min_score:
        reasons.append("min_score")
        query = replace(query, min_score=best.score)
        if search.rank(query) is not None:
            return reasons
    if is_duplicate:
        return [*reasons, "duplicate"]
    return [*reasons, *(_overtaken_by(search, query) or ["outranked"])]


def _overtaken_by(search: RelaxedSearch, query: Query) -> Sequence[Reason]:
    """What the document would be a hit without: one of both, or both together."""
    without: dict[Reason, Query] = {}
    if query.boost is not None:
        without["boost"] = replace(query, boost=None)
    if query.diversity:
        without["diversity"] = replace(query, diversity=0.0)
    alone = [name for name, other in without.items() if search.rank(other) is not None]
    if alone or len(without) < 2:
        return alone
    neither = replace(query, boost=None, diversity=0.0)
    return [*without] if search.rank(neither) is not None else []


def _original(search: RelaxedSearch, deep: Selection, best: FusedChunk) -> FusedChunk | None:
    """The better chunk with the words of the best one; None if that was not reached."""
    if best.chunk_id not in deep.selected.examined:
        return None
    rows, ranked = search.chunks.rows, {each.chunk_id: each for each in deep.ranking}
    digest = rows[best.chunk_id]["digest"]
    same = (each for each in deep.selected.examined if rows[each]["digest"] == digest)
    first = next(same)
    return None if first == best.chunk_id else ranked[first]


def _scores(search: RelaxedSearch, chunk: FusedChunk) -> PassageScores:
    query, row = search.request.query, search.chunks.rows[chunk.chunk_id]
    boosts = (
        None if query.boost is None else boosting.boosts(query.boost, row, search.chunks.extras)
    )
    return PassageScores(
        chunk_id=chunk.chunk_id,
        document_id=row["document_id"],
        score=chunk.score,
        dense=_of_leg(chunk.dense),
        lexical=_of_leg(chunk.lexical),
        boost=None if boosts is None else boosts.total,
    )


def _scores_of_compared(query: Query, compared: Selection | None) -> PassageScores | None:
    if compared is None or not compared.ranking:
        return None
    chunk = compared.ranking[0]
    return PassageScores(
        chunk_id=chunk.chunk_id,
        document_id=compared.chunks.rows[chunk.chunk_id]["document_id"],
        score=chunk.score if query.fusion == "absolute" else None,
        dense=_of_leg(chunk.dense),
        lexical=_of_leg(chunk.lexical),
        boost=None,
    )


def _of_leg(rank: LegRank | None) -> float | None:
    return None if rank is None else rank.score
