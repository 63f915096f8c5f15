"""What no call takes, whichever it is: numbers without bounds, and text that can't be stored."""

import asyncio
import json
import re
from collections.abc import AsyncIterator, Iterator, Mapping
from types import MappingProxyType
from typing import Any

import pytest
from pydantic import BaseModel

from gateway.extensions._mcp.search_arguments import SearchArguments
from gateway.extensions.embedded_servers.owned_servers import Servers
from gateway.extensions.mcp.tools import FetchArguments
from gateway.extensions.openapi import examples, openapi_document
from gateway.http.route import ApiRoute
from index.search.query_embedder import Embedder
from tests.conftest import fresh_settings
from tests.database_copies import DatabaseCopies
from tests.gateway.support.gateways import Caller, Gateway, running
from tests.gateway.support.routes import ROUTES

pytestmark = pytest.mark.anyio

BEYOND_64_BITS = 10**30


@pytest.fixture(scope="module")
async def gateway(
    servers: Servers, databases: DatabaseCopies, embedder: Embedder
) -> AsyncIterator[Gateway]:
    async with fresh_settings(servers, databases) as settings, running(settings, embedder) as made:
        await made.tenant("acme")
        yield made


@pytest.fixture(scope="module")
async def ana(gateway: Gateway) -> Caller:
    return await gateway.caller("ana")


@pytest.mark.parametrize("number", ["1e400", "-1e400", "9" * 400, "NaN", "Infinity"])
async def test_a_number_that_nothing_holds_is_refused(ana: Caller, number: str) -> None:
    metadata = f'{{"text":"x","metadata":{{"a":{number}}}}}'
    asked = f'{{"query":"x","filter":{{"attributes":{{"type":"gt","key":"a","value":{number}}}}}}}'
    least = f'{{"query":"x","min_score":{number}}}'

    for method, path, body in (
        ("PUT", "/v1/documents/a", metadata),
        ("POST", "/v1/search", asked),
        ("POST", "/v1/search", least),
    ):
        answer = await ana.call(method, path, content=body)
        assert answer.status_code in (200, 400, 422), answer.text
        assert answer.status_code != 200 or body == least


@pytest.mark.parametrize(
    ("value", "status"),
    [
        (False, 200), ("extract", 200), (0, 422), (0.0, 422), (True, 422), (1, 422), (None, 422),
        ("", 422), ("false", 422),
    ],
)  # fmt: skip
async def test_compress_is_false_or_a_name_and_no_number(
    ana: Caller, value: Any, status: int
) -> None:
    body = {"query": "x", "context": {"token_budget": 100, "compress": value}}

    answer = await ana.call("POST", "/v1/search", json=body)

    assert answer.status_code == status, answer.text


@pytest.mark.sampled("%00", "%ff")
@pytest.mark.parametrize("quoted", ["%00", "a%00b", "%ff", "%ed%a0%80"])
async def test_no_call_takes_text_that_can_not_be_stored_in_its_path_or_query(
    gateway: Gateway, quoted: str
) -> None:
    asked = [
        (call, name, url)
        for call in ROUTES
        for name, url in (
            *((name, f"{path_of(call)}?{name}={quoted}") for name in (*call.parameters, "purpose")),
            *((name, path_of(call, name, quoted)) for name in re.findall(r"{(\w+)", call.path)),
        )
    ]

    for call, name, url in asked:
        answer = await gateway.operator.call(call.method, url)
        assert answer.status_code in (400, 422), (url, answer.text)
        told = (f'"{name}"', f"Correct {name}.", '"path"', "Correct path.", "jsonrpc")
        assert any(part in answer.text for part in told), (url, answer.text)


def path_of(call: ApiRoute[Any], name: str = "", value: str = "") -> str:
    """With this value for the parameter of this name."""

    def filled(parameter: re.Match[str]) -> str:
        return value if parameter[1] == name else "x"

    return re.sub(r"{(\w+)(?::\w+)?}", filled, call.path)


async def test_a_header_with_the_character_nul_gets_no_further_than_the_server(
    gateway: Gateway,
) -> None:
    url = gateway.client.base_url
    reader, writer = await asyncio.open_connection(url.host, url.port)
    writer.write(b"GET /v1/documents HTTP/1.1\r\nHost: x\r\nPrefer: a\0b\r\n\r\n")

    status = await reader.readline()

    assert b" 400 " in status
    writer.close()


async def test_no_call_fails_at_an_odd_value_anywhere_in_its_body(gateway: Gateway) -> None:
    eve = await gateway.caller("eve", roles=["reader", "writer", "admin"])
    idp = await gateway.caller("idp", roles=["provisioner"])
    callers = {"operator": gateway.operator, "provisioner": idp}
    schemas = openapi_document.document(ROUTES)["components"]["schemas"]

    for call in ROUTES:
        if call.body is None:
            continue
        caller = callers.get(call.needs, eve)
        name = call.body.__name__
        example = examples.of_request(name, schemas)
        absent = dict.fromkeys(schemas[name].get("properties", {}).keys() - example)
        for body in (*with_odd_values(example), *with_odd_values(absent, example)):
            answer = await caller.call(call.method, path_of(call), content=json.dumps(body))
            assert answer.status_code != 500, (call.path, body, answer.text)


async def test_a_filter_of_scim_holds_no_character_nul(gateway: Gateway) -> None:
    provider = await gateway.caller("idp", roles=["provisioner"])
    quoted = r'"a\u0000b"'
    removal = {"Operations": [{"op": "remove", "path": f"members[value eq {quoted}]"}]}

    answers = [
        await provider.call("GET", f"/scim/v2/{kind}", params={"filter": f"{name} eq {quoted}"})
        for kind, name in (
            ("Users", "userName"), ("Users", "externalId"), ("Users", "id"),
            ("Groups", "displayName"), ("Groups", "externalId"), ("Groups", "id"),
        )
    ]  # fmt: skip
    patched = await provider.call("PATCH", "/scim/v2/Groups/x", json=removal)

    for answer, reason in (
        *((each, "invalidFilter") for each in answers),
        (patched, "invalidPath"),
    ):
        assert (answer.status_code, answer.json().get("scimType")) == (400, reason)


def with_odd_values(value: Any, beside: Mapping[str, Any] = MappingProxyType({})) -> Iterator[Any]:
    """The value once for each of its parts, with something odd in its place.

    beside: the other fields of an object, if they are not its own.
    """
    yield from (-BEYOND_64_BITS, {"a": BEYOND_64_BITS})
    match value:
        case str():
            yield f"{value}\0"
        case list():
            for number, item in enumerate(value):
                for other in with_odd_values(item):
                    yield [*value[:number], other, *value[number + 1 :]]
        case dict():
            for name, item in value.items():
                for other in with_odd_values(item):
                    yield {**(beside or value), name: other}


def models() -> Iterator[type[BaseModel]]:
    """All that a caller may send."""
    for call in ROUTES:
        if call.body is not None:
            yield call.body
    yield from (SearchArguments, FetchArguments)


@pytest.mark.parametrize("model", dict.fromkeys(models()), ids=lambda model: model.__name__)
def test_every_whole_number_of_a_body_has_bounds(model: type[BaseModel]) -> None:
    for place, node in nodes(model.model_json_schema()):
        if node.get("type") == "integer":
            bounds = (
                {"minimum", "exclusiveMinimum"} & node.keys(),
                {
                    "maximum",
                    "exclusiveMaximum",
                }
                & node.keys(),
            )
            assert all(bounds), place


def nodes(value: Any, place: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    """Every object within a JSON value."""
    if isinstance(value, dict):
        yield place, value
    children = value.items() if isinstance(value, dict) else enumerate(value)
    for name, child in children:
        if isinstance(child, dict | list):
            yield from nodes(child, f"{place}/{name}")
