"""What a gateway answers while it is measured."""

from collections.abc import Callable

import httpx2
import pytest

from common.command_errors import CommandError
from gateway.extensions.evaluation import evaluation

pytestmark = pytest.mark.anyio

LEAVE = "# Leave\n\nEverybody has 25 days of annual leave each year.\n"


def uncounted(_total: int) -> Callable[[], None]:
    return lambda: None


async def test_a_document_that_is_deleted_after_it_was_listed_makes_no_question() -> None:
    def answer(request: httpx2.Request) -> httpx2.Response:
        if request.url.path == "/v1/documents":
            listed = [{"document_id": "deleted"}, {"document_id": "leave"}]
            return httpx2.Response(200, json={"documents": listed, "cursor": None})
        is_there = request.url.path == "/v1/documents/leave"
        return httpx2.Response(200, json={"text": LEAVE}) if is_there else httpx2.Response(404)

    transport = httpx2.MockTransport(answer)
    async with httpx2.AsyncClient(base_url="http://gateway", transport=transport) as client:
        made = await evaluation.made_questions(client, 10, uncounted)

    assert [each.question for each in made] == ["Leave"]


@pytest.mark.thorough
async def test_of_many_documents_some_are_read_from_all_parts_of_the_list_and_counted() -> None:
    documents = [{"document_id": f"{number:06}"} for number in range(2 * evaluation.DOCUMENTS_MAX)]
    read, totals = [], []

    def answer(request: httpx2.Request) -> httpx2.Response:
        if request.url.path == "/v1/documents":
            return httpx2.Response(200, json={"documents": documents, "cursor": None})
        name = request.url.path.removeprefix("/v1/documents/")
        text = f"# Harbour {name}\n\nThe lamps of this harbour are lit at dusk.\n"
        return httpx2.Response(200, json={"text": text})

    def begin(total: int) -> Callable[[], None]:
        totals.append(total)
        return lambda: read.append(1)

    transport = httpx2.MockTransport(answer)
    async with httpx2.AsyncClient(base_url="http://gateway", transport=transport) as client:
        made = await evaluation.made_questions(client, 4, begin)

    assert (totals, len(read)) == ([evaluation.DOCUMENTS_MAX], evaluation.DOCUMENTS_MAX)
    assert [each.question for each in made] == [
        f"Harbour {number:06}" for number in (0, 5_000, 10_000, 15_000)
    ]


async def test_without_headings_it_is_told_what_a_question_takes() -> None:
    transport = httpx2.MockTransport(
        lambda _: httpx2.Response(200, json={"documents": [], "cursor": None})
    )
    async with httpx2.AsyncClient(base_url="http://gateway", transport=transport) as client:
        with pytest.raises(CommandError, match="a Markdown heading that only one section has"):
            await evaluation.made_questions(client, 10, uncounted)


async def test_what_answers_no_json_is_no_gateway() -> None:
    transport = httpx2.MockTransport(lambda _: httpx2.Response(200, html="<p>Welcome</p>"))
    async with httpx2.AsyncClient(base_url="http://gateway", transport=transport) as client:
        with pytest.raises(CommandError, match="http://gateway answers no JSON"):
            await evaluation.made_questions(client, 10, uncounted)
