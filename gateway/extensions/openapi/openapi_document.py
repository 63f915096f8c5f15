"""The OpenAPI document, generated from the table of routes."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, get_args

from pydantic import BaseModel
from pydantic.json_schema import JsonSchemaMode, models_json_schema

from common.version import VERSION
from gateway.extension import (
    MIN_REVISION,
    MIN_REVISION_PATTERN,
    ApiRoute,
    Parameter,
    Preference,
    parameters,
    problem_catalog,
    problems,
)
from gateway.extensions.openapi import examples, openapi_texts
from index.model.quota import QuotaName

_REF = "#/components/schemas/{model}"
_OF_CONNECTION = {414, 431}  # answered before a route is known: always a problem document
_HEADERS: Mapping[int, Mapping[str, str]] = {
    401: {"WWW-Authenticate": "RFC 6750, section 3"},
    405: {"Allow": "the methods of the path"},
    429: {"Retry-After": "seconds"},
    503: {"Retry-After": "seconds"},
}


def _header(name: str, description: str, **schema: str) -> dict[str, Any]:
    """A header that a request may have."""
    return {
        "name": name,
        "in": "header",
        "required": False,
        "description": description,
        "schema": {"type": "string", **schema},
    }


_MIN_REVISION = _header(
    MIN_REVISION,
    "`Nearhit-Revision` of an earlier answer, which this one must reach",
    pattern=f"^{MIN_REVISION_PATTERN}$",
)
_PRECONDITIONS = [
    _header("If-Match", "`ETag` that the document must still have; `*`: it must exist"),
    _header("If-None-Match", "`*`: the document must not exist"),
]
_IF_NONE_MATCH = _header(
    "If-None-Match", "`ETag` that the reader has; if it is still the same, the answer is a 304"
)
_EVENT = {
    "type": "object",
    "properties": {
        "event": {"type": "string"},
        "data": {"type": "string", "description": "JSON in one line"},
    },
    "required": ["event", "data"],
}
_PROBLEM = {
    "type": "object",
    "description": "RFC 9457",
    "required": ["type", "title", "status", "detail"],
    "properties": {
        "type": {
            "type": "string",
            "description": "what went wrong, for programs; see `GET /v1/problems/{type}`",
        },
        "title": {"type": "string", "description": "the type in words"},
        "status": {"type": "integer", "description": "the HTTP status"},
        "detail": {"type": "string", "description": "what is wrong here, and what to do"},
        "errors": {
            "type": "array",
            "description": "the fields that are wrong",
            "items": {
                "type": "object",
                "required": ["field", "detail"],
                "properties": {"field": {"type": "string"}, "detail": {"type": "string"}},
            },
        },
        "quota": {"enum": [*get_args(QuotaName)], "description": "the one that is exceeded"},
        "used": {"type": "integer", "description": "what the tenant has of it"},
        "limit": {"type": "integer", "description": "what it may have"},
    },
}


def document(routes: Sequence[ApiRoute[Any]]) -> dict[str, Any]:
    """An OpenAPI 3.1 document."""
    schemas = _schemas(routes) | {"Problem": _PROBLEM}
    paths: dict[str, dict[str, Any]] = {}
    for route in routes:
        paths.setdefault(_path(route), {})[route.method.lower()] = _operation(route, schemas)
    return {
        "openapi": "3.1.0",
        "info": {"title": "Nearhit", "version": VERSION},
        "tags": [{"name": tag} for tag in sorted({_group(route) for route in routes})],
        "paths": paths,
        "components": {
            "schemas": schemas,
            "securitySchemes": {"key": {"type": "http", "scheme": "bearer"}},
        },
    }


def _operation(route: ApiRoute[Any], schemas: Mapping[str, Any]) -> dict[str, Any]:
    operation: dict[str, Any] = {
        "operationId": route.handle.__name__,
        "tags": [_group(route)],
        "summary": route.summary,
        "security": [] if route.needs == "anyone" else [{"key": []}],
        "parameters": [
            _parameter(name, "path", Parameter(schema, is_required=True))
            for name, schema in _path_parameters(route)
        ]
        + [_parameter(name, "query", parameter) for name, parameter in route.parameters.items()]
        + ([] if route.needs in ("anyone", "operator") else [_MIN_REVISION])
        + (_PRECONDITIONS if route.has_preconditions else [])
        + ([_IF_NONE_MATCH] if route.has_etag else [])
        + ([_prefer(route.preferences)] if route.preferences else []),
        "responses": {
            str(route.status): _success(route, schemas),
            **(
                {"202": _answer(route.queued_answer, route.media_type, schemas)}
                if route.queued_answer
                else {}
            ),
            **({str(route.empty_status): _content(None, "")} if route.empty_status else {}),
            **({"304": {"description": "the reader has it already"}} if route.has_etag else {}),
            **{str(status): _error(route, status, schemas) for status in _error_statuses(route)},
        },
    }
    if route.body is not None:
        media_type = route.body_type or route.media_type
        operation["requestBody"] = {
            "required": not route.is_body_optional,
            **_content(
                route.body, media_type, example=examples.of_request(route.body.__name__, schemas)
            ),
        }
    return operation


def _prefer(preferences: Mapping[str, Preference]) -> dict[str, Any]:
    texts = (f"`{name}`: {each.summary}, in `{each.header}`" for name, each in preferences.items())
    return _header("Prefer", "; ".join(texts))


def _parameter(name: str, where: str, parameter: Parameter) -> dict[str, Any]:
    described = openapi_texts.OF_PARAMETERS.get(name)
    own = parameter.schema.get("description", described)
    return {
        "name": name,
        "in": where,
        "required": parameter.is_required,
        **({"description": own} if own else {}),
        "schema": parameter.schema,
    }


def _answer(
    model: type[BaseModel] | None, media_type: str, schemas: Mapping[str, Any]
) -> dict[str, Any]:
    if model is None:
        return _content(None, media_type)
    return _content(model, media_type, example=examples.of_answer(model.__name__, schemas))


def _success(route: ApiRoute[Any], schemas: Mapping[str, Any]) -> dict[str, Any]:
    answer = _answer(route.answer, route.media_type, schemas)
    if route.has_etag:
        description = "for `If-Match` of a write, and `If-None-Match` of a read"
        answer["headers"] = {"ETag": {"description": description, "schema": {"type": "string"}}}
    for name, preferred in (route.preferences or {}).items():
        description = f"if `Prefer: {name}` asks for it: {preferred.content}"
        header = {"description": description, "schema": {"type": "string"}}
        answer.setdefault("headers", {})[preferred.header] = header
    if route.stream_type:
        answer["content"][route.stream_type] = {"schema": _EVENT}
    return answer


def _error_statuses(route: ApiRoute[Any]) -> list[int]:
    """The error statuses of the route."""
    statuses = {405, 422, 500, 503} | _OF_CONNECTION
    if route.needs != "anyone":
        statuses |= {401, 403, 409, 429, 504}
    if route.body is not None:
        statuses |= {400, 413, 415}
    if "{" in route.path or route.parameters or route.method != "GET" or route.is_optional:
        statuses |= {404}
    if route.has_preconditions:
        statuses |= {412}
    if route.is_generated:
        statuses |= {402, 501}
    if route.render is not problems.render:
        statuses = statuses - {422} | {400}  # other protocols answer 400
    return sorted(statuses)


def _error(route: ApiRoute[Any], status: int, schemas: Mapping[str, Any]) -> dict[str, Any]:
    """An error response: a problem document, the route's own error body, or either."""
    kind = problem_catalog.kind_of_status(status)
    example = {"type": kind.urn, "title": kind.title, "status": status, "detail": kind.cause}
    problem = _content(None, "application/problem+json", ref="Problem", example=example)
    media_types = problem["content"]
    if route.error is not None and status not in _OF_CONNECTION:
        own_media_types = _answer(route.error, route.error_type, schemas)["content"]
        media_types = own_media_types | (media_types if route.render is problems.render else {})
    response: dict[str, Any] = {"description": kind.title, "content": media_types}
    if status in _HEADERS:
        response["headers"] = {
            name: {"required": status != 503, "description": text, "schema": {"type": "string"}}
            for name, text in _HEADERS[status].items()
        }
    return response


def _content(
    model: type[BaseModel] | None, media_type: str, ref: str = "", example: Any = None
) -> dict[str, Any]:
    name = model.__name__ if model else ref
    if not name:
        return {"description": "no content"}
    schema = {"$ref": _REF.format(model=name)}
    shown = {} if example is None else {"example": example}
    return {"description": name, "content": {media_type: {"schema": schema, **shown}}}


def _path(route: ApiRoute[Any]) -> str:
    return re.sub(r"\{(\w+):\w+\}", r"{\1}", route.path)


def _group(route: ApiRoute[Any]) -> str:
    """What generated clients sort the calls by: the first word of the path below `/v1`."""
    words = route.path.strip("/").split("/")
    if words[0] == "v1":
        return words[1]
    return "mcp" if route.is_resource else "operation"


def _path_parameters(route: ApiRoute[Any]) -> Iterator[tuple[str, parameters.Schema]]:
    """The names in the path, with their schemas."""
    for name in re.findall(r"\{(\w+)", route.path):
        own = route.path_parameters.get(name)
        yield name, parameters.IN_PATH[name] if own is None else own.schema


def _schemas(routes: Sequence[ApiRoute[Any]]) -> dict[str, Any]:
    models: list[tuple[type[BaseModel], JsonSchemaMode]] = []
    for route in routes:
        models += [(route.body, "validation")] if route.body else []
        models += [
            (model, "serialization")
            for model in (route.answer, route.queued_answer, route.error)
            if model
        ]
    _, schema = models_json_schema(models, ref_template=_REF)
    schemas: dict[str, Any] = schema["$defs"]
    _close(schemas)
    for body, body_schema in schemas.items():
        for field, described in body_schema.get("properties", {}).items():
            if "description" not in described:
                text = openapi_texts.of_field(body, field)
                described.update({"description": text} if text else {})
    return schemas


def _close(schema: Any) -> None:
    """Forbid names outside a pattern, in place; pydantic omits this."""
    if isinstance(schema, dict):
        if "patternProperties" in schema:
            schema.setdefault("additionalProperties", False)
        schema = list(schema.values())
    if isinstance(schema, list):
        for part in schema:
            _close(part)
