"""What `/v1/conversations` refuses, and what its problems name; nothing is stored then."""

from typing import Any

import pytest

from gateway.extensions.conversations.conversation_schemas import (
    SPEAKERS_MAX,
    TURN_CHARACTERS_MAX,
    TURNS_MAX,
)
from gateway.extensions.conversations.stored_session import session_of
from gateway.problems.problems import Problem
from index.model.document import Document
from index.model.document_limits import TEXT_CHARACTERS_MAX, TITLE_CHARACTERS_MAX
from tests.gateway.extensions.conversations.sessions import add, write
from tests.gateway.support.gateways import Caller, problem

pytestmark = pytest.mark.anyio

HELLO = {"speaker": "Ana", "text": "Hello."}


@pytest.mark.parametrize(
    ("fields", "named"),
    [
        ({"at": None}, "at"),
        ({"at": "last Friday"}, "at"),
        ({"at": "0001-01-01"}, "at"),
        ({"at": 20230717}, "at"),
        ({"turns": []}, "turns"),
        ({"turns": [HELLO] * (TURNS_MAX + 1)}, "turns"),
        ({"turns": [HELLO, {"text": "Who says this?"}]}, "turns.1.speaker"),
        ({"turns": [{**HELLO, "speaker": "  "}]}, "turns.0.speaker"),
        ({"turns": [{**HELLO, "speaker": "**Ana**"}]}, "turns.0.speaker"),
        ({"turns": [{**HELLO, "speaker": "A\u202ena"}]}, "turns.0.speaker"),
        ({"turns": [{**HELLO, "speaker": "A\nna"}]}, "turns.0.speaker"),
        ({"turns": [{**HELLO, "text": " \n"}]}, "turns.0.text"),
        ({"turns": [{**HELLO, "text": "x" * (TURN_CHARACTERS_MAX + 1)}]}, "turns.0.text"),
        ({"turns": [{**HELLO, "at": "noon"}]}, "turns.0.at"),
        ({"turns": [{**HELLO, "replaces": {"document_id": "a", "start": 0}}]}, "turns.0.replaces"),
        ({"turns": [{**HELLO, "speaker": f"n{n}"} for n in range(SPEAKERS_MAX + 1)]}, "turns"),
        ({"metadata": {"speakers": ["Bo"]}}, "metadata"),
        ({"readers": ["everybody"]}, "readers.0"),
        ({"text": "as a document"}, "text"),
    ],
)
async def test_a_bad_session_is_refused_by_the_name_of_the_field(
    ana: Caller, fields: dict[str, Any], named: str
) -> None:
    body = {"at": "2023-07-17", "turns": [HELLO], **fields}
    sent = {name: value for name, value in body.items() if value is not None}

    answer = await ana.call("PUT", "/v1/conversations/bad", json=sent)

    assert named in [error["field"] for error in problem(answer, 422)["errors"]]
    assert (await ana.call("GET", "/v1/documents/bad")).status_code == 404


async def test_a_hundred_thousand_turns_are_refused_at_once(ana: Caller) -> None:
    body = {"at": "2023-07-17", "turns": [{"speaker": "A", "text": "b"}] * 100_000}

    problem(await ana.call("PUT", "/v1/conversations/bad", json=body), 413)


async def test_turns_are_added_to_sessions_alone(ana: Caller) -> None:
    await ana.put("page", "No session.")
    await ana.put("fake", "None either.", chunker="turns", metadata={"said_on": "x", "speakers": 1})

    for document_id in ("page", "fake"):
        problem(await add(ana, document_id, "Ana: Hello."), 422)


async def test_a_session_with_too_many_speakers_takes_no_more(ana: Caller) -> None:
    many = [f"Speaker{number}: Hello." for number in range(SPEAKERS_MAX)]
    await write(ana, "crowd", *many)

    problem(await add(ana, "crowd", "Ana: Hello."), 422)

    assert (await add(ana, "crowd", "Speaker7: Hello again.")).status_code == 200
    stored = (await ana.call("GET", "/v1/documents/crowd")).json()
    assert len(stored["title"]) <= TITLE_CHARACTERS_MAX


def test_a_session_that_is_too_long_takes_no_more() -> None:
    text = "**Ana**: " + "x" * (TEXT_CHARACTERS_MAX - 25)
    metadata: dict[str, Any] = {"said_on": "2023-07-17", "speakers": ["Ana"]}
    session = session_of(
        Document("a", "", text, "api", "", "en", (), metadata, None, (), chunker="turns")
    )
    assert session is not None

    assert session.adding(["**Bo**: yes"], ["Bo"]).metadata["speakers"] == ["Ana", "Bo"]
    with pytest.raises(Problem) as refused:
        session.adding(["**Bo**: certainly"], ["Bo"])
    assert [error.field for error in refused.value.errors] == ["turns"]
