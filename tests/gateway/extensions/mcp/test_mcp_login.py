"""Clients of the protocol log in with an authorization server, which no one told them of."""

import re
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx2
import pytest
from mcp import Client
from mcp.client.auth import OAuthClientProvider
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.auth import (
    AuthorizationCodeResult,
    OAuthClientInformationFull,
    OAuthClientMetadata,
    OAuthToken,
)
from pydantic import AnyUrl, ValidationError

from common.command_errors import CommandError
from gateway.extensions.web_tokens import web_tokens
from gateway.settings.settings import Settings
from index.search.query_embedder import Embedder
from tests.gateway.servers.token_issuer import AUDIENCE, ISSUER, Issuer, issuing
from tests.gateway.support.gateways import Caller, Gateway, connected, problem, serving
from tests.gateway.support.routes import ROUTES

pytestmark = [pytest.mark.anyio, pytest.mark.isolated]

LEAVE = "# Leave\n\nEverybody gets 25 days of annual leave a year."
BACK = "http://127.0.0.1:1/back"
WELL_KNOWN = "/.well-known/oauth-protected-resource"
SEARCH = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "tools/call",
    "params": {"name": "search", "arguments": {"query": "annual leave"}},
}
# The claims of a token, and the status that it gets at /mcp and at /v1/search.
TOKENS: tuple[tuple[dict[str, Any], int, int], ...] = (
    ({}, 200, 401),
    ({"aud": AUDIENCE}, 200, 200),
    ({"aud": [AUDIENCE, "https://other.example"]}, 200, 200),
    ({"aud": ["https://other.example/mcp"]}, 401, 401),
    ({"aud": []}, 401, 401),
    ({"scope": None, "scp": ["docs.read", "docs.list", "more"]}, 200, 401),
    ({"scope": None, "scp": "docs.read docs.list"}, 200, 401),
    ({"scope": "docs.reads docs.list"}, 403, 401),
    ({"scope": {"docs.read": 1}}, 403, 401),
    ({"scope": None}, 403, 401),
    ({"scope": None, "aud": AUDIENCE}, 403, 200),
)


class Memory:
    """What a client keeps of a login."""

    def __init__(self) -> None:
        self.tokens: OAuthToken | None = None
        self.client: OAuthClientInformationFull | None = None

    async def get_tokens(self) -> OAuthToken | None:
        return self.tokens

    async def set_tokens(self, tokens: OAuthToken) -> None:
        self.tokens = tokens

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        return self.client

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        self.client = client_info


class Person:
    """Somebody at a browser, who follows the client's link and comes back with a code."""

    def __init__(self) -> None:
        self._answer: dict[str, list[str]] = {}

    async def follow(self, url: str) -> None:
        async with httpx2.AsyncClient(verify=False) as browser:
            response = await browser.get(url)
        assert response.status_code == 302, response.text
        assert response.headers["location"].startswith(BACK)
        self._answer = parse_qs(urlsplit(response.headers["location"]).query)

    async def come_back(self) -> AuthorizationCodeResult:
        code, state, iss = (self._answer[name][0] for name in ("code", "state", "iss"))
        return AuthorizationCodeResult(code=code, state=state, iss=iss)


@asynccontextmanager
async def logging_in(resource: str, memory: Memory) -> AsyncIterator[Client]:
    person = Person()
    metadata = OAuthClientMetadata(
        redirect_uris=[AnyUrl(BACK)],
        token_endpoint_auth_method="none",
        grant_types=["authorization_code"],
    )
    provider = OAuthClientProvider(resource, metadata, memory, person.follow, person.come_back)
    async with (
        httpx2.AsyncClient(auth=provider, timeout=30, verify=False) as http,
        Client(streamable_http_client(resource, http_client=http)) as client,
    ):
        yield client


@pytest.fixture
async def issuer() -> AsyncIterator[Issuer]:
    async with issuing() as made:
        yield made


@pytest.fixture
def resource() -> str:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return f"http://127.0.0.1:{listener.getsockname()[1]}/mcp"


@pytest.fixture
def settings(settings: Settings, issuer: Issuer, resource: str) -> Settings:
    return settings.model_copy(
        update={
            "jwt_jwks_url": issuer.url,
            "jwt_issuer": issuer.base,
            "jwt_audience": AUDIENCE,
            "mcp_resource_url": resource,
            "mcp_scopes": "docs.read docs.list",
        }
    )


@pytest.fixture
async def gateway(settings: Settings, embedder: Embedder, resource: str) -> AsyncIterator[Gateway]:
    port = urlsplit(resource).port
    assert port is not None
    async with serving(settings, embedder, port=port) as url, connected(url) as client:
        made = Gateway(client)
        await made.tenant("acme")
        yield made


def for_resource(issuer: Issuer, resource: str, **claims: Any) -> str:
    scope = {"scope": "docs.list docs.read"}
    return issuer.token(**({"iss": issuer.base, "aud": resource} | scope | claims))


async def search(gateway: Gateway, token: str | None) -> httpx2.Response:
    return await Caller(gateway.client, token).call("POST", "/mcp", json=SEARCH)


async def test_a_client_that_knows_the_url_alone_logs_in_and_searches(
    gateway: Gateway, ana: Caller, issuer: Issuer, resource: str
) -> None:
    await ana.put("leave", LEAVE)
    memory = Memory()

    async with logging_in(resource, memory) as client:
        found = await client.call_tool("search", {"query": "annual leave"})

    assert [hit["id"] for hit in found.structured_content["results"]] == ["leave"]
    (asked,) = issuer.asked
    assert asked["resource"] == resource
    assert set(asked["scope"].split()) == {"docs.read", "docs.list"}
    assert memory.tokens is not None
    token = Caller(gateway.client, memory.tokens.access_token)
    problem(await token.call("POST", "/v1/search", json={"query": "annual leave"}), 401)


@pytest.mark.thorough
async def test_a_client_with_too_few_scopes_logs_in_for_those_that_it_lacks(
    gateway: Gateway, issuer: Issuer, resource: str
) -> None:
    issuer.granted = ["docs.list", "docs.list docs.read"]

    async with logging_in(resource, Memory()) as client:
        found = await client.call_tool("search", {"query": "annual leave"})

    assert found.structured_content == {"results": []}
    assert len(issuer.asked) == 2
    assert set(issuer.asked[1]["scope"].split()) == {"docs.read", "docs.list"}


@pytest.mark.thorough
async def test_refusals_say_where_to_log_in_and_for_what(
    gateway: Gateway, issuer: Issuer, resource: str
) -> None:
    where = f'resource_metadata="{resource.removesuffix("/mcp")}{WELL_KNOWN}/mcp"'
    scope = 'scope="docs.read docs.list"'
    narrow = for_resource(issuer, resource, scope="docs.list")
    other = for_resource(issuer, "https://other.example/mcp")
    for token, status, error in (
        (None, 401, ""),
        ("nh_nobody-has-such-a-key", 401, 'error="invalid_token", '),
        (other, 401, 'error="invalid_token", '),
        (narrow, 403, 'error="insufficient_scope", '),
    ):
        answer = await search(gateway, token)

        problem(answer, status)
        challenge = answer.headers["www-authenticate"]
        assert challenge == f'Bearer realm="nearhit", {error}{scope}, {where}'
    operator = await gateway.operator.call("POST", "/mcp", json=SEARCH)
    problem(operator, 403)
    assert "www-authenticate" not in operator.headers


@pytest.mark.thorough
async def test_the_metadata_names_the_resource_and_its_issuer(
    gateway: Gateway, issuer: Issuer, resource: str
) -> None:
    for path in (WELL_KNOWN, f"{WELL_KNOWN}/mcp"):
        answer = await gateway.stranger.call("GET", path)

        assert answer.json() == {
            "resource": resource,
            "authorization_servers": [issuer.base],
            "scopes_supported": ["docs.read", "docs.list"],
            "bearer_methods_supported": ["header"],
            "resource_name": "Nearhit",
        }


async def test_a_token_counts_where_its_audience_and_scopes_say(
    gateway: Gateway, issuer: Issuer, resource: str
) -> None:
    for claims, at_mcp, at_search in TOKENS:
        token = for_resource(issuer, resource, **claims)
        assert await counted(gateway, token) == (at_mcp, at_search), claims


@pytest.mark.thorough
async def test_an_audience_may_be_written_in_another_form(
    gateway: Gateway, issuer: Issuer, resource: str
) -> None:
    for audience, at_mcp in (
        (f"{resource}/", 200),
        (resource.replace("http:", "HTTP:"), 200),
        (f"{resource}/x", 401),
    ):
        token = for_resource(issuer, resource, aud=audience)
        assert await counted(gateway, token) == (at_mcp, 401), audience


async def counted(gateway: Gateway, token: str) -> tuple[int, int]:
    """The status at /mcp and of a search, the same when the worker knows the token."""
    first, second = [
        (
            (await search(gateway, token)).status_code,
            (
                await Caller(gateway.client, token).call(
                    "POST", "/v1/search", json={"query": "annual leave"}
                )
            ).status_code,
        )
        for _ in range(2)
    ]
    assert first == second
    return first


async def test_no_path_but_mcp_takes_a_token_of_mcp(
    gateway: Gateway, issuer: Issuer, resource: str
) -> None:
    token = Caller(gateway.client, for_resource(issuer, resource, roles=["admin"]))
    assert (await search(gateway, token.key)).status_code == 200
    others = [route for route in ROUTES if route.path != "/mcp" and route.needs != "anyone"]
    assert len(others) > 50

    for route in others:
        path = re.sub(r"\{\w+(:path)?\}", "x", route.path)
        answer = await token.call(route.method, path)

        assert answer.status_code == 401, route
        assert "audience" in answer.text, route


@pytest.mark.thorough
async def test_a_gateway_without_the_url_has_no_metadata_and_a_plain_challenge(
    settings: Settings, embedder: Embedder
) -> None:
    plain = settings.model_copy(update={"mcp_resource_url": None})
    async with serving(plain, embedder) as url, connected(url) as client:
        problem(await client.get(WELL_KNOWN), 404)
        answer = await client.post("/mcp", json=SEARCH)

    assert answer.headers["www-authenticate"] == 'Bearer realm="nearhit"'


@pytest.mark.parametrize(
    "changes",
    [
        {"jwt_jwks_url": None},
        {"jwt_issuer": None},
        {"jwt_issuer": "login"},
    ],
)
async def test_a_url_without_an_issuer_to_log_in_with_is_refused(
    settings: Settings, changes: dict[str, Any]
) -> None:
    with pytest.raises(CommandError, match="NEARHIT_JWT_ISSUER"):
        web_tokens.check(settings.model_copy(update=changes))


@pytest.mark.parametrize(
    "url",
    ["https://a.example", "https://a.example/x/mcp", "ftp://a.example/mcp", 'https://a"/mcp'],
)
def test_the_url_is_that_of_mcp_itself(url: str) -> None:
    with pytest.raises(ValidationError):
        Settings(mcp_resource_url=url, jwt_issuer=ISSUER)
