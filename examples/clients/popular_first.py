"""Searches with what is opened often first, and reports that the first hit was opened.

An admin has turned it on: PUT /v1/popularity {"counts": "feedback"}

NEARHIT_URL=http://127.0.0.1:8080 NEARHIT_KEY=… python popular_first.py "annual leave"
"""

import sys

from nearhit_client import Client


def main(question: str) -> None:
    with Client() as nearhit:
        hits = nearhit.search(query=question, boost={"popularity": {"weight": 0.05}})["hits"]
        for hit in hits:
            print(hit["document_id"], hit["text"])
        if hits:
            reported = nearhit.post_feedback(hits=[{"chunk_id": hits[0]["chunk_id"]}])
            print("recorded:", reported["recorded"])


main(sys.argv[1])
