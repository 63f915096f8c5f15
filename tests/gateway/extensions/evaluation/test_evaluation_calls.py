"""Evaluation over HTTP: questions are made, answers measured, and settings compared."""

from typing import Any

import pytest

from gateway.extensions.evaluation.evaluation_schemas import COMPARED_QUESTIONS_MAX
from tests.gateway.support.gateways import Caller, Gateway, problem
from tests.gateway.support.longest_step import LONG_STEP_S, LongestStep

pytestmark = pytest.mark.anyio

LAMPS = "# Lamps\n\nThe keeper of the harbour lights the lamps of the pier at dusk.\n"
LEAVE = "# Annual leave\n\nEverybody in the company has 25 days of annual leave each year.\n"
QUESTIONS = [
    {"question": "Who lights the lamps?", "documents": ["lamps/a b"]},
    {"question": "How many days of annual leave?", "passage": "25 days"},
    {"question": "Who lights the lamps of the harbour?", "documents": ["never written"]},
]


@pytest.fixture(autouse=True)
async def documents(ana: Caller) -> None:
    await ana.put("lamps/a b", LAMPS)
    await ana.put("leave", LEAVE)


async def measured(caller: Caller, **fields: Any) -> list[dict[str, Any]]:
    body = {"questions": QUESTIONS, **fields}
    answer = await caller.call("POST", "/v1/evaluation/answers", json=body)
    assert answer.status_code == 200, answer.text
    answers = answer.json()["answers"]
    assert isinstance(answers, list)
    return answers


async def test_questions_are_made_of_what_the_caller_may_read(
    ana: Caller, gateway: Gateway
) -> None:
    bo = await gateway.caller("bo")
    await bo.put("secret", "# Secret\n\nOnly Bo may read this text of more than thirty letters.")

    made = await ana.call("POST", "/v1/evaluation/questions", json={"number": 10})
    one = await ana.call("POST", "/v1/evaluation/questions", json={"number": 1})

    assert made.json()["documents"] == 2
    lamps, leave = made.json()["questions"]
    assert (lamps["question"], lamps["documents"]) == ("Lamps", ["lamps/a b"])
    assert leave["passage"].startswith("Everybody in the company")
    assert one.json()["questions"] == [lamps]


async def test_each_answer_is_measured_against_what_is_right(ana: Caller) -> None:
    lamps, leave, never = await measured(ana)

    assert lamps == {"first": "lamps/a b", "recall": 1.0, "mrr": 1.0, "ndcg": 1.0}
    assert leave == {"first": "leave", "recall": 1.0, "mrr": 1.0, "ndcg": 1.0}
    assert never == {"first": "lamps/a b", "recall": 0.0, "mrr": 0.0, "ndcg": 0.0}
    nothing = await measured(ana, search={"filter": {"tags_any": ["no such"]}})
    assert [each["first"] for each in nothing] == [None] * 3


async def test_the_answers_are_those_that_the_caller_may_see(gateway: Gateway) -> None:
    bo = await gateway.caller("bo")

    assert [each["first"] for each in await measured(bo)] == [None] * 3


@pytest.mark.slow
async def test_the_event_loop_is_free_whatever_texts_and_passages_hold(gateway: Gateway) -> None:
    bo = await gateway.caller("bo")
    for number in range(2):
        sections = (f"# {number}.{each}\n{'harbour ' * 4}\n" for each in range(5_000))
        await bo.put(f"long-{number}", "".join(sections), chunker="characters:4000")
    judged = {"question": "harbour", "passage": "no such words"}

    async with LongestStep() as step:
        made = await bo.call("POST", "/v1/evaluation/questions", json={"number": 200})
    assert len(made.json()["questions"]) == 200
    assert step.seconds < LONG_STEP_S

    body = {"questions": [judged] * 32, "top_k": 100}
    await bo.call("POST", "/v1/evaluation/answers", json=body)  # which fills the cache
    async with LongestStep() as step:
        answers = await bo.call("POST", "/v1/evaluation/answers", json=body)
    assert len(answers.json()["answers"]) == 32
    assert step.seconds < LONG_STEP_S


@pytest.mark.slow
async def test_a_long_setting_is_read_once_for_all_questions(ana: Caller) -> None:
    values = [[f"{'z' * 480}{key} {number}" for number in range(16)] for key in range(60)]
    parts = [{"type": "in", "key": f"k{key}", "value": of_key} for key, of_key in enumerate(values)]
    search = {"filter": {"attributes": {"type": "and", "filters": parts}}}
    questions = [{"question": f"leave {number}", "documents": ["leave"]} for number in range(32)]

    async with LongestStep() as step:
        answers = await measured(ana, questions=questions, search=search)

    assert len(answers) == len(questions)
    assert step.seconds < LONG_STEP_S


@pytest.mark.parametrize(
    ("search", "field"),
    [
        ({"alpha": 7}, "alpha"),
        ({"no_such": 1}, "no_such"),
        ({"query": "another"}, "search.query"),
        ({"vector": [1.0]}, "search.vector"),
        ({"history": []}, "search"),
    ],
)
async def test_a_setting_that_no_search_has_is_refused(
    ana: Caller, search: dict[str, Any], field: str
) -> None:
    body = {"questions": QUESTIONS, "search": search}

    refused = problem(await ana.call("POST", "/v1/evaluation/answers", json=body), 422)

    assert [error["field"] for error in refused["errors"]] == [field]


async def test_a_question_without_an_answer_is_refused(ana: Caller) -> None:
    body = {"questions": [*QUESTIONS, {"question": "Why?"}]}

    refused = problem(await ana.call("POST", "/v1/evaluation/answers", json=body), 422)

    assert [error["field"] for error in refused["errors"]] == ["questions.3"]
    assert "give documents, a passage, or both" in refused["errors"][0]["detail"]


async def test_settings_are_compared_with_the_first(ana: Caller) -> None:
    values = {"recall": [1, 1, 0], "mrr": [1, 1, 0], "ndcg": [1, 1, 0]}
    worse = {**values, "ndcg": [0, 0, 0]}

    answer = await ana.call(
        "POST", "/v1/evaluation/comparison", json={"settings": [values, values, worse]}
    )

    first, same, last = answer.json()["settings"]
    assert first["gain"] is None
    assert first["recall"]["mean"] == pytest.approx(2 / 3)
    assert first["recall"]["low"] < 2 / 3 < first["recall"]["high"]
    assert same["gain"] == {"mean": 0.0, "low": 0.0, "high": 0.0}
    assert last["gain"]["mean"] == pytest.approx(-2 / 3)


@pytest.mark.parametrize("values", [[], [1] * (COMPARED_QUESTIONS_MAX + 1)])
async def test_too_many_values_or_none_are_refused(ana: Caller, values: list[int]) -> None:
    setting = {"recall": values, "mrr": values, "ndcg": values}

    for settings in ([setting], [setting, {**setting, "mrr": [1, 1]}]):
        body = {"settings": settings}
        problem(await ana.call("POST", "/v1/evaluation/comparison", json=body), 422)
