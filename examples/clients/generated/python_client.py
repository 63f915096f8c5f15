"""Writes, searches and subscribes with a client that `openapi-python-client` has generated.

curl -s "$NEARHIT_URL/openapi.json" -o openapi.json
openapi-python-client generate --path openapi.json --config openapi-python-client.yaml \
    --meta none --output-path nearhit_client
NEARHIT_URL=http://127.0.0.1:8080 NEARHIT_KEY=… python python_client.py
"""

import json
import os
from collections.abc import Iterator

from nearhit_client import AuthenticatedClient
from nearhit_client.api.documents import delete_document, put_document
from nearhit_client.api.search import search, search_plan
from nearhit_client.api.subscriptions import create_subscription, delete_subscription
from nearhit_client.models import (
    AnswerEventData,
    DeliverWithWebhookBody,
    DeliverWithWebhookBodyHits,
    DocumentBody,
    ReferenceBody,
    SearchAnswer,
    SearchBody,
    SearchPlanAnswer,
    SearchPlanBody,
    SearchStepBody,
    StepFilterBody,
    SubscriptionAnswer,
    SubscriptionBody,
    WrittenAnswer,
)

LEAVE = "Everybody gets 25 days of annual leave."
QUERY = "how many days of annual leave?"


def main(client: AuthenticatedClient) -> None:
    written = put_document.sync("generated/leave", client=client, body=DocumentBody(text=LEAVE))
    assert isinstance(written, WrittenAnswer), written
    try:
        answer = search.sync(client=client, body=SearchBody(query=QUERY, top_k=1))
        assert isinstance(answer, SearchAnswer), answer
        print("search:", answer.hits[0].document_id, answer.hits[0].text)

        plan = search_plan.sync(client=client, body=_plan())
        assert isinstance(plan, SearchPlanAnswer), plan
        print("plan:", [(step.name, step.answer.hits[0].document_id) for step in plan.steps])

        body = SubscriptionBody(
            search=SearchBody(query=QUERY),
            deliver=DeliverWithWebhookBody(hits=DeliverWithWebhookBodyHits.CHANGES),
        )
        subscription = create_subscription.sync(client=client, body=body)
        assert isinstance(subscription, SubscriptionAnswer), subscription
        event = next(_events(client, subscription.id))
        assert event.hits, "the subscription asks for them"
        print("event:", event.number, [hit.document_id for hit in event.hits.added])
        delete_subscription.sync_detailed(subscription.id, client=client)
    finally:
        delete_document.sync("generated/leave", client=client)


def _plan() -> SearchPlanBody:
    within = StepFilterBody(documents=ReferenceBody(from_="leave.document_ids"))
    return SearchPlanBody(
        steps=[
            SearchStepBody(name="leave", query=QUERY),
            SearchStepBody(name="days", query="25 days", filter_=within),
        ]
    )


def _events(client: AuthenticatedClient, subscription_id: str) -> Iterator[AnswerEventData]:
    """The generated client reads no streams, so this reads the lines of the stream itself."""
    path = f"/v1/subscriptions/{subscription_id}/events"
    with client.get_httpx_client().stream("GET", path, timeout=60) as response:
        for line in response.iter_lines():
            if line.startswith("data: "):
                yield AnswerEventData.from_dict(json.loads(line.removeprefix("data: ")))


if __name__ == "__main__":
    key = os.environ["NEARHIT_KEY"]
    with AuthenticatedClient(base_url=os.environ["NEARHIT_URL"], token=key) as nearhit:
        main(nearhit)
