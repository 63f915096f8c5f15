"""Checks of a request body: its media type, and JSON that every parser reads the same way."""

from collections.abc import Mapping
from email.message import Message
from functools import lru_cache
from typing import Any

import jiter
from pydantic_core import to_json

from gateway.problems import problems

_MEDIA_TYPES_MAX = 64  # remembered, as parsing one takes a twentieth of a cached answer's time
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
# `curl -d` sends JSON with this media type by default.
_CURL_DEFAULT = "application/x-www-form-urlencoded"
_NOT_JSON = frozenset({"multipart/form-data", "text/csv"})
_LINES = frozenset({"application/x-ndjson", "application/ndjson", "application/jsonl"})
# A body is decoded twice; with so many, this takes up to 20 ms of the event loop. A batch of 32
# searches has up to 11,000 parts if each has 64 conditions, and 128,000 values with vectors.
PARTS_MAX = 20_000  # objects, lists, and names in objects
VALUES_MAX = 150_000  # members and items after the first of their object or list


def check_type(expected: str, headers: Mapping[bytes, bytes]) -> None:
    """Raise a 415 `Problem` for an unsupported media type, character set or content coding.

    expected: the media type of the route. A request without a media type is accepted.
    """
    if headers.get(b"content-encoding", b"identity").strip().lower() not in (b"", b"identity"):
        raise problems.unsupported_media_type(
            "The content coding is not supported. Send the body without a Content-Encoding."
        )
    _check_media_type(expected, headers.get(b"content-type", b"").decode("latin-1"))


@lru_cache(_MEDIA_TYPES_MAX)
def _check_media_type(expected: str, sent: str) -> None:
    if not sent.strip():
        return
    head = Message()
    head["Content-Type"] = sent
    if not _is_accepted(expected, sent.partition(";")[0].strip().lower()):
        raise problems.unsupported_media_type(
            f"The media type is not supported. Send the body as {expected}."
        )
    charset = head.get_param("charset", "utf-8")
    if expected != "multipart/form-data" and str(charset).lower() not in (
        "utf-8",
        "utf8",
        "us-ascii",
    ):
        raise problems.unsupported_media_type(
            "The character set is not supported. Send the body in UTF-8."
        )


def _is_accepted(expected: str, sent: str) -> bool:
    if expected in _NOT_JSON:
        return sent == expected
    is_json = sent in ("application/json", _CURL_DEFAULT) or sent.endswith("+json")
    return is_json or (expected in _LINES and sent in _LINES)


def decode_json(body: bytes, parts_max: int = PARTS_MAX) -> Any:
    """The value. A 400 `Problem` if it is not JSON, or JSON that parsers may read differently.

    RFC 8259 does not define duplicate names (section 4), and lets parsers accept a byte order mark
    (section 8.1); both are refused, and so is what has so many values that decoding them would hold
    the event loop for long: a parser in a thread would hold it too, for a call of C.
    """
    if body.startswith(_BYTE_ORDER_MARK):
        raise problems.malformed("The body must not begin with a byte order mark.")
    if not has_few_values(body, parts_max):
        raise problems.malformed(
            f"The body must have at most {parts_max:,} objects, lists and names, and "
            f"{VALUES_MAX:,} values."
        )
    try:
        return jiter.from_json(body, catch_duplicate_keys=True, allow_inf_nan=False)
    except ValueError as error:
        raise problems.malformed(f"Invalid JSON: {_without_key(str(error))}") from None


def has_few_values(json: bytes, parts_max: int = PARTS_MAX, values_max: int = VALUES_MAX) -> bool:
    """Whether decoding it takes memory in proportion: two bytes can be a list of 56."""
    return (
        len(json) <= parts_max
        or _is_short(json, parts_max, values_max)
        or _is_short(_without_strings(json, parts_max + values_max), parts_max, values_max)
    )


def encode_json(value: Any) -> bytes:
    """A value that was sent, as JSON; its whole numbers may have more than orjson's 64 bits."""
    return to_json(value)


def _is_short(json: bytes, parts_max: int, values_max: int) -> bool:
    parts = sum(json.count(start) for start in (b"{", b"[", b":"))
    return parts <= parts_max and json.count(b",") <= values_max


def _without_strings(body: bytes, strings_max: int) -> bytes:
    """What is outside of strings; of a body with too many of these, the rest with its strings."""
    unescaped = body.replace(rb"\\", b"").replace(rb"\"", b"")
    return b"".join(unescaped.split(b'"', 2 * strings_max)[::2])


def _without_key(message: str) -> str:
    """The message without the duplicate name, which may be an API key sent by mistake."""
    if message.startswith("Detected duplicate key"):
        return f"an object has a duplicate name, {message[message.rindex('at line') :]}"
    return message
