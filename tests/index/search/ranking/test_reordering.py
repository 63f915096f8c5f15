"""Boosts and diversity against brute force over the candidates, and what they leave as it was."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from index.documents.document_store import DocumentStore
from index.documents.partitions import Partitions
from index.model.query import FusionName, Query
from index.model.query_parts.boost import DAY_S, Boost, Importance, Recency
from index.model.scope import ScopeName, everything, resolve
from index.postgres.database import Database
from index.search.ranking.fusion import FusedChunk
from index.search.searcher import Searcher
from index.search.tables.strategy import StrategyLimits
from ingest.write.writer import Writer
from tests.index.support import filters, many_chunks, questions, worlds
from tests.index.support.questions import QuestionWorld
from tests.index.support.samples import a_document, put
from tests.index.support.worlds import IndexPrincipal, Piece
from tests.sampling import examples

pytestmark = pytest.mark.anyio

ANA = everything("acme", "ana", ["sales"])
SCOPES: tuple[ScopeName, ...] = ("tenant", "public", "private")
TOLERANCE = 1e-5  # more than any rounding of what is compared here

boosts = st.sampled_from(
    [
        None,
        Boost(Recency(1.0, 0.05)),
        Boost(importance=Importance("year", 4_000, 0.3)),
        Boost(Recency(0.5, 0.2), Importance("year", 1, 0.1)),
        Boost(replaced=0.3),
        Boost(Recency(1.0, 0.05), replaced=0.2),
    ]
)


def added(query: Query, piece: Piece) -> float:
    """What is added to the score of a chunk."""
    boost, total = query.boost, 0.0
    if boost is not None and boost.recency is not None:
        seconds = (piece.updated_at - worlds.EPOCH).total_seconds()
        total += boost.recency.weight * seconds / (boost.recency.half_life_days * DAY_S)
    if boost is not None and boost.importance is not None:
        number: Any = piece.document.metadata.get(boost.importance.key, 0)
        total += boost.importance.weight * min(1.0, number / boost.importance.full)
    return total


def replaced(seen: Sequence[Piece]) -> set[tuple[str, str]]:
    """Tenants and identifiers of the documents that a visible one of the tenant replaces."""
    found = set()
    for piece in seen:
        named = piece.document.metadata.get("replaces", [])
        for document_id in [named] if isinstance(named, str) else named:  # type: ignore[union-attr]  # a list
            if document_id != piece.document.document_id:
                found.add((piece.tenant, str(document_id)))
    return found


def by_total(totals: dict[int, float]) -> list[int] | None:
    """None if two are too near for rounding not to matter."""
    order = sorted(totals, key=lambda chunk_id: -totals[chunk_id])
    gaps = [totals[one] - totals[other] for one, other in pairwise(order)]
    return order if all(gap > TOLERANCE for gap in gaps) else None


def by_diversity(
    order: Sequence[int],
    totals: dict[int, float],
    pieces: dict[int, Piece],
    diversity: float,
    scale: float,
) -> list[int] | None:
    """One after the other, each time comparing all that are left with all that are chosen."""
    chosen: list[int] = []

    def likeness(one: int, other: int) -> float:
        a, b = pieces[one].dense, pieces[other].dense
        return max(0.0, float(a @ b / np.sqrt((a @ a) * (b @ b))))

    def worth(chunk_id: int) -> float:
        nearest = max((likeness(chunk_id, other) for other in chosen), default=0.0)
        return (1 - diversity) * totals[chunk_id] * scale - diversity * nearest

    while len(chosen) < len(order):
        left = sorted((one for one in order if one not in chosen), key=worth, reverse=True)
        if len(left) > 1 and worth(left[0]) - worth(left[1]) <= TOLERANCE:
            return None
        chosen.append(left[0])
    return chosen


@settings(max_examples=examples(60), deadline=None)
@given(
    asking=questions.principals,
    query=questions.queries,
    candidates=st.sampled_from([2, 3, 5]),
    boost=boosts,
    diversity=st.sampled_from([0.0, 0.3, 0.7]),
)
async def test_the_candidates_come_in_the_order_that_brute_force_gives_them(
    world: QuestionWorld,
    asking: IndexPrincipal,
    query: Query,
    candidates: int,
    boost: Boost | None,
    diversity: float,
) -> None:
    plain = replace(query, candidates=candidates, top_k=min(query.top_k, candidates))
    query = replace(plain, boost=boost, diversity=diversity)
    seen = filters.visible(world.pieces, asking, SCOPES, query.filter)
    vector = await world.embedder.embed_query(query.text)
    expected = worlds.expected(seen, plain, vector)
    assume(expected.decided and query.reorders)
    pieces = {piece.chunk_id: piece for piece in seen}
    ranking = sorted(expected.scores.items(), key=lambda item: (-item[1], item[0]))
    pool = {
        chunk_id: score
        for chunk_id, score in ranking[: query.depth]
        if score >= (query.min_score or 0)
    }
    totals = {chunk_id: score + added(query, pieces[chunk_id]) for chunk_id, score in pool.items()}
    outdated = replaced(seen)
    for chunk_id in totals:
        document = pieces[chunk_id].tenant, pieces[chunk_id].document.document_id
        if boost is not None and document in outdated:
            totals[chunk_id] -= boost.replaced
    order = by_total(totals)
    if order and diversity:
        scale = 61 / 2 if query.fusion == "rrf" else 1.0  # where the first of both legs has 1
        order = by_diversity(order, totals, pieces, diversity, scale)
    assume(order is not None)
    assert order is not None
    folded = worlds.folded(
        seen, query, [FusedChunk(chunk_id, pool[chunk_id], None, None) for chunk_id in order]
    )

    scope = resolve(
        asking.tenant,
        asking.subject,
        asking.groups,
        SCOPES,
        receives_public=asking.receives_public,
    )
    found = await world.searcher.search(scope, query)

    assert [hit.chunk_id for hit in found.hits] == [chunk_id for chunk_id, _ in folded]
    assert [hit.score for hit in found.hits] == pytest.approx(
        [score for _, score in folded], abs=1e-3
    )
    assert set(found.dependencies.examined) == set(order)


async def test_the_score_and_what_it_is_compared_with_know_nothing_of_a_boost(
    world: QuestionWorld,
) -> None:
    query = Query("sensor lighthouse", alpha=0.5, top_k=5)
    boost = Boost(Recency(1, 5.0))

    plain = await world.searcher.search(ANA, replace(query, top_k=1000, candidates=1000))
    boosted = await world.searcher.search(ANA, replace(query, boost=boost, explain=True))

    scores = {hit.chunk_id: hit.score for hit in plain.hits}
    assert [hit.chunk_id for hit in boosted.hits] != [hit.chunk_id for hit in plain.hits[:5]]
    assert all(scores[hit.chunk_id] == hit.score for hit in boosted.hits)
    totals = [hit.score + hit.boosts.total for hit in boosted.hits if hit.boosts]
    assert totals == sorted(totals, reverse=True)
    assert len(totals) == 5
    least = plain.hits[3].score
    few = await world.searcher.search(ANA, replace(query, boost=boost, min_score=least))
    assert {hit.chunk_id for hit in few.hits} == {hit.chunk_id for hit in plain.hits[:4]}


async def test_a_number_counts_up_to_the_full_one_and_what_is_no_number_not_at_all(
    writer: Writer, searcher: Searcher
) -> None:
    numbers: list[Any] = [5, 20, -20, "9", True, None, [9], 0.5]
    for place, number in enumerate(numbers):
        await put(writer, a_document(f"d{place}", f"Leave {place}.", metadata={"rank": number}))
    await put(writer, a_document("none", "Leave.", metadata={}))
    query = Query(
        "leave", top_k=20, explain=True, boost=Boost(importance=Importance("rank", 10, 2.0))
    )

    found = await searcher.search(ANA, query)

    importances = {hit.document_id: hit.boosts and hit.boosts.importance for hit in found.hits}
    assert importances == {
        "d0": 1.0,
        "d1": 2.0,
        "d2": -2.0,
        "d7": 0.1,
        **dict.fromkeys(["d3", "d4", "d5", "d6", "none"], 0.0),
    }


@pytest.mark.thorough
async def test_diversity_shows_one_of_many_near_duplicates_before_it_repeats_itself(
    writer: Writer, searcher: Searcher
) -> None:
    for number in range(20):
        await put(writer, a_document(f"log{number}", f"Battery pressure alarm at sensor {number}."))
    others = {
        "manual": "How to reset the pressure alarm of a battery.",
        "order": "The invoice for new batteries and sensors.",
        "plan": "Who is called when an alarm rings at night.",
    }
    for document_id, text in others.items():
        await put(writer, a_document(document_id, text))
    query = Query("battery pressure alarm sensor", top_k=5)

    plain = await searcher.search(ANA, query)
    diverse = await searcher.search(ANA, replace(query, diversity=0.7))

    assert others.keys().isdisjoint(hit.document_id for hit in plain.hits)
    assert others.keys() <= {hit.document_id for hit in diverse.hits}
    assert plain.hits[0].chunk_id == diverse.hits[0].chunk_id


@pytest.mark.sampled("rrf")
@pytest.mark.parametrize("fusion", ["absolute", "relative", "rrf"])
async def test_a_walk_of_a_graph_brings_all_candidates_to_be_ordered(
    database: Database, documents: DocumentStore, fusion: FusionName
) -> None:
    await many_chunks.settle(documents, "acme", number=100, readers=[("tenant",)], seed=1)
    async for _ in Partitions(database, limits=StrategyLimits(crossover_chunks=500)).maintain():
        pass
    query = Query(many_chunks.QUESTION, alpha=0.5, fusion=fusion, diversity=0.5, facets=("tags",))

    exact, nearest = [
        await Searcher(database, many_chunks.EMBEDDER, limits=limits).search(ANA, query)
        for limits in (many_chunks.EXACT, many_chunks.NEAREST)
    ]

    assert (exact.dependencies.exact, nearest.dependencies.exact) == (True, False)
    assert exact.hits[0].chunk_id == nearest.hits[0].chunk_id
    assert len(nearest.dependencies.examined) > query.candidates
    assert nearest.facets == exact.facets
