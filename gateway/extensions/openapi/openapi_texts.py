"""What `/openapi.json` says of fields and parameters, beside what stands in the models of bodies.

`openapi_texts.toml` has it: descriptions of what means the same wherever its name occurs, and
examples. Of a field, the name of the body and the field comes before the name of the field.
"""

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

with (Path(__file__).parent / "openapi_texts.toml").open("rb") as _file:
    _texts = tomllib.load(_file)

OF_FIELDS: Mapping[str, str] = _texts["fields"]
OF_BODY_FIELDS: Mapping[str, str] = _texts["body_fields"]
OF_PARAMETERS: Mapping[str, str] = _texts["parameters"]
REQUEST_EXAMPLES: Mapping[str, Any] = _texts["requests"]
EXAMPLES: Mapping[str, Any] = _texts["examples"]
FORMAT_EXAMPLES: Mapping[str, Any] = _texts["formats"]


def of_field(body: str, field: str) -> str | None:
    return OF_BODY_FIELDS.get(f"{body}.{field}") or OF_FIELDS.get(field)
