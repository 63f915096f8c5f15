"""The bodies that travel, as tables: a JSON schema's fields with type, limits and default."""

import json
from collections.abc import Iterator, Mapping
from typing import Any, TypeAlias

from docs.generate.markdown import code, join, table

Schema: TypeAlias = Mapping[str, Any]

_LIMITS = {
    "minimum": "≥&nbsp;{}",
    "exclusiveMinimum": ">&nbsp;{}",
    "maximum": "≤&nbsp;{}",
    "minLength": "length ≥&nbsp;{}",
    "maxLength": "length ≤&nbsp;{}",
    "minItems": "items ≥&nbsp;{}",
    "maxItems": "items ≤&nbsp;{}",
    "maxProperties": "keys ≤&nbsp;{}",
    "pattern": "pattern `{}`",
}


def reachable(values: Any, schemas: Mapping[str, Schema]) -> Mapping[str, Schema]:
    """The schemas that the values name, and those that these name."""
    found: dict[str, Schema] = {}
    waiting = list(_named(values))
    while waiting:
        name = waiting.pop()
        if name not in found:
            found[name] = schemas[name]
            waiting += _named(schemas[name])
    return found


def sections(schemas: Mapping[str, Schema]) -> Iterator[str]:
    """A heading and a table for each schema, by name."""
    for name, described in sorted(schemas.items()):
        yield join(
            f"### {name}",
            described.get("description", ""),
            _fields(described) or f"Type: {type_name(described)}.",
        ).strip()


def type_name(described: Schema) -> str:
    """`text or null`, with a link to each schema that has a section of its own."""
    if "$ref" in described:
        name = described["$ref"].rpartition("/")[2]
        return f"[{name}](#{name.lower()})"
    if "const" in described:
        return code(json.dumps(described["const"]))
    if "enum" in described:
        return ", ".join(code(json.dumps(value)) for value in described["enum"])
    for choice in ("anyOf", "oneOf", "allOf"):
        if choice in described:
            return " or ".join(dict.fromkeys(map(type_name, described[choice])))
    match described.get("type"):
        case "array":
            return f"list of {type_name(described.get('items', {}))}"
        case "object":
            return _object_name(described)
        case None:
            return "any JSON"
        case plain:
            return str(described.get("format", plain))


def _object_name(described: Schema) -> str:
    values = described.get("additionalProperties")
    return f"object of {type_name(values)}" if isinstance(values, dict) and values else "object"


def _named(values: Any) -> Iterator[str]:
    """The names of the schemas that the values refer to, at any depth."""
    match values:
        case {"$ref": str(reference)}:
            yield reference.rpartition("/")[2]
        case dict():
            yield from (name for value in values.values() for name in _named(value))
        case list():
            yield from (name for value in values for name in _named(value))


def _fields(described: Schema) -> str:
    required = described.get("required", ())
    rows = (
        (
            code(name),
            ", ".join((type_name(field), *_limits(field))),
            _default(field, is_required=name in required),
            field.get("description", ""),
        )
        for name, field in described.get("properties", {}).items()
    )
    return table(("field", "type and limits", "default", "what"), rows)


def _default(field: Schema, *, is_required: bool) -> str:
    if is_required:
        return "required"
    default = field.get("default")
    if default is None or isinstance(default, dict):
        return ""
    return code(json.dumps(default, ensure_ascii=False))


def _limits(field: Schema) -> Iterator[str]:
    """The limits of the field itself, then of each form that it can have, then of its items."""
    for name, text in _LIMITS.items():
        if name in field:
            limit = field[name]
            yield text.format(f"{limit:,}" if isinstance(limit, int) else limit).replace("|", "\\|")
    for choice in ("anyOf", "oneOf"):
        for form in field.get(choice, ()):
            yield from _limits(form)
    if "items" in field:
        yield from (f"each {limit}" for limit in _limits(field["items"]))
