"""`nearhit evaluate`: a gateway's answers against known ones, over HTTP."""

import json
from pathlib import Path

import pytest

from tests.gateway.support.commands import command, refused, succeeds
from tests.gateway.support.gateways import Caller, Gateway

pytestmark = [pytest.mark.anyio, pytest.mark.blocking, pytest.mark.slow]

LAMPS = "# Lamps\n\nThe keeper of the harbour lights the lamps of the pier at dusk.\n"
LEAVE = "# Annual leave\n\nEverybody in the company has 25 days of annual leave each year.\n"


@pytest.fixture
async def environment(ana: Caller) -> dict[str, str]:
    await ana.put("lamps/a b", LAMPS)
    await ana.put("leave", LEAVE)
    return {"NEARHIT_URL": str(ana.client.base_url), "NEARHIT_KEY": ana.key or ""}


@pytest.fixture
def questions(tmp_path: Path) -> str:
    file = tmp_path / "questions.jsonl"
    lines = [
        {"question": "Who lights the lamps?", "documents": ["lamps/a b"]},
        {"question": "How many days of annual leave?", "passage": "25 days"},
        {"question": "Who lights the lamps of the harbour?", "documents": ["never written"]},
    ]
    file.write_text("\n".join(map(json.dumps, lines)))
    return str(file)


@pytest.mark.thorough
async def test_settings_are_measured_side_by_side_and_the_worst_question_is_first(
    environment: dict[str, str], questions: str
) -> None:
    nothing_found = 'filter={"tags_any": ["no such"]} rerank=false'
    options = ("--against", "alpha=0.0", "--against", nothing_found, "--json")

    said = json.loads(await succeeds(environment, "evaluate", questions, *options))

    as_it_is, words, nothing = said["settings"]
    assert as_it_is["recall"]["mean"] == pytest.approx(2 / 3)
    assert as_it_is["gain"] is None
    assert words["fields"] == {"alpha": 0.0}
    assert words["ndcg"]["mean"] == pytest.approx(2 / 3)
    assert words["gain"] == {"mean": 0.0, "low": 0.0, "high": 0.0}
    assert nothing["fields"] == {"filter": {"tags_any": ["no such"]}, "rerank": False}
    assert nothing["mrr"]["mean"] == 0.0
    assert nothing["gain"]["mean"] == pytest.approx(-2 / 3)
    assert said["worst"][0]["documents"] == ["never written"]
    assert said["worst"][0]["first"] == "lamps/a b"


async def test_people_get_a_table_and_a_budget_that_is_missed_is_told(
    environment: dict[str, str], questions: str
) -> None:
    options = ("evaluate", questions, "--at-least", "recall=0.66")
    held = await succeeds(environment, *options)
    missed = await command(environment, *options, "--at-least", "mrr=0.7")

    assert "3 questions" in held
    assert "recall@10" in held
    assert "0.667 (" in held
    assert missed.exit_code == 1
    assert missed.stderr == "mrr is 0.667, and has to be 0.7 at least\n"


@pytest.mark.thorough
async def test_questions_are_made_of_the_headings_that_the_key_may_read(
    environment: dict[str, str], gateway: Gateway, tmp_path: Path
) -> None:
    bo = await gateway.caller("bo")
    await bo.put("secret", "# Secret\n\nOnly Bo may read this text of more than thirty letters.")
    saved = tmp_path / "made.jsonl"

    options = ("evaluate", "--make", "10", "--save", str(saved), "--json")
    said = await succeeds(environment, *options)

    made = [json.loads(line) for line in saved.read_text().splitlines()]
    assert [each["question"] for each in made] == ["Lamps", "Annual leave"]
    assert json.loads(said)["settings"][0]["recall"]["mean"] == 1.0
    again = await succeeds(environment, "evaluate", str(saved), "--json")
    assert json.loads(again) == json.loads(said)


async def test_questions_that_were_made_are_kept_if_the_gateway_refuses_a_setting(
    environment: dict[str, str], tmp_path: Path
) -> None:
    saved = tmp_path / "made.jsonl"

    options = ("--make", "10", "--save", str(saved), "--against", "alpha=7")
    await refused(environment, "evaluate", *options)

    assert len(saved.read_bytes().splitlines()) == 2


@pytest.mark.thorough
async def test_no_control_character_of_a_question_reaches_the_terminal(
    environment: dict[str, str], tmp_path: Path
) -> None:
    file = tmp_path / "questions.jsonl"
    file.write_text(json.dumps({"question": "Who\x1b]0;x\x07?", "documents": ["\x9bx"]}))

    said = await succeeds(environment, "evaluate", str(file))

    assert "Who\ufffd]0;x\ufffd?" in said
    assert "right: \ufffdx" in said


@pytest.mark.parametrize("name", ["evaluate", "mcp"])
@pytest.mark.parametrize("key", ["nh_secret\nnh_other", "nh_secr\u00e9t", ""])
async def test_a_key_that_no_request_can_carry_is_refused_and_not_repeated(
    name: str, key: str
) -> None:
    said = await refused({"NEARHIT_KEY": key}, name)

    assert "NEARHIT_KEY" in said
    assert "nh_" not in said


@pytest.mark.thorough
async def test_what_is_wrong_is_one_line(environment: dict[str, str], questions: str) -> None:
    wrong = {"NEARHIT_KEY": "nh_wrong"}
    nowhere = {"NEARHIT_URL": "http://127.0.0.1:9"}

    assert "answers 401: The key is missing" in await refused(
        environment | wrong, "evaluate", questions
    )
    assert "is not reachable" in await refused(environment | nowhere, "evaluate", questions)
    assert "alpha: Input should be less than or equal to 1" in await refused(
        environment, "evaluate", questions, "--against", "alpha=7"
    )
    for words, reason in (
        (["--against", "top_k=3"], "top_k=3 is no NAME=VALUE"),
        (["--at-least", "map=0.5"], "give one of recall, mrr, ndcg"),
        (["--at-least", "ndcg=7"], "a number from 0 to 1"),
        (["--against", "alpha=0.1 alpha=0.2"], "alpha is given twice"),
        (["--against", "alpha=NaN"], "alpha: Input should be a valid number"),
        (["--against", "alpha=1e999"], "alpha: Input should be a valid number"),
        (["--against", "filter=" + "[" * 5_000], "filter: Input should be an object"),
        (["--against", "language=\ud800"], "--against must be one line of UTF-8"),
        (["--make", "3"], "give a file of questions, or --make"),
        (["--save", "made.jsonl"], "--save needs --make"),
        (["--url", "http://127.0.0.1:99999"], "NEARHIT_URL must be http://HOST:PORT"),
        (["--url", "http://[::1"], "NEARHIT_URL is no URL"),
    ):
        assert reason in await refused(environment, "evaluate", questions, *words)
    assert "give a file of questions" in await refused(environment, "evaluate")
