"""Web tokens of another issuer, checked by keys that it publishes over real HTTP."""

import asyncio
import base64
import hashlib
import hmac
import time
from collections.abc import AsyncIterator
from typing import Any

import httpx2
import jwt
import orjson
import pytest
from pydantic import SecretStr

from common import background_tasks
from common.command_errors import CommandError
from gateway.extensions.web_tokens import jwks_client, web_tokens
from gateway.problems.problems import Problem
from gateway.settings.settings import Settings
from index.search.query_embedder import Embedder
from tests.gateway.servers.token_issuer import ALGORITHMS, AUDIENCE, ISSUER, Issuer, issuing
from tests.gateway.support.gateways import Caller, Gateway, problem, running

pytestmark = [pytest.mark.anyio, pytest.mark.isolated]

LEAVE = "# Leave\n\nEverybody gets 25 days of annual leave a year."
SECRET = "a secret of at least thirty-two characters"
LONG_AGO, LONG_FROM_NOW = 1_577_836_800, 4_102_444_800  # 2020, 2100
SEARCH = {"query": "annual leave"}


@pytest.fixture
async def issuer() -> AsyncIterator[Issuer]:
    async with issuing() as made:
        yield made


@pytest.fixture
def settings(settings: Settings, issuer: Issuer) -> Settings:
    return settings.model_copy(
        update={
            "jwt_jwks_url": issuer.url,
            "jwt_issuer": ISSUER,
            "jwt_audience": AUDIENCE,
            "staleness_s_max": 60.0,
        }
    )


def bearer(gateway: Gateway, token: str) -> Caller:
    return Caller(gateway.client, token)


async def refused(gateway: Gateway, token: str, why: str = "") -> None:
    answer = await bearer(gateway, token).call("POST", "/v1/search", json=SEARCH)
    assert why in problem(answer, 401)["detail"]


def anas() -> dict[str, Any]:
    exp = int(time.time()) + 300
    return {"iss": ISSUER, "aud": AUDIENCE, "sub": "ana", "tenant": "acme", "exp": exp}


def part(value: Any) -> str:
    return base64.urlsafe_b64encode(orjson.dumps(value)).rstrip(b"=").decode()


@pytest.mark.slow
async def test_a_web_token_says_who_comes(gateway: Gateway, ana: Caller, issuer: Issuer) -> None:
    await ana.put("own", LEAVE)
    await ana.put("sales", LEAVE + " S.", readers=["group:sales"])

    for algorithm in ALGORITHMS:
        theirs = bearer(gateway, issuer.token(algorithm))
        members = bearer(gateway, issuer.token(algorithm, sub="zoe", groups=["sales", "x"]))

        assert await theirs.found("annual leave") == ["own", "sales"], algorithm
        assert await members.found("annual leave") == ["sales"], algorithm
        assert issuer.fetches == 1, algorithm
        problem(await theirs.call("PUT", "/v1/documents/new", json={"text": "x"}), 403)


@pytest.mark.thorough
@pytest.mark.slow
async def test_roles_are_those_that_the_token_names_of_ours(
    gateway: Gateway, issuer: Issuer
) -> None:
    writer = bearer(gateway, issuer.token(roles=["offline_access", "writer", "reader"]))
    others = bearer(gateway, issuer.token(roles=["viewer"]))

    assert (await writer.put("one", "x"))["document_id"] == "one"
    problem(await others.call("PUT", "/v1/documents/three", json={"text": "x"}), 403)


@pytest.mark.sampled("None")
@pytest.mark.slow
@pytest.mark.parametrize("limit", [None, 0])
async def test_the_limit_of_the_tenant_holds_for_web_tokens_too(
    gateway: Gateway,
    other_worker: Gateway,
    ana: Caller,
    admin: Caller,
    issuer: Issuer,
    limit: int | None,
) -> None:
    await ana.put("leave", LEAVE, readers=["tenant"])
    await admin.call("PUT", "/v1/consistency", json={"max_staleness_ms": limit})
    zoe = bearer(gateway, issuer.token(sub="zoe"))
    await zoe.found("annual leave")
    await other_worker.as_(ana).share("leave")

    found = await zoe.found("annual leave", max_staleness_ms=60_000)

    assert found == (["leave"] if limit is None else [])


@pytest.mark.slow
async def test_a_membership_here_counts_beside_the_groups_of_the_token_and_bites_at_once(
    gateway: Gateway, other_worker: Gateway, ana: Caller, admin: Caller, issuer: Issuer
) -> None:
    await ana.put("sales", LEAVE, readers=["group:sales"])
    await ana.put("people", LEAVE + " P.", readers=["group:people"])
    token = issuer.token(sub="zoe", groups=["people"])
    callers = [bearer(worker, token) for worker in (gateway, other_worker)]
    path = "/v1/groups/sales/members/zoe"
    for seen, method in ((["people"], "PUT"), (["sales", "people"], "DELETE"), (["people"], "PUT")):
        for zoe in callers:
            assert sorted(await zoe.found("annual leave")) == sorted(seen)
        await admin.call(method, path)


async def test_who_has_left_by_one_spelling_has_left_by_all(
    gateway: Gateway, ana: Caller, admin: Caller, issuer: Issuer
) -> None:
    await ana.put("leave", LEAVE, readers=["user:José@Acme.example"])
    body = {"userName": "jose\u0301@acme.example"}
    spellings = ["josé@acme.example", "JOSÉ@acme.example", "Jose\u0301@acme.example"]
    tokens = [issuer.token(sub=spelling) for spelling in spellings]

    user = (await admin.call("POST", "/scim/v2/Users", json=body)).json()
    for token in tokens:
        assert await bearer(gateway, token).found("annual leave") == ["leave"]
    again = await admin.call("POST", "/scim/v2/Users", json={"userName": spellings[1]})
    await admin.call("PUT", f"/scim/v2/Users/{user['id']}", json={**body, "active": False})

    assert again.status_code == 409
    for token in tokens:
        await refused(gateway, token)
    for spelling in spellings:
        key = {"tenant": "acme", "subject": spelling}
        problem(await gateway.operator.call("POST", "/v1/keys", json=key), 409)
    await refused(gateway, issuer.token(sub="josé\u200b@acme.example"), "claim")


OVERAGES: list[dict[str, Any]] = [
    {"_claim_names": {"groups": "src1"}, "_claim_sources": {"src1": {"endpoint": "https://g"}}},
    {"_claim_names": ["groups"]},
    {"_claim_names": "groups"},
    {"_claim_names": '{"groups": "src1"}', "groups": ["sales"]},
    {"hasgroups": True},
    {"hasgroups": "true", "groups": ["sales"]},
    {"groups:src1": "https://graph.example"},
]


@pytest.mark.thorough
async def test_a_web_token_that_leaves_its_groups_out_is_refused_with_what_to_do(
    gateway: Gateway, ana: Caller, issuer: Issuer
) -> None:
    await ana.put("leave", LEAVE, readers=["tenant"])
    others: list[dict[str, Any]] = [
        {"_claim_names": {"address": "src1"}},
        {"_claim_names": None},
        {"hasgroups": False},
        {"hasgroups": "false"},
    ]

    for claims in OVERAGES:
        refusal = problem(await _refusal(bearer(gateway, issuer.token(**claims))), 403)
        assert refusal["type"].endswith(":groups-omitted")
        assert "Entra ID, only the groups that are assigned" in refusal["detail"]
    listed: dict[str, Any] = {"groups": [f"group-{number}" for number in range(257)]}
    refusal = problem(await _refusal(bearer(gateway, issuer.token(**listed))), 403)
    assert "lists 257 groups, and at most 256" in refusal["detail"]
    for claims in others:
        assert await bearer(gateway, issuer.token(**claims)).found("annual leave") == ["leave"]


@pytest.mark.slow
async def test_a_web_token_of_a_user_that_its_provider_has_ended_is_refused_at_once(
    gateway: Gateway, other_worker: Gateway, ana: Caller, admin: Caller, issuer: Issuer
) -> None:
    await ana.put("people", LEAVE, readers=["group:people"])
    token = issuer.token(sub="zoe", groups=["people"])
    callers = [bearer(worker, token) for worker in (gateway, other_worker)]
    user = (await admin.call("POST", "/scim/v2/Users", json={"userName": "zoe"})).json()
    path = f"/scim/v2/Users/{user['id']}"

    for active, method in ((True, "PUT"), (False, "PUT"), (True, "DELETE")):
        for zoe in callers:
            if active:
                assert await zoe.found("annual leave") == ["people"]
            else:
                problem(await zoe.call("POST", "/v1/search", json=SEARCH), 401)
        body = {"userName": "zoe", "active": not active} if method == "PUT" else None
        assert (await admin.call(method, path, json=body)).is_success
    for zoe in callers:
        problem(await zoe.call("POST", "/v1/search", json=SEARCH), 401)


# Claims of a token, and what its refusal says.
NOT_FOR_US: list[tuple[dict[str, Any], str]] = [
    ({"exp": LONG_AGO}, "expired"),
    ({"exp": None}, "lacks the claim exp"),
    ({"exp": "soon"}, ""),
    ({"nbf": LONG_FROM_NOW}, "not valid yet"),
    ({"iat": LONG_FROM_NOW}, "not valid yet"),
    ({"iss": "https://evil.example"}, "its issuer is another one"),
    ({"iss": None}, "lacks the claim iss"),
    ({"aud": "somebody-else"}, "audience is another service"),
    ({"aud": None}, "lacks the claim aud"),
    ({"sub": None}, ""),
    ({"sub": "with space"}, ""),
    ({"tenant": None}, ""),
    ({"tenant": "public"}, ""),
    ({"tenant": "there-is-none"}, ""),
    ({"tenant": ["acme"]}, ""),
    ({"groups": 7}, "claim"),
    ({"groups": {"sales": True}}, "claim"),
    ({"groups": "sales"}, "claim"),
    ({"groups": ["sales", 7]}, "claim"),
    ({"roles": {"admin": {}}}, "claim"),
    ({"roles": "admin"}, "claim"),
    ({"roles": [["admin"]]}, "claim"),
    ({"groups": [{"name": "sales"}]}, ""),
    ({"exp": 10**20}, ""),
]


async def test_a_web_token_that_is_not_for_us_is_refused(gateway: Gateway, issuer: Issuer) -> None:
    for claims, why in NOT_FOR_US:
        await refused(gateway, issuer.token(**claims), why)
    assert await bearer(gateway, issuer.token()).found("x") == []


@pytest.mark.thorough
@pytest.mark.slow
async def test_a_clock_may_be_off_a_little(gateway: Gateway, issuer: Issuer) -> None:
    late = issuer.token(exp=int(time.time()) - 20)
    early = issuer.token(nbf=int(time.time()) + 20)

    assert await bearer(gateway, late).found("x") == await bearer(gateway, early).found("x") == []


@pytest.mark.slow
async def test_nothing_but_the_issuers_signature_will_do(gateway: Gateway, issuer: Issuer) -> None:
    good = issuer.token()
    head, body, signature = good.split(".")
    said = anas()
    public = jwt.PyJWK(issuer.published["keys"][0]).key
    pem = public.public_bytes(*_pem()).decode()
    stranger = Issuer()
    forged = {
        "none": f"{part({'alg': 'none'})}.{part(said)}.",
        "nOnE": f"{part({'alg': 'nOnE'})}.{part(said)}.{signature}",
        "the public key as a secret": _hs256(said, pem, {"kid": "RS256-1"}),
        "another key": stranger.token(),
        "no signature": f"{head}.{body}.",
        "another body": f"{head}.{part({**said, 'sub': 'ben'})}.{signature}",
        "another algorithm's key": _with_head(good, {"alg": "ES256", "kid": "RS256-1"}),
        "an algorithm nobody allowed": jwt.encode(said, issuer.key(), algorithm="RS512"),
        "its own key": jwt.encode(
            said,
            stranger.key(),
            algorithm="RS256",
            headers={"jwk": stranger.published["keys"][0], "jku": "http://127.0.0.1:1/"},
        ),
        "no JSON": "a.b.c",
        "a part too many": f"{good}.{signature}",
        "not even that": "..",
        "no text": f"{head}.\xff.{signature}",
    }
    for name, token in forged.items():
        answer = await gateway.client.post(
            "/v1/search",
            json=SEARCH,
            headers=[(b"Authorization", b"Bearer " + token.encode("latin-1"))],
        )
        assert answer.status_code == 401, name
    assert await bearer(gateway, good).found("x") == []


@pytest.mark.thorough
@pytest.mark.slow
async def test_a_shared_secret_counts_only_where_there_is_one(
    settings: Settings, embedder: Embedder, gateway: Gateway, issuer: Issuer
) -> None:
    said = anas()
    token = _hs256(said, SECRET)
    with_secret = settings.model_copy(update={"jwt_secret": SecretStr(SECRET)})
    only_secret = with_secret.model_copy(update={"jwt_jwks_url": None})

    await refused(gateway, token)
    for configured in (with_secret, only_secret):
        async with running(configured, embedder) as other:
            assert await bearer(other, token).found("x") == []
            await refused(other, _hs256(said, SECRET + "!"), "no key of the issuer")
    async with running(only_secret, embedder) as other:
        await refused(other, issuer.token(), "no key of the issuer")


@pytest.mark.slow
async def test_a_key_that_is_new_is_fetched_and_strangers_make_us_fetch_but_once(
    gateway: Gateway, issuer: Issuer, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert await bearer(gateway, issuer.token()).found("x") == []
    issuer.rotate("RS256", "RS256-2")
    token = issuer.token("RS256", "RS256-2")
    await refused(gateway, token)  # it was asked for a moment ago
    monkeypatch.setattr(jwks_client, "_PAUSE_S", 0.0)

    assert await bearer(gateway, token).found("x") == []
    assert issuer.fetches == 2

    monkeypatch.setattr(jwks_client, "_PAUSE_S", 60.0)
    stranger = Issuer()
    for number in range(5):
        stranger.rotate("ES256", f"mine-{number}")
        await refused(gateway, stranger.token("ES256", f"mine-{number}"))
    assert issuer.fetches == 2


@pytest.mark.thorough
@pytest.mark.slow
async def test_a_token_that_names_no_key_means_the_only_one(
    gateway: Gateway, issuer: Issuer
) -> None:
    said = anas()
    token = jwt.encode(said, issuer.key("ES256"), algorithm="ES256")

    assert await bearer(gateway, token).found("x") == []


NO_KEY_SETS: list[Any] = [
    "no keys",
    {},
    {"keys": "none"},
    {"keys": [7]},
    {"keys": [{"kty": "RSA"}]},
    {"keys": [], "more": "x" * 1_000_000},
]


@pytest.mark.thorough
async def test_an_issuer_that_publishes_nonsense_lets_nobody_in(
    gateway: Gateway, issuer: Issuer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jwks_client, "_PAUSE_S", 0.0)
    token, published = issuer.token(), issuer.published
    for number, issuer.published in enumerate(NO_KEY_SETS):
        answer = await bearer(gateway, token).call("POST", "/v1/search", json=SEARCH)

        assert answer.status_code in (401, 503), issuer.published
        problem(answer, answer.status_code)
        assert issuer.fetches > number  # each was asked for

    issuer.published = published
    assert await bearer(gateway, token).found("x") == []


@pytest.mark.slow
async def test_an_issuer_that_is_away_is_no_fault_of_the_callers_and_old_keys_go_on(
    gateway: Gateway, issuer: Issuer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jwks_client, "_PAUSE_S", 0.0)
    issuer.status = 500
    answer = await bearer(gateway, issuer.token()).call("POST", "/v1/search", json=SEARCH)
    assert "issuer" in problem(answer, 503)["detail"]
    assert answer.headers["retry-after"] == "1"

    issuer.status = 200
    assert await bearer(gateway, issuer.token()).found("x") == []
    issuer.status = 500
    issuer.rotate("RS256", "RS256-2")
    assert await bearer(gateway, issuer.token(sub="ben")).found("x") == []
    await refused(gateway, issuer.token("RS256", "RS256-2"))


@pytest.mark.slow
async def test_a_remembered_token_ends_with_the_key_that_its_issuer_withdraws(
    settings: Settings, embedder: Embedder, issuer: Issuer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And so does each token that was made with it; those of other keys go on."""
    monkeypatch.setattr("gateway.extensions.web_tokens.web_tokens.KEYS_LIFETIME_S", 0.01)
    async with running(settings, embedder) as gateway:
        await gateway.tenant("acme")
        ana, ben = bearer(gateway, issuer.token()), bearer(gateway, issuer.token("ES256"))
        made = (await ana.call("POST", "/v1/tokens", json={})).json()
        agent = Caller(gateway.client, made["token"])
        child = Caller(
            gateway.client, (await agent.call("POST", "/v1/tokens", json={})).json()["token"]
        )
        for each in (ana, ben, agent, child):
            assert await each.found("x") == []

        issuer.withdraw("RS256-1")

        for each in (ana, agent, child):
            assert "withdrawn" in problem(await _refusal(each), 401)["detail"]
        issuer.rotate("RS256", "RS256-1")  # another key under the name of the old one
        assert await bearer(gateway, issuer.token()).found("x") == []
        for each in (ana, agent, child):
            problem(await each.call("POST", "/v1/search", json=SEARCH), 401)
        assert await ben.found("x") == []


async def _refusal(caller: Caller) -> httpx2.Response:
    async with asyncio.timeout(60):
        while True:
            answer = await caller.call("POST", "/v1/search", json=SEARCH)
            if answer.status_code != 200:
                return answer


async def test_a_request_that_ends_ends_no_fetch_of_keys(issuer: Issuer) -> None:
    """Else whoever sends unknown keys and leaves at once keeps everybody from fetching."""
    issuer.sends_keys.clear()
    async with httpx2.AsyncClient(verify=False) as http:
        keys = jwks_client.JwksClient(http, issuer.url, lambda: 0.0, lifetime_s=60, stale_s_max=600)
        leaving = asyncio.create_task(keys.key("unknown", "RS256"))
        await asyncio.wait_for(issuer.asked_for_keys.wait(), 60)

        await background_tasks.end(leaving)
        issuer.sends_keys.set()

        assert await keys.key("RS256-1", "RS256") is not None
    assert issuer.fetches == 1


async def test_an_issuer_whose_keys_never_end_is_away(issuer: Issuer) -> None:
    now_s = 0.0
    async with httpx2.AsyncClient(verify=False) as http, asyncio.timeout(60):
        keys = jwks_client.JwksClient(
            http, issuer.url, lambda: now_s, lifetime_s=60, stale_s_max=600, fetch_s_max=0.1
        )
        assert await keys.key("RS256-1", "RS256") is not None
        issuer.drips, now_s = True, 61.0

        assert await keys.key("RS256-1", "RS256") is not None
    assert issuer.fetches == 2


async def test_an_issuer_that_is_away_too_long_is_believed_no_longer(issuer: Issuer) -> None:
    now_s = 0.0
    async with httpx2.AsyncClient(verify=False) as http:
        keys = jwks_client.JwksClient(
            http, issuer.url, lambda: now_s, lifetime_s=60.0, stale_s_max=600.0
        )
        found = await keys.key("RS256-1", "RS256")
        assert found is not None
        issuer.status = 500

        now_s = 600.0
        assert await keys.is_published(found.thumbprint)
        assert await keys.key("RS256-1", "RS256") is not None
        now_s = 601.0
        with pytest.raises(Problem, match="issuer"):
            await keys.is_published(found.thumbprint)
        with pytest.raises(Problem, match="issuer"):
            await keys.key("RS256-1", "RS256")
        issuer.status = 200

        now_s = 661.0
        assert await keys.is_published(found.thumbprint)


@pytest.mark.thorough
@pytest.mark.slow
async def test_groups_and_roles_may_be_one_string_in_the_claims_of_oauth_alone(
    settings: Settings, embedder: Embedder, issuer: Issuer
) -> None:
    claims = {"groups": "scp", "roles": "scope"}
    async with (
        running(settings.model_copy(update={"jwt_claims": claims}), embedder) as gateway,
        running(settings, embedder) as other,
    ):
        await gateway.tenant("acme")
        ana = await gateway.caller("ana")
        await ana.put("sales", LEAVE, readers=["group:sales"])
        zoe = bearer(gateway, issuer.token(sub="zoe", scp="sales x", scope="reader writer"))

        assert await zoe.found("annual leave") == ["sales"]
        assert (await zoe.put("two", "x"))["document_id"] == "two"
        await refused(gateway, issuer.token(scp={"sales": True}), "claim")
        await refused(other, issuer.token(groups="sales x"), "claim")


@pytest.mark.slow
async def test_tokens_made_with_a_web_token_end_with_the_secret_that_signed_it(
    settings: Settings, embedder: Embedder, gateway: Gateway
) -> None:
    with_secret = settings.model_copy(update={"jwt_secret": SecretStr(SECRET)})
    another = settings.model_copy(update={"jwt_secret": SecretStr(SECRET + "!")})
    async with running(with_secret, embedder) as signed:
        web = bearer(signed, _hs256(anas(), SECRET))
        token = (await web.call("POST", "/v1/tokens", json={})).json()["token"]
        assert await bearer(signed, token).found("x") == []

    async with running(another, embedder) as later:
        await refused(later, token, "withdrawn")


@pytest.mark.slow
async def test_a_token_is_narrowed_and_what_it_asks_for_outlives_it(
    gateway: Gateway, issuer: Issuer
) -> None:
    ana = bearer(gateway, issuer.token(roles=["writer"], groups=["sales"]))
    made = (await ana.call("POST", "/v1/tokens", json={"groups": [], "read_only": True})).json()
    agent = Caller(gateway.client, made["token"])
    await ana.put("sales", LEAVE, readers=["group:sales"], owner="ana")

    assert await ana.found("annual leave") == await agent.found("annual leave") == ["sales"]
    problem(await agent.call("PUT", "/v1/documents/x", json={"text": "x"}), 403)
    queued = await ana.call(
        "PUT", "/v1/documents/later", json={"text": "x"}, headers={"Prefer": "respond-async"}
    )
    assert queued.status_code == 202


@pytest.mark.parametrize("missing", ["jwt_issuer", "jwt_audience"])
def test_who_takes_web_tokens_has_to_say_whose(missing: str) -> None:
    given = {"jwt_issuer": ISSUER, "jwt_audience": AUDIENCE, "jwt_jwks_url": "https://x.example/k"}
    del given[missing]

    with pytest.raises(CommandError, match="NEARHIT_JWT_ISSUER and NEARHIT_JWT_AUDIENCE"):
        web_tokens.check(Settings().model_copy(update=given))


@pytest.mark.parametrize("name", ["jwt_issuer", "jwt_audience", "mcp_resource_url"])
def test_a_setting_of_web_tokens_without_their_keys_is_refused(name: str) -> None:
    settings = Settings().model_copy(update={name: "https://login.example/mcp"})

    with pytest.raises(CommandError, match=f"NEARHIT_{name.upper()}.* need the keys"):
        web_tokens.check(settings)


def test_claims_are_found_by_their_name_or_by_the_way_to_them() -> None:
    said = {"https://x.example/groups": ["a"], "realm": {"roles": ["writer"]}, "realm.roles": 1}

    assert web_tokens.find_claim(said, "https://x.example/groups") == ["a"]
    assert web_tokens.find_claim(said, "realm.roles") == 1
    assert web_tokens.find_claim({"realm": {"roles": ["writer"]}}, "realm.roles") == ["writer"]
    assert web_tokens.find_claim({"realm": 7}, "realm.roles") is None


def _pem() -> tuple[Any, Any]:
    from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

    return Encoding.PEM, PublicFormat.SubjectPublicKeyInfo


def _hs256(said: dict[str, Any], secret: str, head: dict[str, Any] | None = None) -> str:
    """By hand: the library refuses to sign with a public key."""
    signed = f"{part({'alg': 'HS256', 'typ': 'JWT', **(head or {})})}.{part(said)}"
    mac = hmac.new(secret.encode(), signed.encode(), hashlib.sha256).digest()
    return f"{signed}.{base64.urlsafe_b64encode(mac).rstrip(b'=').decode()}"


def _with_head(token: str, head: dict[str, Any]) -> str:
    _, body, signature = token.split(".")
    return f"{part(head)}.{body}.{signature}"
