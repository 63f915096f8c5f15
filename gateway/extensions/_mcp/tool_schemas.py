"""The JSON Schemas of tools: flat, self-contained and short.

Several clients drop a tool whose schema has `$ref` or `anyOf`, and each session of an agent pays
for every character. An error tells the limits that a schema leaves out.

Pure.
"""

from collections.abc import Mapping
from functools import cache
from typing import Any

from pydantic import BaseModel
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaMode, JsonSchemaValue
from pydantic_core import CoreSchema, core_schema

_KEYWORDS = frozenset(
    {"type", "description", "enum", "properties", "required", "items", "additionalProperties"}
)


@cache
def of_model(model: type[BaseModel]) -> JsonSchemaValue:
    return model.model_json_schema(schema_generator=_FlatSchema, mode="validation")


def without_descriptions(schema: Any) -> Any:
    """For a field whose own description says what is inside."""
    if not isinstance(schema, dict):
        return schema
    return {
        name: without_descriptions(value)
        for name, value in schema.items()
        if name != "description" or isinstance(value, dict)  # a field may have this name
    }


class _FlatSchema(GenerateJsonSchema):
    """An optional field may be absent, so that it needs no null."""

    def generate(self, schema: CoreSchema, mode: JsonSchemaMode = "validation") -> JsonSchemaValue:
        generated = super().generate(schema, mode)
        flat: JsonSchemaValue = _flat(generated, generated.get("$defs", {}))
        return flat

    def nullable_schema(self, schema: core_schema.NullableSchema) -> JsonSchemaValue:
        return self.generate_inner(schema["schema"])


def _flat(schema: Mapping[str, Any], definitions: Mapping[str, Any]) -> JsonSchemaValue:
    """The schema with its definitions inlined; what can't be said in `_KEYWORDS` is left out."""
    if "$ref" in schema:
        schema = {**definitions[schema["$ref"].removeprefix("#/$defs/")], **schema}
    flat = {name: value for name, value in schema.items() if name in _KEYWORDS}
    if "properties" in flat:
        fields = flat["properties"].items()
        flat["properties"] = {name: _flat(inner, definitions) for name, inner in fields}
    if "items" in flat:
        flat["items"] = _flat(flat["items"], definitions)
    values = flat.pop("additionalProperties", None)
    if isinstance(values, dict) and (values := _flat(values, definitions)):
        flat["additionalProperties"] = values
    return flat
