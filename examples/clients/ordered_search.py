"""Ranks by more than relevance, and shows what stands around the hits: counts, marks, relations.

NEARHIT_URL=http://127.0.0.1:8080 NEARHIT_KEY=… python ordered_search.py "annual leave"
"""

import os
import sys

import httpx2


def main(question: str) -> None:
    search = {
        "query": question,
        "boost": {
            "recency": {"half_life_days": 365, "weight": 0.05},
            "importance": {"key": "priority", "full": 10, "weight": 0.1},
            "replaced": {"weight": 0.5},
        },
        "diversity": 0.3,
        "facets": ["source", "tags"],
        "highlights": True,
        "expand": "relations",
    }
    answer = httpx2.post(
        f"{os.environ['NEARHIT_URL']}/v1/search",
        headers={"Authorization": f"Bearer {os.environ['NEARHIT_KEY']}"},
        json=search,
    )
    body = answer.raise_for_status().json()
    for hit in body["hits"]:
        words = [hit["text"][mark["start"] : mark["end"]] for mark in hit["highlights"]]
        print(hit["document_id"], "has", ", ".join(words))
        for related in hit["relations"]:
            print(" ", related["direction"], related["relation"], related["document_id"])
    for name, facet in body["facets"]["fields"].items():
        for counted in facet["values"]:
            print(f"{name} {counted['value']}: {counted['count']}")


main(sys.argv[1])
