"""HTTP requests as bytes, encoded before they are due."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple
from urllib.parse import urlsplit


class Call(NamedTuple):
    """One request without its key. path: not yet percent-encoded. query: encoded, with its `?`."""

    method: str
    path: str
    body: bytes = b""
    query: str = ""
    headers: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class RequestTemplate:
    """A POST to one URL with one key; only the body differs from request to request."""

    url: str
    key: str
    headers: Mapping[str, str] = field(default_factory=dict)

    def encode(self, body: bytes) -> bytes:
        return encode_request("POST", self.url, self.key, body, self.headers.items())


def encode_request(
    method: str,
    url: str,
    key: str,
    body: bytes = b"",
    headers: Iterable[tuple[str, str]] = (),
) -> bytes:
    """The request, head and body. url: percent-encoded."""
    parts = urlsplit(url)
    target = f"{parts.path}?{parts.query}" if parts.query else parts.path
    extra_lines = "".join(f"{name}: {value}\r\n" for name, value in headers)
    head = (
        f"{method} {target} HTTP/1.1\r\n"
        f"Host: {parts.netloc}\r\n"
        f"Authorization: Bearer {key}\r\n"
        "Content-Type: application/json\r\n"
        f"{extra_lines}"
        f"Content-Length: {len(body)}\r\n\r\n"
    )
    return head.encode() + body
