"""The arguments of a tool as a model means them: what round-trips to the declared type is taken.

Models and their clients send `"5"` or `5.0` for 5, one value, its JSON text or values with commas
between them for a list, and `null`, `"null"`, `""` or `[]` for an argument that they leave out.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

import orjson

from common.shares.threads import TenantThreads
from gateway.extension import Body, problems, schemas
from gateway.extensions._mcp import tool_schemas
from index.model.document import METADATA_INTEGER_MAX

Arguments = TypeVar("Arguments", bound=Body)

_UNSET = (None, "", "null")
_DECODED: Mapping[str, tuple[type, ...]] = {
    "integer": (int, float),
    "number": (int, float),
    "boolean": (bool,),
    "array": (list, str),
    "object": (dict,),
}


@dataclass(frozen=True, slots=True)
class ToolArguments:
    """sent: the arguments of a call as JSON."""

    sent: bytes

    def parse(self, model: type[Arguments]) -> Arguments:
        """Raises a `Problem` with an error per invalid argument."""
        meant = _as_meant(orjson.loads(self.sent), tool_schemas.of_model(model))
        try:
            encoded = orjson.dumps(meant)
        except orjson.JSONEncodeError:  # of a text that held JSON, whose depth nobody has checked
            raise problems.malformed("The arguments are nested too deeply.") from None
        return schemas.parse(model, encoded)

    async def parse_within(self, threads: TenantThreads, model: type[Arguments]) -> Arguments:
        """As `parse`; long arguments in a thread. Raises `Saturated` too."""
        (parsed,) = await threads.map(lambda _: self.parse(model), [self.sent])
        return parsed


def _as_meant(value: Any, schema: Mapping[str, Any]) -> Any:
    """The value in the type that the schema declares; unchanged if it stands for none."""
    kind: str = schema.get("type", "")
    if isinstance(value, str) and kind in _DECODED:
        value = _decoded(value, _DECODED[kind])
    match kind:
        case "integer" if isinstance(value, float) and value.is_integer():
            # A greater one stays a number that the field refuses: JSON is written with 64 bits.
            return int(value) if abs(value) <= METADATA_INTEGER_MAX else value
        case "string" if type(value) in (int, float):
            return orjson.dumps(value).decode()
        case "array":
            values = value if isinstance(value, list) else _listed(value)
            return [_as_meant(item, schema["items"]) for item in values if item not in _UNSET]
        case "object" if isinstance(value, dict) and "properties" in schema:
            return _fields(value, schema)
        case _:
            return value


def _decoded(text: str, types: tuple[type, ...]) -> Any:
    """The value that the text encodes in JSON, if it is of one of these types; else the text."""
    try:
        value = orjson.loads(text)
    except orjson.JSONDecodeError:
        return text
    return value if type(value) in types else text


def _listed(value: Any) -> list[Any]:
    """The values that stand for a list; one with a comma in it has to be sent in a list."""
    return [part.strip() for part in value.split(",")] if isinstance(value, str) else [value]


def _fields(fields: Mapping[str, Any], schema: Mapping[str, Any]) -> dict[str, Any]:
    """Without the optional ones that are unset; a tool without arguments ignores all of them.

    Some clients make up an argument for such a tool, because their model's API needs one.
    """
    properties, required = schema["properties"], schema.get("required", ())
    if not properties:
        return {}
    meant = {
        name: _as_meant(value, properties.get(name, {}))
        for name, value in fields.items()
        if name in required or value not in _UNSET
    }
    return {name: value for name, value in meant.items() if name in required or value != []}
