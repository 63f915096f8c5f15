"""Subscribes to a question, and prints what comes and goes until it is interrupted.

NEARHIT_URL=http://127.0.0.1:8080 NEARHIT_KEY=… python subscriber.py "how many days?" [EVENTS]
"""

import itertools
import json
import os
import sys
import time
from collections.abc import Iterator
from typing import Any

import httpx2

RECONNECT_S = 1.0


class Subscriber:
    """hits: of the answer, by chunk, as the events so far give them."""

    def __init__(self, client: httpx2.Client, query: str) -> None:
        body = {"search": {"query": query}, "deliver": {"hits": "changes"}}
        answer = client.post("/v1/subscriptions", json=body)
        answer.raise_for_status()
        self.path = f"/v1/subscriptions/{answer.json()['id']}"
        self.hits: dict[int, dict[str, Any]] = {}
        self._client = client
        self._last_event_id = ""

    def events(self) -> Iterator[tuple[str, dict[str, Any]]]:
        """Each event with its data; connects again when the connection is lost."""
        while True:
            headers = {"Last-Event-ID": self._last_event_id} if self._last_event_id else {}
            path = f"{self.path}/events"
            try:
                with self._client.stream("GET", path, headers=headers, timeout=60) as answer:
                    if answer.is_client_error:
                        answer.raise_for_status()  # it will not get better
                    yield from self._read(answer)
            except httpx2.TransportError:
                pass
            time.sleep(RECONNECT_S)

    def _read(self, answer: httpx2.Response) -> Iterator[tuple[str, dict[str, Any]]]:
        fields: dict[str, str] = {}
        for line in answer.iter_lines():
            name, _, value = line.partition(": ")
            if name:
                fields[name] = value
            elif "data" in fields:
                self._last_event_id = fields.get("id", self._last_event_id)
                data = json.loads(fields["data"])
                if fields["event"] == "answer":
                    self._apply(data)
                yield fields["event"], data
                fields = {}

    def _apply(self, data: dict[str, Any]) -> None:
        changes = data["hits"]
        known = {} if data["since"] is None else self.hits
        new = {hit["chunk_id"]: hit for hit in changes["added"] + changes["updated"]}
        self.hits = {chunk_id: (known | new)[chunk_id] for chunk_id in changes["chunk_ids"]}


if __name__ == "__main__":
    events_max = int(sys.argv[2]) if len(sys.argv) > 2 else None
    key = {"Authorization": f"Bearer {os.environ['NEARHIT_KEY']}"}
    with httpx2.Client(base_url=os.environ["NEARHIT_URL"], headers=key) as client:
        subscriber = Subscriber(client, sys.argv[1])
        try:
            for event, data in itertools.islice(subscriber.events(), events_max):
                if event == "ended":
                    print("ended:", data["reason"])
                    break
                print(f"revision {data['revision']}:")
                for hit in subscriber.hits.values():
                    print("  ", hit["document_id"], hit["text"])
        finally:
            client.delete(subscriber.path)
