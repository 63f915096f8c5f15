"""Subscribes to a question, and prints what comes and goes until it is interrupted.

NEARHIT_URL=http://127.0.0.1:8080 NEARHIT_KEY=… python subscriber.py "how many days?" [EVENTS]
"""

import itertools
import sys
from typing import Any

from nearhit_client import Client


def applied(hits: dict[int, Any], event: dict[str, Any]) -> dict[int, Any]:
    """The hits of the answer by chunk: those before the event, with its changes."""
    changes = event["hits"]
    known = {} if event["since"] is None else hits
    known |= {hit["chunk_id"]: hit for hit in changes["added"] + changes["updated"]}
    return {chunk_id: known[chunk_id] for chunk_id in changes["chunk_ids"]}


def main(question: str, events_max: int | None) -> None:
    hits: dict[int, Any] = {}
    with Client() as nearhit:
        subscription = nearhit.create_subscription(
            search={"query": question}, deliver={"hits": "changes"}
        )
        try:
            for event in itertools.islice(nearhit.events(subscription["id"]), events_max):
                if event.name == "ended":
                    print("ended:", event.data["reason"])
                    break
                hits = applied(hits, event.data)
                print(f"revision {event.data['revision']}:")
                for hit in hits.values():
                    print("  ", hit["document_id"], hit["text"])
        finally:
            nearhit.delete_subscription(subscription["id"])


main(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else None)
