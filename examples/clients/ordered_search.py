"""Ranks by more than relevance, and shows what stands around the hits: counts, marks, relations.

NEARHIT_URL=http://127.0.0.1:8080 NEARHIT_KEY=… python ordered_search.py "annual leave"
"""

import sys

from nearhit_client import Client


def main(question: str) -> None:
    with Client() as nearhit:
        answer = nearhit.search(
            query=question,
            boost={
                "recency": {"half_life_days": 365, "weight": 0.05},
                "importance": {"key": "priority", "full": 10, "weight": 0.1},
                "replaced": {"weight": 0.5},
            },
            diversity=0.3,
            facets=["source", "tags"],
            highlights=True,
            expand="relations",
        )
    for hit in answer["hits"]:
        words = [hit["text"][mark["start"] : mark["end"]] for mark in hit["highlights"] or ()]
        print(hit["document_id"], "has", ", ".join(words))
        for related in hit["relations"] or ():
            print(" ", related["direction"], related["relation"], related["document_id"])
    facets = answer["facets"]
    assert facets is not None, "the search asks for them"
    for name, facet in facets["fields"].items():
        for counted in facet["values"]:
            print(f"{name} {counted['value']}: {counted['count']}")


main(sys.argv[1])
