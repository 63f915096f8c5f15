"""What the description of the API says to people: each field, parameter and call is explained."""

from typing import Any

import orjson
import pytest
from pydantic import BaseModel

from gateway.extensions.openapi import examples, openapi_document, openapi_texts
from tests.gateway.support.routes import ROUTES

MODELS: dict[str, type[BaseModel]] = {
    model.__name__: model
    for route in ROUTES
    for model in (route.body, route.answer, route.queued_answer, route.error)
    if model is not None
}


@pytest.fixture(scope="module")
def document() -> dict[str, Any]:
    return openapi_document.document(ROUTES)


@pytest.fixture
def schemas(document: dict[str, Any]) -> dict[str, Any]:
    found = document["components"]["schemas"]
    assert isinstance(found, dict)
    return found


@pytest.fixture
def operations(document: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    return [
        (f"{method.upper()} {path}", operation)
        for path, methods in document["paths"].items()
        for method, operation in methods.items()
    ]


@pytest.fixture
def fields(schemas: dict[str, Any]) -> list[tuple[str, str, dict[str, Any]]]:
    return [
        (body, field, described)
        for body, schema in schemas.items()
        for field, described in schema.get("properties", {}).items()
    ]


def test_each_field_of_each_body_is_described(
    schemas: dict[str, Any], fields: list[tuple[str, str, dict[str, Any]]]
) -> None:
    assert len(schemas) > 100
    assert [f"{body}.{field}" for body, field, schema in fields if not described(schema)] == []


def described(schema: dict[str, Any]) -> bool:
    text = schema.get("description")
    return isinstance(text, str) and len(text) > 3


def test_no_description_is_for_a_field_that_does_not_exist(
    operations: list[tuple[str, dict[str, Any]]], fields: list[tuple[str, str, dict[str, Any]]]
) -> None:
    named = {f"{body}.{field}" for body, field, _ in fields}
    used = {
        field
        for body, field, schema in fields
        if f"{body}.{field}" not in openapi_texts.OF_BODY_FIELDS
        and schema["description"] == openapi_texts.OF_FIELDS.get(field)
    }
    parameters = {
        parameter["name"] for _, operation in operations for parameter in operation["parameters"]
    }

    assert openapi_texts.OF_BODY_FIELDS.keys() - named == set()
    assert openapi_texts.OF_FIELDS.keys() - used == set()
    assert openapi_texts.OF_PARAMETERS.keys() - parameters == set()
    assert openapi_texts.REQUEST_EXAMPLES.keys() - MODELS.keys() == set()


def test_each_call_has_a_tag_examples_and_described_parameters_and_errors(
    document: dict[str, Any], operations: list[tuple[str, dict[str, Any]]]
) -> None:
    tags = {tag["name"] for tag in document["tags"]}

    for name, operation in operations:
        assert operation["summary"], name
        assert len(operation["tags"]) == 1, name
        assert set(operation["tags"]) <= tags, name
        for parameter in operation["parameters"]:
            assert parameter["description"], (name, parameter)
        bodies = [*operation.get("requestBody", {}).get("content", {}).values()]
        for status, response in operation["responses"].items():
            assert response["description"], (name, status)
            contents = response.get("content", {})
            bodies += [body for kind, body in contents.items() if kind != "text/event-stream"]
        assert all("example" in body for body in bodies), name
        assert {"500", "503"} <= operation["responses"].keys(), name


def test_each_example_is_valid(schemas: dict[str, Any]) -> None:
    """A model's error names it."""
    for route in ROUTES:
        if route.body is not None and route.body.__name__ != "FileUpload":
            route.body.model_validate_json(_json(examples.of_request(route.body.__name__, schemas)))
        for model in (route.answer, route.queued_answer, route.error):
            if model is not None:
                model.model_validate_json(_json(examples.of_answer(model.__name__, schemas)))


def _json(value: Any) -> bytes:
    return orjson.dumps(value)
