"""How long an answer takes tells nobody what others have asked, nor what others have."""

import re
import secrets
import time
from collections import Counter
from collections.abc import Sequence
from itertools import cycle, islice, permutations
from string import ascii_lowercase

import orjson
import pytest

from gateway.settings.settings import Settings
from tests.gateway.support.gateways import Caller, Gateway

pytestmark = [pytest.mark.anyio, pytest.mark.slow]

TRIALS = 150
# The share's standard error is 1 / sqrt(6 * TRIALS), 0.033: by chance alone one in 10,000 is so far
# off. What a cache gives takes half the time of a search, and is off by 0.4 and more.
DISTANCE_MAX = 0.13

# Beside these there is what is written down now and then, whoever asks.
_WORK = re.compile(
    r'^nearhit_(sql_statement_duration_seconds_count\{statement="(?:search|search_documents|vocabulary)\.[^}]*\}'
    r"|cache_(?:lookups|events)_total\{[^}]*\}) (\S+)$",
    re.MULTILINE,
)


def share_slower(these: Sequence[float], those: Sequence[float]) -> float:
    """How often one of these is greater than one of those: a half if nothing tells them apart."""
    return sum(this > that for this in these for that in those) / (len(these) * len(those))


async def seconds(caller: Caller, method: str, path: str, body: object = None) -> float:
    started_s = time.perf_counter()
    await caller.call(method, path, json=body)
    return time.perf_counter() - started_s


async def work(gateway: Gateway) -> Counter[str]:
    """What the worker has done by now: statements, answers by tier, what befell its caches."""
    told = (await gateway.client.get("/metrics")).text
    return Counter({name: round(float(value)) for name, value in _WORK.findall(told)})


def question() -> str:
    """With a word that no language knows, and the tenant neither."""
    return f"the holiday of {''.join(secrets.choice(ascii_lowercase) for _ in range(12))}"


@pytest.fixture
def settings(settings: Settings) -> Settings:
    """No audits, which are at random times and count as work."""
    return settings.model_copy(update={"cache_audit_per_mille": 0.0})


@pytest.fixture
async def both(gateway: Gateway) -> tuple[Caller, Caller]:
    """Two people of a tenant who see different documents, on one worker."""
    ana, eve = await gateway.caller("ana"), await gateway.caller("eve")
    await write_holidays(ana, "Ana")
    await write_holidays(eve, "Eve")
    return ana, eve


async def write_holidays(caller: Caller, name: str) -> None:
    lines = [
        {
            "document_id": f"{name.lower()}'s {number}",
            "text": f"Holiday {number} of {name}'s.",
            "readers": [],
        }
        for number in range(50)
    ]
    answer = await caller.call(
        "POST", "/v1/documents/batch", content=b"\n".join(map(orjson.dumps, lines))
    )
    assert answer.status_code == 200, answer.text
    assert b"status" not in answer.content  # of a line that is refused


@pytest.mark.sampled("bounded")
@pytest.mark.isolated
@pytest.mark.parametrize("semantic", ["off", "bounded"])
async def test_a_question_that_somebody_else_has_asked_is_work_as_any_other(
    gateway: Gateway, both: tuple[Caller, Caller], semantic: str
) -> None:
    ana, eve = both
    await eve.search(question(), semantic=semantic)  # by which the worker reads what she sees
    of_asked, of_new = Counter[str](), Counter[str]()
    for _ in range(20):
        asked, new = question(), question()
        await ana.search(asked, semantic=semantic)
        for text, counted in ((asked, of_asked), (new, of_new)):
            before = await work(gateway)
            await eve.search(text, semantic=semantic)
            counted.update(await work(gateway) - before)

    assert of_asked == of_new
    assert of_new['cache_lookups_total{tier="miss"}'] == 20


@pytest.mark.thorough
async def test_a_question_that_somebody_else_has_asked_takes_as_long_as_any_other(
    gateway: Gateway, both: tuple[Caller, Caller]
) -> None:
    """Of words that the process has met: their stems are remembered for all, and save 30 µs."""
    ana, eve = both
    tenant = f"other-{secrets.token_hex(6)}"
    await gateway.tenant(tenant)
    zoe = await gateway.caller("zoe", tenant=tenant)
    asked_s, new_s, own_s = list[float](), list[float](), list[float]()
    for number in range(TRIALS):
        asked, new = question(), question()
        for text in (asked, new):
            await zoe.search(text, language="en")
        await ana.search(asked)
        turns = [(asked, asked_s), (new, new_s)]
        for text, taken_s in turns if number % 2 else reversed(turns):
            taken_s.append(await seconds(eve, "POST", "/v1/search", {"query": text}))
        own_s.append(await seconds(eve, "POST", "/v1/search", {"query": new}))

    assert share_slower(new_s, asked_s) == pytest.approx(0.5, abs=DISTANCE_MAX)
    assert share_slower(new_s, own_s) > 0.5 + DISTANCE_MAX  # else it would be blind


async def test_a_document_that_one_may_not_see_takes_as_long_as_one_that_is_not_there(
    gateway: Gateway, both: tuple[Caller, Caller]
) -> None:
    """Of names that are spelled alike: a space in one takes 15 µs more to read, whoever asks."""
    _, eve = both
    tenant = f"other-{secrets.token_hex(6)}"
    await gateway.tenant(tenant)
    zoe = await gateway.caller("zoe", tenant=tenant)
    await zoe.put("zoe's 7", "A secret of another tenant. " * 1000)
    hidden_s, others_s, none_s = list[float](), list[float](), list[float]()
    turns = [("ana's 7", hidden_s), ("zoe's 7", others_s), ("ida's 7", none_s)]
    for order in islice(cycle(permutations(turns)), TRIALS):
        for document_id, taken_s in order:
            taken_s.append(await seconds(eve, "GET", f"/v1/documents/{document_id}"))

    for taken_s in (hidden_s, others_s):
        assert share_slower(taken_s, none_s) == pytest.approx(0.5, abs=DISTANCE_MAX)
