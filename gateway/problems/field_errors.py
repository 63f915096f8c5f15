"""The errors of a body that does not fit its model, as the caller knows its fields.

Pydantic names the branches of unions in the path of an error, and speaks of Python's types. Callers
have sent JSON: a path here has only parts that the body has, and a message names no type of Python.

Does no I/O.
"""

import difflib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, get_args

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from common import validation_text
from gateway.monitoring.logs import KEY_START

UNKNOWN_BODY = object()
_REQUIRED = "Field required"
_KEY = "[key]"  # pydantic's mark of an error in the name of a field, not in its value
_WITHOUT_TAG = ("union_tag_invalid", "union_tag_not_found")


@dataclass(frozen=True, slots=True)
class FieldError:
    """The error of one field; `field` is its path, such as `filter.tags_any.0`."""

    field: str
    detail: str


def field_errors(
    error: ValidationError,
    body: Any = UNKNOWN_BODY,
    model: type[BaseModel] | None = None,
    *,
    most: int | None = None,
) -> list[FieldError]:
    """One for each invalid field, in pydantic's order.

    body: the JSON value that was validated. model: that it was validated as; if it is given, the
    error of an unknown field names the field that the caller may have meant. most: how many are
    described; a body can have a million, for which the event loop would wait.
    """
    return [
        FieldError(_path(each, body) or "body", message(each) + _meant(each, model))
        for each in islice(_causes(error.errors(include_url=False, include_input=False)), most)
    ]


def of_settings(error: ValidationError, prefix: str, model: type[BaseModel]) -> Iterator[str]:
    """A sentence for each; `prefix` begins the names of the variables. model: of the settings."""
    for each in error.errors():
        path = [str(part) for part in each["loc"] if part != _KEY]
        text = message(each)
        if each["type"] == "string_pattern_mismatch":  # people read no regular expression
            text = f"does not have this form: {model.model_fields[path[0]].description}"
        path[:1] = [prefix + name.upper() for name in path[:1]]  # none if two settings disagree
        yield ": ".join((*path, text))


def message(error: ErrorDetails) -> str:
    """What the value must be."""
    context = error.get("ctx", {})
    match error["type"]:
        case "value_error":
            return str(context["error"])
        case "extra_forbidden":
            return "unknown field"
        case "too_short":
            return f"must have at least {_amount(context['min_length'], context['field_type'])}"
        case "too_long":
            return f"must have at most {_amount(context['max_length'], context['field_type'])}"
        case "union_tag_invalid":
            return f"must be one of {context['expected_tags'].replace(chr(39), '')}"
        case "union_tag_not_found":
            return _REQUIRED
        case _:
            return validation_text.plain(error["msg"])


def _meant(error: ErrorDetails, model: type[BaseModel] | None) -> str:
    """Which field may have been meant by an unknown one, as the end of a sentence."""
    if error["type"] != "extra_forbidden" or model is None:
        return ""
    *location, name = error["loc"]
    fields = _fields(model)
    for part in location:
        if isinstance(part, str) and part in fields:
            fields = _fields(fields[part])
    paths = {inner: f"{outer}.{inner}" for outer, each in fields.items() for inner in _fields(each)}
    paths |= {field: field for field in fields}
    similar = difflib.get_close_matches(str(name), paths, n=1)
    return f"; did you mean {paths[similar[0]]}?" if similar else ""


def _fields(annotation: Any) -> Mapping[str, Any]:
    """Of all models in an annotation, the annotation of each field by its name in JSON."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        fields = annotation.model_fields
        return {field.alias or name: field.annotation for name, field in fields.items()}
    return {name: inner for part in get_args(annotation) for name, inner in _fields(part).items()}


def _causes(errors: Sequence[ErrorDetails]) -> Iterator[ErrorDetails]:
    """All but those of lists that seem too short because their items are invalid."""
    for error in errors:
        location = error["loc"]
        follows = error["type"] == "too_short" and any(
            len(other["loc"]) > len(location) and other["loc"][: len(location)] == location
            for other in errors
        )
        if not follows:
            yield error


def _path(error: ErrorDetails, body: Any) -> str:
    location, is_missing = error["loc"], error["type"] in ("missing", "union_tag_not_found")
    if error["type"] in _WITHOUT_TAG:
        location = (*location, error["ctx"]["discriminator"].strip("'"))
    parts, value = [], body
    for number, part in enumerate(location, start=1):
        is_sent = (isinstance(value, dict) and part in value) or (
            isinstance(value, list) and isinstance(part, int)
        )
        if is_sent:
            value = value[part]
        is_named = part == _KEY or (is_missing and number == len(location))
        if is_sent or is_named or body is UNKNOWN_BODY:
            parts.append(masked(part))
    return ".".join(parts)


def masked(part: int | str) -> str:
    """A part of a field's path, masked if the caller has sent an API key there."""
    return f"{KEY_START}…" if KEY_START in str(part) else str(part)


def _amount(number: int, field_type: str) -> str:
    unit = "character" if field_type == "Value" else "item"  # `Value` is a secret
    return f"{number:,} {unit}{'' if number == 1 else 's'}"
