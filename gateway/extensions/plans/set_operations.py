"""Union, intersection and difference of the hits of steps. Does no I/O.

A union is of hits. An intersection and a difference compare documents, because two searches seldom
find the same passage of a document.
"""

from collections import defaultdict
from collections.abc import Sequence
from typing import assert_never

from gateway.extensions.plans.plan_schemas import Operation
from gateway.extensions.plans.references import Hit

_K = 60  # as in `index.search.ranking.fusion`


def combine(operation: Operation, operands: Sequence[Sequence[Hit]]) -> Sequence[Hit]:
    """The hits of the operation. operands: the hits of each step, best first."""
    first, *others = operands
    match operation:
        case "union":
            return _union(operands)
        case "intersection":
            common = set.intersection(*map(_documents, others))
            return [hit for hit in first if _document(hit) in common]
        case "difference":
            excluded = set.union(*map(_documents, others))
            return [hit for hit in first if _document(hit) not in excluded]
        case _:
            assert_never(operation)


def _union(operands: Sequence[Sequence[Hit]]) -> Sequence[Hit]:
    """Each chunk once, as the first step that found it shows it, by summed reciprocal rank.

    Ties go to the earlier step, then to the better rank in it.

    Source: Cormack, Clarke, Buettcher, SIGIR 2009.
    """
    scores: defaultdict[int, float] = defaultdict(float)
    hits: dict[int, Hit] = {}
    for operand in operands:
        for rank, hit in enumerate(operand, 1):
            scores[hit["chunk_id"]] += 1 / (_K + rank)
            hits.setdefault(hit["chunk_id"], hit)
    return sorted(hits.values(), key=lambda hit: -scores[hit["chunk_id"]])


def _documents(hits: Sequence[Hit]) -> set[tuple[str, str]]:
    return set(map(_document, hits))


def _document(hit: Hit) -> tuple[str, str]:
    """Its tenant, empty for the caller's own, and its identifier."""
    return hit.get("tenant", ""), hit["document_id"]
