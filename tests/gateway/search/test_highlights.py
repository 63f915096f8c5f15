"""Highlights over HTTP: the places of the query's words in the texts that a caller gets."""

from typing import Any

import pytest

from tests.gateway.support.gateways import Caller, Gateway, problem

pytestmark = [pytest.mark.anyio, pytest.mark.redis]

LEAVE = "# Leave\n\nEverybody gets 25 days of annual leave a year."


def marked(hit: dict[str, Any]) -> list[str]:
    return [hit["text"][one["start"] : one["end"]] for one in hit["highlights"]]


async def test_a_hit_marks_the_words_of_the_query_if_it_is_asked_to(ana: Caller) -> None:
    await ana.put("leave", LEAVE)

    (plain,) = (await ana.search("leaves")).json()["hits"]
    (hit,) = (await ana.search("leaves", highlights=True)).json()["hits"]

    assert marked(hit) == ["Leave", "leave"]
    assert "highlights" not in plain
    assert {**plain, "highlights": hit["highlights"]} == hit


async def test_a_hit_marks_the_word_that_a_typo_stands_for_also_in_its_neighbours(
    ana: Caller,
) -> None:
    text = " ".join(f"The lighthouse of harbour {number} is red." for number in range(20))
    await ana.put("lights", text, chunker="characters:200", readers=["tenant"])

    hits = (await ana.search("lihgthouse", highlights=True, expand=True)).json()["hits"]

    assert hits
    for hit in hits:
        assert marked(hit) == ["lighthouse"] * hit["text"].count("lighthouse")


EMOJI = "😀😀 Everybody gets 25 days of annual leave 👩🏽\u200d💻 a year, or 𐍈 leave."


async def test_a_browser_gets_the_places_of_its_own_strings_from_a_warm_cache_too(
    ana: Caller,
) -> None:
    await ana.put("leave", EMOJI, readers=["tenant"])

    def sliced(hit: dict[str, Any]) -> list[str]:
        units = hit["text"].encode("utf-16-le")
        places = [(2 * one["start"], 2 * one["end"]) for one in hit["highlights"]]
        return [units[start:end].decode("utf-16-le") for start, end in places]

    for _ in range(2):
        (points,) = (await ana.search("annual leave", highlights=True)).json()["hits"]
        utf16 = await ana.search("annual leave", highlights=True, highlight_units="utf16")
        (units,) = utf16.json()["hits"]

        assert marked(points) == sliced(units) == ["annual", "leave", "leave"]
    assert "; hit" in utf16.headers["cache-status"]


async def test_a_unit_alone_makes_no_other_answer(gateway: Gateway, ana: Caller) -> None:
    await ana.put("leave", LEAVE)
    await ana.search("leaves")
    fills = await gateway.fills()

    answer = await ana.search("leaves", highlight_units="utf16")

    assert "highlights" not in answer.json()["hits"][0]
    assert await gateway.fills() == fills


async def test_another_unit_is_refused(ana: Caller) -> None:
    body = {"query": "leaves", "highlights": True, "highlight_units": "bytes"}
    answer = await ana.call("POST", "/v1/search", json=body)

    assert problem(answer, 422)["errors"][0]["field"] == "highlight_units"
