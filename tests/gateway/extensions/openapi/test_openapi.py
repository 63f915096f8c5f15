"""The description of the API, and whether what travels is what it describes."""

import re
from collections.abc import Iterator
from importlib import metadata
from typing import Any

import httpx2
import pytest
from pydantic import RootModel

from gateway.http.route import ApiRoute
from gateway.problems import problems
from tests.gateway.support.gateways import Gateway
from tests.gateway.support.module_gateway import *  # noqa: F403  the fixtures
from tests.gateway.support.routes import ROUTES

pytestmark = pytest.mark.anyio


@pytest.fixture(scope="module")
async def description(gateway: Gateway) -> dict[str, Any]:
    answer = await gateway.client.get("/openapi.json")
    assert answer.headers["content-type"] == "application/json"
    found: dict[str, Any] = answer.json()
    return found


def operation(description: dict[str, Any], call: ApiRoute[Any]) -> dict[str, Any]:
    path = re.sub(r":\w+}", "}", call.path)
    found: dict[str, Any] = description["paths"][path][call.method.lower()]
    return found


def nodes(value: Any) -> Iterator[dict[str, Any]]:
    """Every object within a JSON value."""
    if isinstance(value, dict):
        yield value
    for child in value.values() if isinstance(value, dict) else value:
        if isinstance(child, dict | list):
            yield from nodes(child)


def resolved(description: dict[str, Any], reference: str) -> Any:
    assert reference.startswith("#/")
    found: Any = description
    for part in reference.removeprefix("#/").split("/"):
        found = found[part]
    return found


async def test_the_description_says_what_it_describes(description: dict[str, Any]) -> None:
    assert description["openapi"].startswith("3.1.")
    assert description["info"]["version"] == metadata.version("nearhit")
    described = sum(len(methods) for methods in description["paths"].values())
    assert described == len(ROUTES)


async def test_only_rotations_and_ratifications_have_an_optional_body(
    description: dict[str, Any],
) -> None:
    optional = [
        path
        for path, methods in description["paths"].items()
        for described in methods.values()
        if not described.get("requestBody", {"required": True})["required"]
    ]

    assert sorted(optional) == [
        "/v1/documents/{document_id}/ratify",
        "/v1/keys/{key_id}/rotate",
        "/v1/subscriptions/{subscription_id}/webhook/rotate",
    ]


async def test_each_call_is_described_with_what_travels(description: dict[str, Any]) -> None:
    for call in ROUTES:
        assert_described(description, call)


def assert_described(description: dict[str, Any], call: ApiRoute[Any]) -> None:
    described = operation(description, call)
    parameters = {(each["in"], each["name"]) for each in described["parameters"]}

    assert described["summary"], call.path
    assert bool(described["security"]) == (call.needs != "anyone"), call.path
    for place, names in (("path", re.findall(r"{(\w+)", call.path)), ("query", call.parameters)):
        assert {name for where, name in parameters if where == place} == set(names), call.path
    answer = described["responses"][str(call.status)]
    sent = call.body_type or call.media_type
    for model, content, media_type in (
        (call.body, described.get("requestBody"), sent),
        (call.answer, answer, call.media_type),
        (call.error, described["responses"]["503"], call.error_type),
    ):
        if model is None:
            assert not content or media_type not in content.get("content", {}), call.path
            continue
        assert content is not None, call.path
        reference = content["content"][media_type]["schema"]["$ref"]
        schema = resolved(description, reference)
        if issubclass(model, RootModel):
            assert schema.get("oneOf") or schema.get("anyOf"), call.path
        else:
            fields = {field.alias or name for name, field in model.model_fields.items()}
            assert set(schema["properties"]) == fields, call.path
    tells_problems = "application/problem+json" in described["responses"]["503"]["content"]
    assert tells_problems == (call.render is problems.render), call.path


async def test_every_reference_of_the_description_leads_somewhere(
    description: dict[str, Any],
) -> None:
    references = [node["$ref"] for node in nodes(description) if "$ref" in node]

    assert len(references) > len(ROUTES)
    for reference in references:
        assert isinstance(resolved(description, reference), dict)


async def test_every_schema_is_one_that_a_reader_knows(description: dict[str, Any]) -> None:
    types = {"object", "array", "string", "integer", "number", "boolean", "null"}
    for schema in nodes(description["components"]["schemas"]):
        if "type" in schema and isinstance(schema["type"], str):
            assert schema["type"] in types
        assert set(schema.get("required", ())) <= set(schema.get("properties", ()))


async def test_operations_have_names_of_their_own(description: dict[str, Any]) -> None:
    names = [operation(description, call)["operationId"] for call in ROUTES]

    assert len(set(names)) == len(names)


async def test_answers_are_as_described(gateway: Gateway) -> None:
    """Each model forbids what it does not know, so that nothing travels undescribed."""
    await gateway.tenant("acme")
    ana, admin = await gateway.caller("ana"), await gateway.caller("ada", roles=["admin"])
    answers: dict[str, httpx2.Response] = {
        "put_document": await ana.call("PUT", "/v1/documents/a", json={"text": "Annual leave."}),
        "search": await ana.search("leave", explain=True),
        "get_document": await ana.call("GET", "/v1/documents/a"),
        "list_documents": await ana.call("GET", "/v1/documents"),
        "patch_access": await ana.call("PATCH", "/v1/documents/a/access", json={}),
        "delete_document": await ana.call("DELETE", "/v1/documents/a"),
        "create_key": await admin.call("POST", "/v1/keys", json={"subject": "eve"}),
    }

    for call in ROUTES:
        answer = answers.get(call.handle.__name__)
        if answer is not None:
            assert call.answer is not None
            assert answer.status_code == call.status
            call.answer.model_validate_json(answer.content)


async def test_each_refusal_is_described_with_its_headers(description: dict[str, Any]) -> None:
    for call in ROUTES:
        assert_refusals_are_described(operation(description, call)["responses"], call)


def assert_refusals_are_described(responses: dict[str, Any], call: ApiRoute[Any]) -> None:
    invalid = "422" if call.render is problems.render else "400"
    expected = {invalid, "405", "414", "431", "500", "503"}
    if call.needs != "anyone":
        expected |= {"401", "403", "429", "504"}
    if call.body is not None:
        expected |= {"400", "413", "415"}
    if "{" in call.path:
        expected |= {"404"}

    assert expected <= set(responses), call.path
    for status in ("414", "431"):  # of the connection, which knows no route
        assert list(responses[status]["content"]) == ["application/problem+json"], call.path
    assert "default" not in responses, call.path
    for status, header in (("401", "WWW-Authenticate"), ("405", "Allow"), ("429", "Retry-After")):
        described = responses.get(status, {"headers": [header]})
        assert header in described["headers"], (call.path, status)


async def test_parameters_say_what_they_may_be(description: dict[str, Any]) -> None:
    paths = description["paths"]
    documents = {each["name"]: each for each in paths["/v1/documents"]["get"]["parameters"]}
    jobs = {each["name"]: each for each in paths["/v1/jobs"]["get"]["parameters"]}
    explained = paths["/v1/documents/{document_id}/access/explain"]["get"]["parameters"]

    assert documents["limit"]["schema"] == {"type": "integer", "minimum": 1, "maximum": 100}
    assert jobs["state"]["schema"]["enum"] == ["waiting", "running", "done", "failed"]
    assert {each["name"] for each in explained if each["required"]} == {"document_id", "subject"}


async def test_texts_of_a_form_have_its_pattern(description: dict[str, Any]) -> None:
    schemas = description["components"]["schemas"]
    readers = schemas["DocumentBody"]["properties"]["readers"]["anyOf"][0]["items"]["pattern"]

    assert re.fullmatch(readers, "group:sales")
    assert not re.fullmatch(readers, "everyone")
    for schema in nodes(schemas):
        if "patternProperties" in schema:
            assert schema["additionalProperties"] is False


async def test_what_the_description_refuses_is_refused(gateway: Gateway) -> None:
    await gateway.tenant("beta")
    admin = await gateway.caller("ada", tenant="beta", roles=["admin"])
    search = "/v1/vector_stores/api/search"
    refused = [
        await gateway.operator.call("GET", "/v1/keys?tenant=0.5"),
        await admin.call("GET", "/v1/keys?tenant="),
        await admin.call("GET", "/v1/audit/log?since=0.5"),
        await admin.call("GET", "/v1/audit/log?since=1700000000"),
        await gateway.operator.call("PUT", "/v1/tenants/A/budget", json={}),
        await admin.call("POST", "/mcp", json={"method": "notifications/initialized"}),
        await admin.call("POST", search, json={"query": ""}),
        await admin.call("POST", search, json={"query": ["leave", " "]}),
    ]

    assert [answer.status_code for answer in refused] == [422] * 5 + [400] * 3
