"""What is sent and received, by the synchronous and the asynchronous client alike."""

import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias
from urllib.parse import quote

import httpx2

Headers: TypeAlias = Mapping[str, str] | None
_REPEATABLE = {"GET", "PUT", "DELETE"}
_PRECONDITIONS = {"if-match", "if-none-match"}


@dataclass(frozen=True, slots=True)
class Server:
    """Where the gateway is, and the headers that say who calls."""

    url: str
    headers: Mapping[str, str] = field(repr=False)  # they hold the key

    @classmethod
    def of(cls, url: str | None, key: str | None) -> "Server":
        """By default what NEARHIT_URL and NEARHIT_KEY say. Raises `KeyError` without them."""
        key = os.environ["NEARHIT_KEY"] if key is None else key
        url = os.environ["NEARHIT_URL"] if url is None else url
        return cls(url.rstrip("/"), {"Authorization": f"Bearer {key}"} if key else {})


@dataclass(frozen=True, slots=True)
class Call:
    """One request. Of body (an object), lines (objects) and text at most one is given.

    repeats: whether it may be carried out twice; by default if its method says so.
    """

    method: str
    path: str
    query: Mapping[str, object] = field(default_factory=dict)
    body: object = None
    lines: Iterable[object] | None = None
    text: str | None = None
    headers: Headers = None
    repeats: bool = False

    @property
    def is_repeatable(self) -> bool:
        """One with a precondition is not: it would refuse its own second time."""
        has_precondition = not _PRECONDITIONS.isdisjoint(map(str.lower, self.headers or ()))
        return self.method == "GET" or (
            (self.repeats or self.method in _REPEATABLE) and not has_precondition
        )

    def arguments(self, server: Server) -> dict[str, Any]:
        """Of `build_request`."""
        content, media_type = self._content()
        return {
            "method": self.method,
            "url": server.url + self.path,
            "params": {name: each for name, each in self.query.items() if each is not None},
            "content": content,
            "headers": {**server.headers, **media_type, **(self.headers or {})},
        }

    def _content(self) -> tuple[bytes | None, Mapping[str, str]]:
        if self.body is not None:
            return _json(self.body), {"Content-Type": "application/json"}
        if self.lines is not None:
            lines = b"".join(_json(line) + b"\n" for line in self.lines)
            return lines, {"Content-Type": "application/x-ndjson"}
        if self.text is not None:
            return self.text.encode(), {"Content-Type": "text/csv"}
        return None, {}


def in_path(value: str | int) -> str:
    """An identifier as one part of a path, even if it holds slashes."""
    return quote(str(value), safe="")


def is_answer(response: httpx2.Response) -> bool:
    return response.is_success or response.status_code == 304


def decode(response: httpx2.Response) -> Any:
    """The body: of lines a list, of a table its text; None without one."""
    media_type = response.headers.get("content-type", "").partition(";")[0]
    if not response.content:
        return None
    if media_type == "application/json":
        return json.loads(response.content)
    if media_type == "application/x-ndjson":
        return [json.loads(line) for line in response.content.splitlines()]
    return response.text


def _json(value: object) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()
