"""Makes the fields of a document of values that people and tables have, with warnings.

A value that does not fit costs itself and never its document, except for `readers` and `owner`,
which nobody may guess.
"""

import re
from base64 import b64encode
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from datetime import date, time, timedelta
from decimal import Decimal
from math import isfinite
from typing import Any, get_args

import orjson
from pydantic import TypeAdapter

from index.model import document as model
from index.model.document_limits import (
    LANGUAGE,
    LANGUAGE_CHARACTERS_MAX,
    TEXT_CHARACTERS_MAX,
    TITLE_CHARACTERS_MAX,
    URI_CHARACTERS_MAX,
)
from index.model.form import CONTROLS, SURROGATES

_NOT_IN_A_LINE = re.compile(rf"[\s{CONTROLS}{SURROGATES}]+")
_CHUNKER = TypeAdapter(model.ChunkerName)
_DEPTH_MAX = 32  # of mappings and lists
_REMOVED = object()


def coerce(fields: Mapping[str, Any], warnings: list[str]) -> dict[str, Any]:
    """The fields, each within its limits or left out; warnings: gets what was changed.

    `readers`, `owner`, `text` and identifiers stay as they are.
    """
    coerced = dict(fields)
    for name, convert in _CONVERTERS.items():
        if name in coerced and coerced[name] is not None:
            value = convert(coerced[name], warnings)
            if value is _REMOVED:
                del coerced[name]
            else:
                coerced[name] = value
    return coerced


def scalar_text(value: object) -> str:
    """The value as its author would write it; mappings and lists as JSON."""
    match value:
        case str():
            return value
        case bool():
            return "true" if value else "false"
        case date() | time():
            return value.isoformat()
        case timedelta():
            return f"{value.total_seconds():.9f}".rstrip("0").rstrip(".") + " s"
        case bytes():
            with suppress(UnicodeDecodeError):
                return value.decode()
            return b64encode(value).decode()
        case dict() | list() | tuple():
            return _json(value)
        case _:
            return str(value)


def _json(value: object) -> str:
    try:
        return orjson.dumps(
            value,
            default=scalar_text,
            option=orjson.OPT_NON_STR_KEYS | orjson.OPT_PASSTHROUGH_DATETIME,
        ).decode()
    except (TypeError, ValueError):  # an integer of more than 64 bits, or deep nesting
        return str(value)


def _line(value: object, characters_max: int) -> str:
    return _NOT_IN_A_LINE.sub(" ", scalar_text(value)).strip()[:characters_max].strip()


def _title(value: object, warnings: list[str]) -> str:
    title, whole = _line(value, TITLE_CHARACTERS_MAX), _line(value, TEXT_CHARACTERS_MAX)
    if len(title) < len(whole):
        warnings.append(f"title: cut to {TITLE_CHARACTERS_MAX} characters")
    return title


def _language(value: object, warnings: list[str]) -> object:
    tag = _line(value, TEXT_CHARACTERS_MAX).replace("_", "-")
    primary, dash, rest = tag.partition("-")
    tag = primary.lower() + dash + rest
    if not tag:
        return None
    if len(tag) <= LANGUAGE_CHARACTERS_MAX and LANGUAGE.fullmatch(tag):
        return tag
    warnings.append(f"language: {tag[:40]!r} is no tag such as en or pt-BR; the text decides")
    return None


def _tags(value: object, warnings: list[str]) -> tuple[str, ...]:
    items = value.split(",") if isinstance(value, str) else _items(value)
    lines = (_line(item, model.TAG_CHARACTERS_MAX) for item in items if item is not None)
    names = (line.removeprefix("#") for line in lines)  # in Obsidian, #box is the tag box
    tags = list(dict.fromkeys(filter(None, names)))
    if len(tags) > model.TAGS_MAX:
        warnings.append(f"tags: only the first {model.TAGS_MAX} of {len(tags)} are kept")
    return tuple(tags[: model.TAGS_MAX])


def _uri(value: object, warnings: list[str]) -> object:
    uri = _line(value, TEXT_CHARACTERS_MAX)
    if len(uri) <= URI_CHARACTERS_MAX:
        return uri
    warnings.append(f"uri: left out, since it has over {URI_CHARACTERS_MAX:,} characters")
    return ""


def _chunker(value: object, warnings: list[str]) -> object:
    with suppress(ValueError):
        return _CHUNKER.validate_python(value)
    warnings.append(f"chunker: {_line(value, 40)!r} is none; the default applies")
    return _REMOVED


def _summaries(value: object, warnings: list[str]) -> object:
    if value in get_args(model.Summaries):
        return value
    warnings.append(f"summaries: {_line(value, 40)!r} is not none, extract or model")
    return _REMOVED


def _metadata(values: Mapping[Any, Any], warnings: list[str]) -> dict[str, Any]:
    """Mappings become names with dots, and lists lose their nesting."""
    metadata: dict[str, Any] = {}
    for path, value in _leaves(values, "", warnings):
        key = _line(path, model.METADATA_KEY_CHARACTERS_MAX)
        if not key:
            continue
        if key not in metadata and len(metadata) == model.METADATA_KEYS_MAX:
            most = model.METADATA_KEYS_MAX
            warnings.append(f"{key}: left out, since only {most} values of metadata are kept")
            continue
        kept = _metadata_value(key, value, warnings)
        if kept is not _REMOVED:
            metadata[key] = kept
    return metadata


def _metadata_value(key: str, value: object, warnings: list[str]) -> object:
    if not isinstance(value, list | tuple):
        return _scalar(key, value, warnings)
    items = list(_items(value))
    if len(items) > model.METADATA_ITEMS_MAX:
        most = model.METADATA_ITEMS_MAX
        warnings.append(f"{key}: left out, since a list of metadata has up to {most} items")
        return _REMOVED
    return [_scalar(key, item, warnings) for item in items]


def _leaves(
    values: Mapping[Any, Any], prefix: str, warnings: list[str], depth: int = 1
) -> Iterator[tuple[str, object]]:
    for key, value in values.items():
        path = f"{prefix}{scalar_text(key)}"
        if isinstance(value, Mapping) and value and depth < _DEPTH_MAX:
            if depth == 1:
                warnings.append(f"{_line(path, 40)}: a mapping, which is kept as names with dots")
            yield from _leaves(value, f"{path}.", warnings, depth + 1)
        else:
            yield path, value


def _items(value: object, depth: int = 1) -> Iterator[object]:
    """The items of nested lists, one after the other; a scalar is its only item."""
    if not isinstance(value, list | tuple) or depth > _DEPTH_MAX:
        yield value
        return
    for item in value:
        yield from _items(item, depth + 1)


def _scalar(key: str, value: object, warnings: list[str]) -> object:
    match value:
        case None | bool():
            return value
        case int() if abs(value) <= model.METADATA_INTEGER_MAX:
            return value
        case float() if isfinite(value):
            return value
        case int() | float() | str() | bytes() | date() | time() | timedelta() | Decimal():
            text = scalar_text(value)
        case _:
            text = scalar_text(value)
            warnings.append(f"{key}: not text, a number, true or false; kept as text")
    if len(text) > model.METADATA_TEXT_CHARACTERS_MAX:
        most = model.METADATA_TEXT_CHARACTERS_MAX
        warnings.append(f"{key}: cut to {most:,} characters, the most of a value of metadata")
    return model.normalise(text[: model.METADATA_TEXT_CHARACTERS_MAX])


_CONVERTERS: Mapping[str, Callable[[Any, list[str]], object]] = {
    "title": _title,
    "language": _language,
    "tags": _tags,
    "uri": _uri,
    "chunker": _chunker,
    "summaries": _summaries,
    "metadata": _metadata,
}
