"""The OpenAPI document, generated from the table of routes."""

import re
from collections.abc import Mapping, Sequence
from importlib import metadata
from typing import Any, get_args

from pydantic import BaseModel
from pydantic.json_schema import JsonSchemaMode, models_json_schema

from gateway import problems
from gateway.api import parameters
from gateway.auth import freshness
from gateway.http.route import ApiRoute
from index.model.quota import QuotaName

_REF = "#/components/schemas/{model}"
_ERROR_DESCRIPTIONS: Mapping[int, str] = {
    400: "Malformed body",
    401: "Unauthorized",
    402: "Budget exceeded",
    403: "Forbidden",
    404: "Not found",
    405: "Method not allowed",
    409: "Conflict",
    412: "Precondition failed",
    413: "Body too large",
    415: "Unsupported media type",
    422: "Invalid field",
    429: "Too many requests",
    431: "Request headers too large",
    500: "Internal error",
    501: "Not configured",
    502: "Language model failed",
    503: "Temporarily unavailable",
    504: "Deadline exceeded",
}
_HEADERS: Mapping[int, Mapping[str, str]] = {
    401: {"WWW-Authenticate": "RFC 6750, section 3"},
    405: {"Allow": "the methods of the path"},
    429: {"Retry-After": "seconds"},
    503: {"Retry-After": "seconds"},
}
_MIN_REVISION = {
    "name": freshness.MIN_REVISION,
    "in": "header",
    "required": False,
    "description": "`Nearhit-Revision` of an earlier answer, which this one must reach",
    "schema": {"type": "string", "pattern": f"^{freshness.MIN_REVISION_PATTERN}$"},
}
_PRECONDITIONS = [
    {
        "name": name,
        "in": "header",
        "required": False,
        "description": description,
        "schema": {"type": "string"},
    }
    for name, description in (
        ("If-Match", "`ETag` that the document must still have; `*`: it must exist"),
        ("If-None-Match", "`*`: the document must not exist"),
    )
]
_PREFER_RECEIPT = {
    "name": "Prefer",
    "in": "header",
    "required": False,
    "description": "`receipt`: a signed statement about the answer, in `Nearhit-Receipt`",
    "schema": {"type": "string"},
}
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
        "quota": {"enum": [*get_args(QuotaName)], "description": "the one that is exceeded"},
        "used": {"type": "integer", "description": "what the tenant has of it"},
        "limit": {"type": "integer", "description": "what it may have"},
    },
}


def document(routes: Sequence[ApiRoute[Any]]) -> dict[str, Any]:
    """An OpenAPI 3.1 document."""
    paths: dict[str, dict[str, Any]] = {}
    for route in routes:
        paths.setdefault(_path(route), {})[route.method.lower()] = _operation(route)
    return {
        "openapi": "3.1.0",
        "info": {"title": "Nearhit", "version": metadata.version("nearhit")},
        "paths": paths,
        "components": {
            "schemas": _schemas(routes) | {"Problem": _PROBLEM},
            "securitySchemes": {"key": {"type": "http", "scheme": "bearer"}},
        },
    }


def _operation(route: ApiRoute[Any]) -> dict[str, Any]:
    operation: dict[str, Any] = {
        "operationId": route.handle.__name__,
        "tags": [_group(route)],
        "summary": route.summary,
        "security": [] if route.needs == "anyone" else [{"key": []}],
        "parameters": [
            {"name": name, "in": "path", "required": True, "schema": parameters.IN_PATH[name]}
            for name in _path_parameters(route)
        ]
        + [
            {
                "name": name,
                "in": "query",
                "required": parameter.is_required,
                "schema": parameter.schema,
            }
            for name, parameter in route.parameters.items()
        ]
        + ([] if route.needs in ("anyone", "operator") else [_MIN_REVISION])
        + (_PRECONDITIONS if route.has_preconditions else [])
        + ([_PREFER_RECEIPT] if route.has_receipt else []),
        "responses": {
            str(route.status): _success(route),
            **(
                {"202": _content(route.queued_answer, route.media_type)}
                if route.queued_answer
                else {}
            ),
            **({str(route.empty_status): _content(None, "")} if route.empty_status else {}),
            **{str(status): _error(route, status) for status in _error_statuses(route)},
        },
    }
    if route.body is not None:
        media_type = route.body_type or route.media_type
        operation["requestBody"] = {
            "required": not route.is_body_optional,
            **_content(route.body, media_type),
        }
    return operation


def _success(route: ApiRoute[Any]) -> dict[str, Any]:
    answer = _content(route.answer, route.media_type)
    if route.has_etag:
        description = "for `If-Match` of a write"
        answer["headers"] = {"ETag": {"description": description, "schema": {"type": "string"}}}
    if route.has_receipt:
        description = "if `Prefer: receipt` asks for it and there are keys: a JSON Web Signature"
        receipt = {"description": description, "schema": {"type": "string"}}
        answer["headers"] = {"Nearhit-Receipt": receipt}
    if route.stream_type:
        answer["content"][route.stream_type] = {"schema": _EVENT}
    return answer


def _error_statuses(route: ApiRoute[Any]) -> list[int]:
    """The error statuses of the route."""
    statuses = {405, 422, 431, 500, 503}
    if route.needs != "anyone":
        statuses |= {401, 403, 409, 429, 504}
    if route.body is not None:
        statuses |= {400, 413, 415}
    if "{" in route.path or route.parameters or route.method != "GET" or route.is_optional:
        statuses |= {404}
    if route.has_preconditions:
        statuses |= {412}
    if route.is_generated:
        statuses |= {402, 501, 502}
    if route.render is not problems.render:
        statuses = statuses - {422} | {400}  # OpenAI's API and SCIM answer 400
    return sorted(statuses)


def _error(route: ApiRoute[Any], status: int) -> dict[str, Any]:
    """An error response: a problem document, the route's own error body, or either."""
    media_types = _content(None, "application/problem+json", ref="Problem")["content"]
    if route.error is not None:
        own_media_types = _content(route.error, route.error_type)["content"]
        media_types = own_media_types | (media_types if route.render is problems.render else {})
    response: dict[str, Any] = {"description": _ERROR_DESCRIPTIONS[status], "content": media_types}
    if status in _HEADERS:
        response["headers"] = {
            name: {"required": status != 503, "description": text, "schema": {"type": "string"}}
            for name, text in _HEADERS[status].items()
        }
    return response


def _content(model: type[BaseModel] | None, media_type: str, ref: str = "") -> dict[str, Any]:
    name = model.__name__ if model else ref
    if not name:
        return {"description": "no content"}
    schema = {"$ref": _REF.format(model=name)}
    return {"description": name, "content": {media_type: {"schema": schema}}}


def _path(route: ApiRoute[Any]) -> str:
    return re.sub(r"\{(\w+):\w+\}", r"{\1}", route.path)


def _group(route: ApiRoute[Any]) -> str:
    """What generated clients sort the calls by: the first word of the path below `/v1`."""
    words = route.path.strip("/").split("/")
    if words[0] == "v1":
        return words[1]
    return "mcp" if route.is_resource else "operation"


def _path_parameters(route: ApiRoute[Any]) -> list[str]:
    return re.findall(r"\{(\w+)", route.path)


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
