"""Searches in two steps and one call: broadly first, then within the documents found.

NEARHIT_URL=http://127.0.0.1:8080 NEARHIT_KEY=… python search_plan.py "annual leave" "25 days"
"""

import sys

from nearhit_client import Client


def main(topic: str, question: str) -> None:
    with Client() as nearhit:
        answer = nearhit.search_plan(
            steps=[
                {"name": "topic", "query": topic, "top_k": 20},
                {
                    "name": "details",
                    "query": question,
                    "filter": {"documents": {"from": "topic.document_ids"}},
                },
            ],
            output=["details"],
            budget={"time_ms": 2_000, "tokens": 1_000},
        )
    for step in answer["steps"]:
        for hit in step["answer"]["hits"]:
            print(hit["document_id"], hit["text"])
        if step["left_out"]:
            print(step["left_out"], "more did not fit")
    if answer["unfinished"]:
        print("not finished in time:", ", ".join(answer["unfinished"]))


main(*sys.argv[1:3])
