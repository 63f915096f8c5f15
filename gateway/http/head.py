"""The head of a request, judged by its bytes before it is parsed, and by its headers after.

The parser itself refuses two lengths, a length beside an encoding, folded lines, and a bare LF, CR
or NUL.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from gateway import problems
from gateway.problems import Problem

END = b"\r\n\r\n"
_VERSIONS = (b" HTTP/1.1", b" HTTP/1.0")
_AROUND_URL_BYTES_MAX = 32  # the longest method, the version and two spaces


@dataclass(frozen=True, slots=True)
class HeadLimits:
    bytes_max: int
    url_bytes_max: int
    headers_max: int


def flaw_of_part(part: bytes | bytearray, limits: HeadLimits) -> Problem | None:
    """What is wrong with a head that has not ended yet."""
    if b"\r\n" not in part and len(part) > limits.url_bytes_max + _AROUND_URL_BYTES_MAX:
        return problems.url_too_long(limits.url_bytes_max)
    if len(part) > limits.bytes_max:
        return problems.head_too_large(limits.bytes_max, limits.headers_max)
    return None


def flaw(head: bytes, limits: HeadLimits) -> Problem | None:
    """What is wrong with a whole head, with the empty line that ends it."""
    if len(head) > limits.bytes_max or head.count(b"\r\n") - 2 > limits.headers_max:
        line = head[: head.find(b"\r\n")]
        if len(line) > limits.url_bytes_max + _AROUND_URL_BYTES_MAX:
            return problems.url_too_long(limits.url_bytes_max)
        return problems.head_too_large(limits.bytes_max, limits.headers_max)
    line = head.lstrip(b"\r\n")
    line = line[: line.find(b"\r\n")]
    if len(line) > limits.url_bytes_max < max(map(len, line.split(b" "))):
        return problems.url_too_long(limits.url_bytes_max)
    if line and not line.endswith(_VERSIONS):
        return problems.malformed_request("It must be HTTP/1.1 or HTTP/1.0.")
    return None


def flaw_of_headers(
    headers: Sequence[tuple[bytes, bytes]], version: str, *, upgrades: bool
) -> Problem | None:
    """What is wrong with headers that the parser takes, names in lower case."""
    names = [name for name, _ in headers]
    if names.count(b"host") != 1 and (version == "1.1" or b"host" in names):
        return problems.malformed_request("It must have one Host header.")
    if names.count(b"authorization") > 1:
        return problems.malformed_request("It may have one Authorization header.")
    has_body = b"content-length" in names
    if b"transfer-encoding" in names:
        has_body = True
        encodings = [value for name, value in headers if name == b"transfer-encoding"]
        if version == "1.0" or [each.strip().lower() for each in encodings] != [b"chunked"]:
            return problems.malformed_request("A body's only encoding is `chunked`, of HTTP/1.1.")
    if upgrades and has_body:
        return problems.malformed_request("There is no other protocol to upgrade to.")
    return None
