"""The description of the API, made from the same table as its routes."""

import re
from collections.abc import Sequence
from importlib import metadata
from typing import Any

from pydantic import BaseModel
from pydantic.json_schema import JsonSchemaMode, models_json_schema

from gateway import problems
from gateway.exchange import Call

_REF = "#/components/schemas/{model}"
_EVENT = {
    "type": "object",
    "properties": {
        "event": {"type": "string"},
        "data": {"type": "string", "description": "JSON, in one line"},
    },
    "required": ["event", "data"],
}
_PROBLEM = {
    "type": "object",
    "description": "RFC 9457",
    "required": ["type", "title", "status", "detail"],
    "properties": {
        "type": {"type": "string"},
        "title": {"type": "string"},
        "status": {"type": "integer"},
        "detail": {"type": "string"},
        "errors": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["field", "detail"],
                "properties": {"field": {"type": "string"}, "detail": {"type": "string"}},
            },
        },
    },
}


def document(calls: Sequence[Call]) -> dict[str, Any]:
    """An OpenAPI 3.1 document."""
    paths: dict[str, dict[str, Any]] = {}
    for call in calls:
        paths.setdefault(_path(call), {})[call.method.lower()] = _operation(call)
    return {
        "openapi": "3.1.0",
        "info": {"title": "Nearhit", "version": metadata.version("nearhit")},
        "paths": paths,
        "components": {
            "schemas": _schemas(calls) | {"Problem": _PROBLEM},
            "securitySchemes": {"key": {"type": "http", "scheme": "bearer"}},
        },
    }


def _operation(call: Call) -> dict[str, Any]:
    operation: dict[str, Any] = {
        "operationId": call.handle.__name__,
        "summary": call.summary,
        "security": [] if call.needs == "anyone" else [{"key": []}],
        "parameters": [
            {"name": name, "in": "path", "required": True, "schema": {"type": "string"}}
            for name in _names(call)
        ]
        + [
            {"name": name, "in": "query", "required": False, "schema": {"type": "string"}}
            for name in call.parameters
        ],
        "responses": {
            str(call.status): _right(call),
            **({"202": _content(call.later, call.media_type)} if call.later else {}),
            **({str(call.silent): _content(None, "")} if call.silent else {}),
            "default": _wrong(call),
        },
    }
    if call.body is not None:
        media_type = call.body_type or call.media_type
        operation["requestBody"] = {"required": True, **_content(call.body, media_type)}
    return operation


def _right(call: Call) -> dict[str, Any]:
    answer = _content(call.answer, call.media_type)
    if call.stream_type:
        answer["content"][call.stream_type] = {"schema": _EVENT}
    return answer


def _wrong(call: Call) -> dict[str, Any]:
    """What says what is wrong: a problem, or what the call has instead; some calls have both."""
    problem = _content(None, "application/problem+json", ref="Problem")
    if call.error is None:
        return problem
    own = _content(call.error, "application/json")
    if call.render is problems.render:
        own["content"] |= problem["content"]
    return own


def _content(model: type[BaseModel] | None, media_type: str, ref: str = "") -> dict[str, Any]:
    name = model.__name__ if model else ref
    if not name:
        return {"description": "no content"}
    schema = {"$ref": _REF.format(model=name)}
    return {"description": name, "content": {media_type: {"schema": schema}}}


def _path(call: Call) -> str:
    return re.sub(r"\{(\w+):\w+\}", r"{\1}", call.path)


def _names(call: Call) -> list[str]:
    return re.findall(r"\{(\w+)", call.path)


def _schemas(calls: Sequence[Call]) -> dict[str, Any]:
    wanted: list[tuple[type[BaseModel], JsonSchemaMode]] = []
    for call in calls:
        wanted += [(call.body, "validation")] if call.body else []
        wanted += [
            (answer, "serialization") for answer in (call.answer, call.later, call.error) if answer
        ]
    _, schema = models_json_schema(wanted, ref_template=_REF)
    schemas: dict[str, Any] = schema["$defs"]
    return schemas
