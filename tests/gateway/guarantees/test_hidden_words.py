"""What a caller may not read decides none of its answers, nor by the words that correct typos."""

from typing import Any

import pytest

from tests.gateway.auth.test_tokens import narrowed
from tests.gateway.support.gateways import Caller, Gateway

pytestmark = [pytest.mark.anyio]

SEEN = "We met Flarkentzo in the hall."
HIDDEN = "The project Flarkentzu begins."
HIDDEN_WORD = "flarkentzu"


async def answer(caller: Caller, query: str, **fields: Any) -> tuple[Any, list[float]]:
    found = (await caller.search(query, explain=True, **fields)).json()
    return found["corrections"], [hit["score"] for hit in found["hits"]]


@pytest.mark.parametrize(
    "limits", [{"scopes": ["private"]}, {"filter": {"sources": ["wiki"]}}], ids=["scopes", "filter"]
)
async def test_a_token_learns_no_word_of_documents_that_it_leaves_out(
    ana: Caller, ben: Caller, limits: dict[str, Any]
) -> None:
    await ana.put("seen", SEEN, readers=["tenant"], source="wiki")
    token = await narrowed(ana, **limits)
    before = await answer(token, HIDDEN_WORD)
    await ben.put("hidden", HIDDEN, readers=["tenant"], source="mail")

    assert await answer(token, HIDDEN_WORD) == before


async def test_callers_with_words_of_another_group_do_not_share_an_answer(
    gateway: Gateway, ben: Caller
) -> None:
    """A group may get its first word without a new audience: from a document that changes."""
    eve = await gateway.caller("eve", groups=["staff"])
    zoe = await gateway.caller("zoe")
    await ben.put("seen", SEEN, readers=["user:eve", "user:zoe"])
    await eve.put("hidden", "12 34", readers=["group:staff"])
    for caller in (eve, zoe):
        await caller.search("hall", scopes=["shared"])
    await eve.put("hidden", "Flarkentzo begins.", readers=["group:staff"])

    of_member = await answer(eve, "flarkentzx", scopes=["shared"])
    alone = await answer(zoe, "flarkentzx", scopes=["shared"], top_k=9)
    shared = await answer(zoe, "flarkentzx", scopes=["shared"])

    assert of_member[0] == {"flarkentzx": ["flarkentzo"]}
    assert shared == alone
