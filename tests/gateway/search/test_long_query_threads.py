"""A long query is analysed while the steps of other tenants go on."""

import pytest

from tests.gateway.support.gateways import Caller
from tests.gateway.support.longest_step import LONG_STEP_S, LongestStep

pytestmark = pytest.mark.anyio

CHARACTERS = 1_990
LANGUAGES = ("de", "en", "es", "fr", "it", "pt")
QUERIES = {
    "ideographs": "".join(chr(0x4E00 + number) for number in range(CHARACTERS)),
    "Thai": "".join(chr(0x0E01 + number * 7 % 46) for number in range(CHARACTERS)),
    "numbers": " ".join(f"w{10**9 - number * 7_919}" for number in range(180)),
}


@pytest.mark.parametrize("query", QUERIES.values(), ids=QUERIES)
async def test_a_long_query_is_analysed_beside_the_event_loop(ana: Caller, query: str) -> None:
    for language in LANGUAGES:  # its words are read in each
        await ana.put(f"leave-{language}", "Annual leave.", language=language)
    await ana.search("leave " * 60)  # loads what the first one needs

    async with LongestStep() as step:
        answer = await ana.search(query[:CHARACTERS])

    assert answer.status_code == 200
    assert step.seconds < LONG_STEP_S
