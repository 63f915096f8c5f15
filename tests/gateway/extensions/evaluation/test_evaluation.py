"""What a gateway answers while it is measured."""

import httpx2
import pytest

from gateway.errors import CommandError
from gateway.extensions.evaluation import evaluation

pytestmark = pytest.mark.anyio

LEAVE = "# Leave\n\nEverybody has 25 days of annual leave each year.\n"


async def test_a_document_that_is_deleted_after_it_was_listed_makes_no_question() -> None:
    def answer(request: httpx2.Request) -> httpx2.Response:
        if request.url.path == "/v1/documents":
            listed = [{"document_id": "deleted"}, {"document_id": "leave"}]
            return httpx2.Response(200, json={"documents": listed, "cursor": None})
        is_there = request.url.path == "/v1/documents/leave"
        return httpx2.Response(200, json={"text": LEAVE}) if is_there else httpx2.Response(404)

    transport = httpx2.MockTransport(answer)
    async with httpx2.AsyncClient(base_url="http://gateway", transport=transport) as client:
        made = await evaluation.made_questions(client, 10)

    assert [each.question for each in made] == ["Leave"]


async def test_what_answers_no_json_is_no_gateway() -> None:
    transport = httpx2.MockTransport(lambda _: httpx2.Response(200, html="<p>Welcome</p>"))
    async with httpx2.AsyncClient(base_url="http://gateway", transport=transport) as client:
        with pytest.raises(CommandError, match="http://gateway answers no JSON"):
            await evaluation.made_questions(client, 10)
