"""Highlights over HTTP: the places of the query's words in the texts that a caller gets."""

from typing import Any

import pytest

from tests.gateway.support.gateways import Caller

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
