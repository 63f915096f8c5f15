"""Searches with what is opened often first, and reports that the first hit was opened.

An admin has turned it on: PUT /v1/popularity {"counts": "feedback"}

NEARHIT_URL=http://127.0.0.1:8080 NEARHIT_KEY=… python popular_first.py "annual leave"
"""

import os
import sys

import httpx2


def main(question: str) -> None:
    with httpx2.Client(
        base_url=os.environ["NEARHIT_URL"],
        headers={"Authorization": f"Bearer {os.environ['NEARHIT_KEY']}"},
    ) as client:
        boost = {"popularity": {"weight": 0.05}}
        answer = client.post("/v1/search", json={"query": question, "boost": boost})
        hits = answer.raise_for_status().json()["hits"]
        for hit in hits:
            print(hit["document_id"], hit["text"])
        opened = [{"chunk_id": hit["chunk_id"]} for hit in hits[:1]]
        if opened:
            answer = client.post("/v1/feedback", json={"hits": opened})
            print("recorded:", answer.raise_for_status().json()["recorded"])


main(sys.argv[1])
