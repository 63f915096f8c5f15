"""Asks a gateway questions whose answers are known, with one setting after the other."""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import Any
from urllib.parse import quote

import httpx2
import numpy as np

from gateway.extension import CommandError, refused_call
from gateway.extensions.evaluation import judged_questions, measures
from gateway.extensions.evaluation.judged_questions import HeadedSection, JudgedQuestion
from gateway.extensions.evaluation.measures import Interval, Vector

# Starting values: some 10 ms a document, and 5 ms a page of the list.
DOCUMENTS_MAX = 10_000  # that are read to make questions
_LISTED_MAX = 100_000
_SECTIONS_MAX = 500_000  # of all documents together; some 250 MB
_TOGETHER = 4  # questions under way
_TIMEOUT_S = 60.0
_ATTEMPTS_MAX = 8
_WAIT_S_MAX = 30.0
_BUSY = (429, 503)
_NOT_FOUND = 404


@dataclass(frozen=True, slots=True)
class Setting:
    """fields: of the body of `POST /v1/search`, beside the question and `top_k`."""

    name: str
    fields: Mapping[str, Any]


@dataclass(frozen=True)
class MeasuredSetting:
    """The answers with one setting, in the order of the questions.

    best: the first hit of each answer. values: a row for each question, in the columns of
    `measures.NAMES`.
    """

    setting: Setting
    best: Sequence[str]
    values: Vector

    @cached_property
    def means(self) -> dict[str, Interval]:
        columns = zip(measures.NAMES, self.values.T, strict=True)
        return {name: measures.interval(column) for name, column in columns}

    def gain_over(self, other: "MeasuredSetting") -> Interval:
        """Of nDCG, question by question."""
        return measures.interval(self.values[:, -1] - other.values[:, -1])

    def worst(self, number: int) -> list[int]:
        """The places of the questions with the least nDCG, the least first."""
        return [int(place) for place in np.argsort(self.values[:, -1], kind="stable")[:number]]


@asynccontextmanager
async def gateway(url: str, key: str) -> AsyncIterator[httpx2.AsyncClient]:
    headers = {"Authorization": f"Bearer {key}"}
    async with httpx2.AsyncClient(base_url=url, headers=headers, timeout=_TIMEOUT_S) as client:
        yield client


async def evaluate(
    client: httpx2.AsyncClient,
    questions: Sequence[JudgedQuestion],
    setting: Setting,
    depth: int,
    on_answer: Callable[[], None],
) -> MeasuredSetting:
    """Raises `CommandError` if the gateway refuses a question."""
    answers: list[tuple[str, tuple[float, float, float]]] = [("", (0.0, 0.0, 0.0))] * len(questions)
    left = iter(enumerate(questions))

    async def ask_those_left() -> None:
        for place, question in left:
            body = {"query": question.question, "top_k": depth, **setting.fields}
            answer = await _call(client, "POST", "/v1/search", body)
            best = answer["hits"][0]["document_id"] if answer["hits"] else "no hit"
            answers[place] = best, measures.of_hits(question, answer["hits"], depth)
            on_answer()

    await _together(ask_those_left)
    best, values = zip(*answers, strict=True)
    return MeasuredSetting(setting, best, np.array(values))


async def made_questions(
    client: httpx2.AsyncClient, number: int, begin: Callable[[int], Callable[[], None]]
) -> list[JudgedQuestion]:
    """Make at most `number` questions from headings. Raises `CommandError`.

    The documents are those that the key may read; all parts of their list are used, but no more
    than DOCUMENTS_MAX of them are read.
    begin: gets the number of documents to read; returns a function to call after each.
    """
    found = list[HeadedSection]()
    document_ids = [*judged_questions.spread(await _listed(client), DOCUMENTS_MAX)]
    left, on_document = iter(document_ids), begin(len(document_ids))

    async def read_those_left() -> None:
        for document_id in left:
            answer = await _answer(client, "GET", f"/v1/documents/{quote(document_id)}")
            on_document()
            if answer.status_code == _NOT_FOUND:  # deleted since it was listed
                continue
            document = _content(client, answer)
            all_of_it = judged_questions.sections(document_id, document["text"])
            found.extend(islice(all_of_it, _SECTIONS_MAX - len(found)))

    await _together(read_those_left)
    made = judged_questions.of_sections(found, number)
    if not made:
        raise CommandError(
            "no question can be made: each takes a Markdown heading that only one section has, and "
            f"{judged_questions.PASSAGE_CHARACTERS_MIN} characters of text below it, in a document "
            "that this key may read"
        )
    return made


async def _listed(client: httpx2.AsyncClient) -> list[str]:
    """The identifiers of the first documents that the key may read."""
    document_ids, cursor = list[str](), ""
    while cursor is not None and len(document_ids) < _LISTED_MAX:
        page = await _call(client, "GET", f"/v1/documents?{httpx2.QueryParams(cursor=cursor)}")
        document_ids += [document["document_id"] for document in page["documents"]]
        cursor = page["cursor"]
    return document_ids


async def _together(work: Callable[[], Any]) -> None:
    try:
        async with asyncio.TaskGroup() as tasks:
            for _ in range(_TOGETHER):
                tasks.create_task(work())
    except ExceptionGroup as errors:  # of the first one the others are of no further use
        raise errors.exceptions[0] from None


async def _call(client: httpx2.AsyncClient, method: str, path: str, body: Any = None) -> Any:
    return _content(client, await _answer(client, method, path, body))


async def _answer(
    client: httpx2.AsyncClient, method: str, path: str, body: Any = None
) -> httpx2.Response:
    """Of a gateway that is not busy: else it is asked again."""
    for attempt in range(_ATTEMPTS_MAX):
        try:
            answer = await client.request(method, path, json=body)
        except httpx2.HTTPError as error:
            raise CommandError(f"{client.base_url} is not reachable: {error}") from None
        if answer.status_code not in _BUSY or attempt == _ATTEMPTS_MAX - 1:
            break
        seconds = answer.headers.get("retry-after", "1")
        await asyncio.sleep(min(int(seconds) if seconds.isdecimal() else 1.0, _WAIT_S_MAX))
    return answer


def _content(client: httpx2.AsyncClient, answer: httpx2.Response) -> Any:
    """Raises `CommandError` if it is no JSON, or a refusal."""
    if answer.status_code != 200:
        raise refused_call(client.base_url, answer)
    try:
        return answer.json()
    except ValueError:
        raise CommandError(f"{client.base_url} answers no JSON: is it a gateway?") from None
