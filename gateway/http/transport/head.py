"""Checks the head of a request: its bytes before it is parsed, its headers after.

The parser itself refuses two lengths, a length beside an encoding, folded lines, and a bare LF, CR
or NUL.
"""

from collections.abc import Mapping, Sequence

from gateway.problems import problems
from gateway.problems.problems import Problem

END = b"\r\n\r\n"
_SINGLE = (b"host", b"authorization", b"transfer-encoding")  # the parser counts lengths itself
_UNUSUAL = frozenset((b"transfer-encoding", b"upgrade"))
_VERSIONS = (b" HTTP/1.1", b" HTTP/1.0")
_AROUND_URL_BYTES_MAX = 32  # the longest method, the version and two spaces
_URL_BYTES_MAX = 8_192
_HEADERS_MAX = 100


def check_incomplete(part: bytes, bytes_max: int) -> Problem | None:
    """The problem of a head that has not ended yet; None if it has none."""
    if b"\r\n" not in part and len(part) > _URL_BYTES_MAX + _AROUND_URL_BYTES_MAX:
        return problems.url_too_long(_URL_BYTES_MAX)
    if len(part) > bytes_max:
        return problems.headers_too_large(bytes_max, _HEADERS_MAX)
    return None


def check(head: bytes, bytes_max: int) -> Problem | None:
    """The problem of a complete head, up to its empty line; None if it has none."""
    if len(head) > bytes_max or head.count(b"\r\n") - 2 > _HEADERS_MAX:
        line = head[: head.find(b"\r\n")]
        if len(line) > _URL_BYTES_MAX + _AROUND_URL_BYTES_MAX:
            return problems.url_too_long(_URL_BYTES_MAX)
        return problems.headers_too_large(bytes_max, _HEADERS_MAX)
    line = head[: head.find(b"\r\n")]
    if len(line) > _URL_BYTES_MAX < max(map(len, line.split(b" "))):
        return problems.url_too_long(_URL_BYTES_MAX)
    if not line.endswith(_VERSIONS):
        return problems.malformed_request("It must be HTTP/1.1 or HTTP/1.0.")
    return None


def is_plain(last: Mapping[bytes, bytes], number: int) -> bool:
    """Whether the headers need no check, as those of most requests. number: of headers."""
    return len(last) == number and b"host" in last and _UNUSUAL.isdisjoint(last)


def check_headers(
    headers: Sequence[tuple[bytes, bytes]], last: Mapping[bytes, bytes], version: str
) -> Problem | None:
    """The problem of parsed headers; None if they have none. last: the last of each name."""
    if len(last) < len(headers):
        names = [name for name, _ in headers]
        for name in _SINGLE:
            if names.count(name) > 1:
                return problems.malformed_request(f"It may have one {name.decode()} header.")
    if b"host" not in last and version == "1.1":
        return problems.malformed_request("It must have a Host header.")
    encoding = last.get(b"transfer-encoding")
    if encoding is not None and (version == "1.0" or encoding.strip().lower() != b"chunked"):
        return problems.malformed_request("A body's only encoding is `chunked`, of HTTP/1.1.")
    if b"upgrade" in last and (encoding is not None or b"content-length" in last):
        return problems.malformed_request("There is no other protocol to upgrade to.")
    return None
