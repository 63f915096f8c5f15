"""Who gets the cached answer of whom: those who see the same, unless their tenant forbids it."""

import pytest

from tests.gateway.support.gateways import Caller, Gateway, problem

pytestmark = pytest.mark.anyio

LEAVE = "# Leave\n\nEverybody of the team gets 25 days of annual leave a year."
QUESTION = "annual leave"


@pytest.fixture
async def team(gateway: Gateway) -> tuple[Caller, Caller]:
    """Two colleagues with other grants, who see one document, which nobody of them owns."""
    writer = await gateway.caller("writer", groups=["sales"], roles=["writer"])
    await writer.put("leave", LEAVE, readers=["group:sales"])
    ana = await gateway.caller("ana", groups=["sales"], roles=["writer"])
    ben = await gateway.caller("ben", groups=["sales"], roles=["writer"])
    return ana, ben


async def ask(caller: Caller, query: str = QUESTION, **fields: object) -> tuple[bool, bytes]:
    """Whether a cache had the answer, and the answer."""
    answer = await caller.search(query, **fields)
    return "; hit" in answer.headers["cache-status"], answer.content


@pytest.mark.sampled("rrf")
@pytest.mark.parametrize("fusion", ["absolute", "rrf"])
async def test_colleagues_who_see_the_same_share_an_answer(
    gateway: Gateway, other_worker: Gateway, team: tuple[Caller, Caller], fusion: str
) -> None:
    ana, ben = team

    computed = await ask(ana, fusion=fusion)

    assert computed[0] is False
    assert b'"leave"' in computed[1]
    assert await ask(ben, fusion=fusion) == (True, computed[1])
    if fusion == "rrf":  # such answers are in Redis too
        assert await ask(other_worker.as_(ben), fusion=fusion) == (True, computed[1])
    assert await gateway.fills() == 1


async def test_an_owner_shares_with_nobody_to_whom_its_document_shows_otherwise(
    gateway: Gateway,
) -> None:
    ana = await gateway.caller("ana", roles=["writer"])
    ben = await gateway.caller("ben")
    await ana.put("leave", LEAVE, readers=["tenant"])

    (_, own), (is_hit, others) = await ask(ana), await ask(ben)

    assert not is_hit
    assert b'"scope":"private"' in own
    assert b'"scope":"tenant"' in others


async def test_a_first_private_document_ends_the_sharing_and_its_removal_begins_it_again(
    team: tuple[Caller, Caller],
) -> None:
    ana, ben = team
    _, shared = await ask(ana)

    await ben.put("mine", "Annual leave that nobody but Ben may know of.", readers=[])
    is_hit, own = await ask(ben)
    assert (is_hit, b'"mine"' in own) == (False, True)
    assert (await ask(ana))[1] == shared

    await ben.call("DELETE", "/v1/documents/mine")
    assert await ask(ben) == (True, shared)


async def test_a_member_who_leaves_gets_nothing_of_those_who_stay(
    gateway: Gateway, team: tuple[Caller, Caller], admin: Caller
) -> None:
    ana, _ = team
    eve = await gateway.caller("eve")
    await admin.call("PUT", "/v1/groups/sales/members/eve")
    _, shared = await ask(ana)
    assert await ask(eve) == (True, shared)

    await admin.call("DELETE", "/v1/groups/sales/members/eve")

    assert (await ask(eve))[1] == b'{"hits":[]}'
    assert await ask(ana) == (True, shared)


async def test_an_admin_turns_sharing_off_and_on_from_the_next_request_on(
    team: tuple[Caller, Caller], admin: Caller
) -> None:
    ana, ben = team

    async def put(*, shares: bool) -> None:
        answer = await admin.call("PUT", "/v1/shared-answers", json={"shares": shares})
        assert answer.json() == {"shares": shares}
        assert (await admin.call("GET", "/v1/shared-answers")).json() == {"shares": shares}

    assert (await admin.call("GET", "/v1/shared-answers")).json() == {"shares": True}
    await put(shares=False)
    computed = await ask(ana)
    assert await ask(ben) == (False, computed[1])
    assert await ask(ben) == (True, computed[1]), "its own is cached"
    await put(shares=True)
    await ask(ana)
    assert await ask(ben) == (True, computed[1])
    problem(await ana.call("PUT", "/v1/shared-answers", json={"shares": False}), 403)


async def test_similar_questions_share_among_those_who_see_the_same_alone(
    gateway: Gateway, team: tuple[Caller, Caller]
) -> None:
    ana, ben = team
    eve = await gateway.caller("eve")

    await ask(ana, semantic="bounded", fusion="rrf")

    assert (await ask(ben, semantic="bounded", fusion="rrf"))[0]
    assert not (await ask(eve, semantic="bounded", fusion="rrf"))[0]


async def test_a_batch_and_a_tool_are_answered_from_it_too(team: tuple[Caller, Caller]) -> None:
    ana, ben = team
    _, body = await ask(ana)

    batch = await ben.call("POST", "/v1/search/batch", json={"searches": [{"query": QUESTION}]})

    assert batch.content == b'{"answers":[%b]}' % body
    assert "; hit" in batch.headers["cache-status"]


async def test_an_older_answer_that_the_caller_allows_may_be_of_earlier_audiences(
    gateway: Gateway, other_worker: Gateway, team: tuple[Caller, Caller]
) -> None:
    ana, ben = team
    _, before = await ask(ana)
    await ask(ben)

    await other_worker.as_(ben).put("mine", "Annual leave of Ben.", readers=[])

    assert await ask(ben, max_staleness_ms=60_000) == (True, before)
