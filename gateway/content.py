"""What a body may be: of the type that the call takes, and JSON that every reader reads alike."""

from collections.abc import Mapping
from email.message import Message

import jiter

from gateway import problems

_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
# `curl -d` sends JSON under this name unless it is told another one.
_CURLS = "application/x-www-form-urlencoded"
_LINES = frozenset({"application/x-ndjson", "application/ndjson", "application/jsonl"})


def check_type(taken: str, headers: Mapping[bytes, bytes]) -> None:
    """A 415 `Problem` if the head names a type, a character set or a coding that is not taken.

    taken: the media type that the call takes. A head without a type is let pass.
    """
    if headers.get(b"content-encoding", b"identity").strip().lower() not in (b"", b"identity"):
        raise problems.unsupported_type("Send the body as it is, without a Content-Encoding.")
    sent = headers.get(b"content-type", b"").decode("latin-1")
    if not sent.strip():
        return
    head = Message()
    head["Content-Type"] = sent
    if not _is_taken(taken, sent.partition(";")[0].strip().lower()):
        raise problems.unsupported_type(f"Send the body as {taken}.")
    charset = head.get_param("charset", "utf-8")
    if taken != "multipart/form-data" and str(charset).lower() not in ("utf-8", "utf8", "us-ascii"):
        raise problems.unsupported_type("Send the body in UTF-8.")


def _is_taken(taken: str, sent: str) -> bool:
    if taken == "multipart/form-data":
        return sent == taken
    is_json = sent in ("application/json", _CURLS) or sent.endswith("+json")
    return is_json or (taken in _LINES and sent in _LINES)


def check_json(body: bytes) -> None:
    """A 400 `Problem` if the body is no JSON, or JSON that two readers may read differently.

    RFC 8259 leaves open what a name means that stands twice in an object (section 4), and whether a
    byte order mark is let pass (section 8.1); neither is taken.
    """
    if body.startswith(_BYTE_ORDER_MARK):
        raise problems.malformed("It must not begin with a byte order mark.")
    try:
        jiter.from_json(body, catch_duplicate_keys=True, allow_inf_nan=False)
    except ValueError as error:
        raise problems.malformed(f"Invalid JSON: {_without_key(str(error))}") from None


def _without_key(said: str) -> str:
    """The reason without the name that stands twice: somebody may have put a key there."""
    if said.startswith("Detected duplicate key"):
        return f"a name stands twice in an object, {said[said.rindex('at line') :]}"
    return said
