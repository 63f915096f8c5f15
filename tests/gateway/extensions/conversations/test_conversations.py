"""`/v1/conversations`: sessions whose turns are found singly, shared and deleted as documents."""

import asyncio

import pytest

from tests.gateway.extensions.conversations.sessions import add, hits, said, write
from tests.gateway.support.gateways import Caller, Gateway, problem

pytestmark = pytest.mark.anyio

WEEKEND = (
    "Ana: What did you do at the weekend?",
    "Bo: We went to the coast yesterday.",
    "Ana: Lovely. I painted the kitchen last week.",
    "Bo: Which colour?",
    "Ana: Yellow.",
)


async def test_a_turn_is_found_by_itself_and_shown_with_its_neighbours(ana: Caller) -> None:
    await write(ana, "weekend", *WEEKEND, language="en")

    (best, *_) = await hits(ana, "coast", top_k=1)
    (around,) = await said(ana, "coast", top_k=1, expand="neighbours")

    assert best["text"] == "**Bo**: We went to the coast yesterday [2023-07-16]."
    assert best["title"] == "2023-07-17, Ana, Bo"
    assert [line.partition(":")[0] for line in around.split("\n\n")] == [
        "**Ana**",
        "**Bo**",
        "**Ana**",
    ]


async def test_an_answer_is_found_by_what_was_asked(ana: Caller) -> None:
    await write(ana, "weekend", *WEEKEND, language="en")

    found = await said(ana, "Which colour?", top_k=2)

    assert "**Ana**: Yellow." in found


async def test_what_a_speaker_says_comes_before_what_another_says_alike(ana: Caller) -> None:
    alike = ("Ana: I play the cello.", "Bo: Nice.", "Bo: I play the cello too.", "Ana: Good.")
    await write(ana, "music", *alike, language="en")

    assert (await said(ana, "What does Ana play?"))[0].startswith("**Ana**: I play")
    assert (await said(ana, "What does Bo play?"))[0].startswith("**Bo**: I play")


async def test_a_time_in_words_is_asked_for_by_its_date(ana: Caller) -> None:
    await write(ana, "july", "Ana: I bought a piano two days ago.", language="en")
    await write(ana, "june", "Ana: I bought a harp last month.", language="en")

    assert "piano" in (await said(ana, "What was bought on 15 July 2023?"))[0]
    assert "harp" in (await said(ana, "What was bought in June 2023?"))[0]


async def test_a_turn_has_its_own_time_if_it_names_one(ana: Caller) -> None:
    turn = {"speaker": "Ana", "text": "I ran yesterday.", "at": "2023-07-18T00:10:00+02:00"}
    body = {"at": "2023-07-17T23:50:00+02:00", "turns": [turn]}

    await ana.call("PUT", "/v1/conversations/run", json=body)

    (hit,) = await hits(ana, "ran", metadata=True)
    assert hit["text"] == "**Ana** 2023-07-18T00:10:00+02:00: I ran yesterday [2023-07-17]."
    assert hit["metadata"] == {
        "said_at": "2023-07-17T21:50:00+00:00",
        "said_on": "2023-07-17",
        "speakers": ["Ana"],
    }


async def test_sessions_are_chosen_by_speaker_and_day(ana: Caller) -> None:
    await write(ana, "one", "Ana: The cello is old.", at="2023-05-01")
    await write(ana, "two", "Bo: The cello is new.", at="2023-06-01")
    later = {"type": "gte", "key": "said_on", "value": "2023-06-01"}

    assert await ana.found("cello", filter={"metadata": {"speakers": ["Ana"]}}) == ["one"]
    assert await ana.found("cello", filter={"attributes": later}) == ["two"]


async def test_an_added_turn_embeds_one_chunk_and_is_in_the_next_answer(ana: Caller) -> None:
    await write(ana, "weekend", *WEEKEND, language="en")
    assert not any("harbour" in text for text in await said(ana, "harbour"))

    written = (await add(ana, "weekend", "Caro: The harbour was closed.")).json()

    assert written["chunks"] == {"added": 1, "unchanged": 5, "removed": 0, "embedded": 1}
    (best, *_) = await hits(ana, "harbour")
    assert best["text"] == "**Caro**: The harbour was closed."
    assert best["title"] == "2023-07-17, Ana, Bo, Caro"


async def test_a_changed_turn_embeds_itself_and_the_next_one(ana: Caller) -> None:
    await write(ana, "weekend", *WEEKEND, language="en")

    changed = (*WEEKEND[:2], "Ana: Lovely. I painted the hall.", *WEEKEND[3:])
    written = await write(ana, "weekend", *changed, language="en")

    assert written["chunks"] == {"added": 2, "unchanged": 3, "removed": 2, "embedded": 2}


async def test_turns_added_at_once_by_two_callers_are_all_kept(ana: Caller) -> None:
    await write(ana, "chat", "Ana: Let us count.")

    await asyncio.gather(*(add(ana, "chat", f"Bo: Number {each}.") for each in range(5)))

    stored = (await ana.call("GET", "/v1/documents/chat")).json()
    assert sorted(stored["text"].split("\n\n")[1:]) == [f"**Bo**: Number {n}." for n in range(5)]


async def test_a_session_has_readers_and_an_end_as_any_document(
    ana: Caller, gateway: Gateway
) -> None:
    bo = await gateway.caller("bo")
    await write(ana, "secret", "Ana: The cello is hidden.")
    assert await bo.found("cello") == []

    await ana.share("secret", "user:bo")
    assert await bo.found("cello") == ["secret"]
    await add(ana, "secret", "Ana: The harp is hidden too.")
    assert "harp" in (await said(bo, "harp"))[0]

    await ana.call("DELETE", "/v1/documents/secret")
    assert await bo.found("cello") == []


async def test_only_who_may_change_a_session_adds_to_it(ana: Caller, gateway: Gateway) -> None:
    bo, reader = await gateway.caller("bo"), await gateway.caller("eva", roles=["reader"])
    await write(ana, "secret", "Ana: The cello is hidden.")

    hidden = problem(await add(bo, "secret", "Bo: Found it."), 404)
    missing = problem(await add(bo, "nothing", "Bo: Found it."), 404)
    await ana.share("secret", "tenant")

    assert hidden["detail"] == missing["detail"]
    problem(await add(bo, "secret", "Bo: Found it."), 403)
    problem(await add(reader, "secret", "Eva: Found it."), 403)
    body = {"at": "2023-07-17", "turns": [{"speaker": "Bo", "text": "Mine."}]}
    problem(await bo.call("PUT", "/v1/conversations/secret", json=body), 403)


async def test_turns_are_added_to_what_the_caller_has_read(ana: Caller) -> None:
    await write(ana, "chat", "Ana: Hello.")
    etag = (await ana.call("GET", "/v1/documents/chat")).headers["ETag"]

    assert (await add(ana, "chat", "Bo: Hi.", headers={"If-Match": etag})).status_code == 200
    problem(await add(ana, "chat", "Bo: Hi.", headers={"If-Match": etag}), 412)


async def test_names_from_right_to_left_and_names_of_two_are_kept(ana: Caller) -> None:
    await write(
        ana,
        "rtl",
        "דנה: קניתי פסנתר אתמול.",
        "\u0645\u06cc\u200c\u0646\u0627: Where?",
        "Ana: I, Ana, ask too.",
    )

    stored = (await ana.call("GET", "/v1/documents/rtl")).json()

    assert stored["metadata"]["speakers"] == ["דנה", "\u0645\u06cc\u200c\u0646\u0627", "Ana"]
    assert (await said(ana, "פסנתר"))[0].startswith("**דנה**: ")


async def test_a_turn_may_have_paragraphs_and_still_is_one(ana: Caller) -> None:
    turn = {"speaker": "Ana", "text": "One.\r\n\r\nTwo.\r\r \n Three.\u2028\n\nFour."}

    answer = await ana.call(
        "PUT", "/v1/conversations/long", json={"at": "2023-07-17", "turns": [turn]}
    )

    assert answer.json()["chunks"]["added"] == 1
