"""Examples of bodies for `/openapi.json`: written ones, and ones made of their schemas.

Written ones stand in the models of bodies, or in `openapi_texts.toml`. A made example has the
required fields of a request, or the fields that every answer has. Tests validate each against its
model.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from gateway.extensions.openapi import openapi_texts

_REF_PREFIX = "#/components/schemas/"
_NULL = {"type": "null"}
_DEPTH_MAX = 8  # of a schema that contains itself


def of_request(name: str, schemas: Mapping[str, Any]) -> Any:
    """An example of the request body with this name."""
    if name in openapi_texts.REQUEST_EXAMPLES:
        return openapi_texts.REQUEST_EXAMPLES[name]
    return _of(schemas[name], schemas, "", only_required=True)


def of_answer(name: str, schemas: Mapping[str, Any]) -> Any:
    """An example of the response body with this name."""
    return _of(schemas[name], schemas, "", only_required=False)


def _of(
    schema: Mapping[str, Any],
    schemas: Mapping[str, Any],
    field: str,
    *,
    only_required: bool,
    depth: int = 0,
) -> Any:
    """An example of the schema; field: the name under which it stands."""

    def of(part: Mapping[str, Any], name: str = field) -> Any:
        return _of(part, schemas, name, only_required=only_required, depth=depth + 1)

    if "$ref" in schema:
        return of(schemas[schema["$ref"].removeprefix(_REF_PREFIX)])
    if "examples" in schema:
        return schema["examples"][0]
    if "const" in schema:
        return schema["const"]
    if "enum" in schema:
        return schema["enum"][0]
    if choices := schema.get("anyOf") or schema.get("oneOf"):
        is_left_out = openapi_texts.EXAMPLES.get(field) is None or depth > _DEPTH_MAX
        return None if _NULL in choices and is_left_out else of(_first(choices))
    match schema.get("type"):
        case "object":
            return _object(schema, of, only_required=only_required)
        case "array":
            return _array(schema, of, field) if depth <= _DEPTH_MAX else []
        case kind:
            return _scalar(schema, kind, field)


def _first(choices: Sequence[Mapping[str, Any]]) -> Mapping[str, Any]:
    return next(choice for choice in choices if choice != _NULL)


def _array(schema: Mapping[str, Any], of: Any, field: str) -> list[Any]:
    listed, item = openapi_texts.EXAMPLES.get(field), schema.get("items", {})
    if isinstance(listed, list) and item.get("type") == "string":
        return listed
    if "prefixItems" in schema:
        return [of(part, "") for part in schema["prefixItems"]]
    return [of(item, "")] if item else []


def _object(schema: Mapping[str, Any], of: Any, *, only_required: bool) -> dict[str, Any]:
    required, body = schema.get("required", ()), schema.get("title")
    shown = {}
    for name, part in schema.get("properties", {}).items():
        if f"{body}.{name}" in openapi_texts.EXAMPLES:
            shown[name] = openapi_texts.EXAMPLES[f"{body}.{name}"]
        elif name in required and "default" not in part:
            shown[name] = of(part, name)
        elif not only_required and part.get("default") is not None:
            shown[name] = part["default"]
    return shown


def _scalar(schema: Mapping[str, Any], kind: str | None, field: str) -> Any:
    own = openapi_texts.EXAMPLES.get(field)
    match kind:
        case "string":
            if schema.get("format") in openapi_texts.FORMAT_EXAMPLES:
                return openapi_texts.FORMAT_EXAMPLES[schema["format"]]
            return own if isinstance(own, str) else "leave"
        case "integer":
            return own if isinstance(own, int) else max(1, schema.get("minimum", 1))
        case "number":
            return own if isinstance(own, float) else 0.5
        case "boolean":
            return own if isinstance(own, bool) else False
        case "null":
            return None
        case _:
            return own if own is not None else {}
