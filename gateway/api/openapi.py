"""The description of the API, made from the same table as its routes."""

import re
from collections.abc import Mapping, Sequence
from importlib import metadata
from typing import Any

from pydantic import BaseModel
from pydantic.json_schema import JsonSchemaMode, models_json_schema

from gateway import problems
from gateway.api import parameters
from gateway.http.route import ApiRoute

_REF = "#/components/schemas/{model}"
_REFUSALS: Mapping[int, str] = {
    400: "The body can't be read",
    401: "No valid key",
    402: "What the tenant may use this month is used up",
    403: "The key may not do this",
    404: "There is no such thing",
    405: "No such method",
    409: "It contradicts what is stored",
    413: "The body is too large",
    415: "The body is of another type than the call takes",
    422: "A field is not valid",
    429: "Too many requests",
    431: "The head of the request is too large",
    500: "A mistake of the server",
    501: "Not set up here",
    502: "The language model gave no answer",
    503: "Not available now",
    504: "The deadline has passed",
}
_HEADERS: Mapping[int, Mapping[str, str]] = {
    401: {"WWW-Authenticate": "RFC 6750, section 3"},
    405: {"Allow": "the methods that the path has"},
    429: {"Retry-After": "seconds"},
    503: {"Retry-After": "seconds"},
}
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


def document(calls: Sequence[ApiRoute[Any]]) -> dict[str, Any]:
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


def _operation(call: ApiRoute[Any]) -> dict[str, Any]:
    operation: dict[str, Any] = {
        "operationId": call.handle.__name__,
        "summary": call.summary,
        "security": [] if call.needs == "anyone" else [{"key": []}],
        "parameters": [
            {"name": name, "in": "path", "required": True, "schema": parameters.IN_PATH[name]}
            for name in _names(call)
        ]
        + [
            {
                "name": name,
                "in": "query",
                "required": parameter.is_required,
                "schema": parameter.schema,
            }
            for name, parameter in call.parameters.items()
        ],
        "responses": {
            str(call.status): _right(call),
            **(
                {"202": _content(call.queued_answer, call.media_type)} if call.queued_answer else {}
            ),
            **({str(call.empty_status): _content(None, "")} if call.empty_status else {}),
            **{str(status): _wrong(call, status) for status in _refusals(call)},
        },
    }
    if call.body is not None:
        media_type = call.body_type or call.media_type
        operation["requestBody"] = {"required": True, **_content(call.body, media_type)}
    return operation


def _right(call: ApiRoute[Any]) -> dict[str, Any]:
    answer = _content(call.answer, call.media_type)
    if call.stream_type:
        answer["content"][call.stream_type] = {"schema": _EVENT}
    return answer


def _refusals(call: ApiRoute[Any]) -> list[int]:
    """The statuses with which the call may be refused."""
    statuses = {405, 422, 431, 500, 503}
    if call.needs != "anyone":
        statuses |= {401, 403, 429, 504}
    if call.body is not None:
        statuses |= {400, 413, 415}
    if "{" in call.path or call.parameters or call.method != "GET":
        statuses |= {404}
    if call.method != "GET":
        statuses |= {409}
    if call.is_generated:
        statuses |= {402, 501, 502}
    if call.render is not problems.render:
        statuses = statuses - {422} | {400}  # as OpenAI's API has it
    return sorted(statuses)


def _wrong(call: ApiRoute[Any], status: int) -> dict[str, Any]:
    """What says what is wrong: a problem, or what the call has instead; some calls have both."""
    media_types = _content(None, "application/problem+json", ref="Problem")["content"]
    if call.error is not None:
        own = _content(call.error, "application/json")["content"]
        media_types = own | (media_types if call.render is problems.render else {})
    refusal: dict[str, Any] = {"description": _REFUSALS[status], "content": media_types}
    if status in _HEADERS:
        refusal["headers"] = {
            name: {"required": status != 503, "description": said, "schema": {"type": "string"}}
            for name, said in _HEADERS[status].items()
        }
    return refusal


def _content(model: type[BaseModel] | None, media_type: str, ref: str = "") -> dict[str, Any]:
    name = model.__name__ if model else ref
    if not name:
        return {"description": "no content"}
    schema = {"$ref": _REF.format(model=name)}
    return {"description": name, "content": {media_type: {"schema": schema}}}


def _path(call: ApiRoute[Any]) -> str:
    return re.sub(r"\{(\w+):\w+\}", r"{\1}", call.path)


def _names(call: ApiRoute[Any]) -> list[str]:
    return re.findall(r"\{(\w+)", call.path)


def _schemas(calls: Sequence[ApiRoute[Any]]) -> dict[str, Any]:
    wanted: list[tuple[type[BaseModel], JsonSchemaMode]] = []
    for call in calls:
        wanted += [(call.body, "validation")] if call.body else []
        wanted += [
            (answer, "serialization")
            for answer in (call.answer, call.queued_answer, call.error)
            if answer
        ]
    _, schema = models_json_schema(wanted, ref_template=_REF)
    schemas: dict[str, Any] = schema["$defs"]
    _close(schemas)
    return schemas


def _close(schema: Any) -> None:
    """Where names have a pattern, other names are none: pydantic leaves this out."""
    if isinstance(schema, dict):
        if "patternProperties" in schema:
            schema.setdefault("additionalProperties", False)
        schema = list(schema.values())
    if isinstance(schema, list):
        for each in schema:
            _close(each)
