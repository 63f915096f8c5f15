"""Searches in two steps and one call: broadly first, then within the documents found.

NEARHIT_URL=http://127.0.0.1:8080 NEARHIT_KEY=… python search_plan.py "annual leave" "25 days"
"""

import os
import sys

import httpx2


def main(topic: str, question: str) -> None:
    plan = {
        "steps": [
            {"name": "topic", "query": topic, "top_k": 20},
            {
                "name": "details",
                "query": question,
                "filter": {"documents": {"from": "topic.document_ids"}},
            },
        ],
        "output": ["details"],
        "budget": {"time_ms": 2_000, "tokens": 1_000},
    }
    answer = httpx2.post(
        f"{os.environ['NEARHIT_URL']}/v1/search/plan",
        headers={"Authorization": f"Bearer {os.environ['NEARHIT_KEY']}"},
        json=plan,
    )
    body = answer.raise_for_status().json()
    for step in body["steps"]:
        for hit in step["answer"]["hits"]:
            print(hit["document_id"], hit["text"])
        if step["left_out"]:
            print(step["left_out"], "more did not fit")
    if body["unfinished"]:
        print("not finished in time:", ", ".join(body["unfinished"]))


main(*sys.argv[1:3])
