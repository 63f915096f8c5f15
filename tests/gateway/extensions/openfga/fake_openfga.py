"""A server with the calls of OpenFGA's HTTP API that Nearhit makes; a test chooses how it fails.

OpenFGA itself is no package that tests could install. The shapes are those that its API describes.
"""

import asyncio
import base64
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from typing import Any, Literal, TypeAlias
from urllib.parse import parse_qs, urlsplit

import orjson

API_TOKEN = "fga-token-of-the-tests"

# A status with its headers and code, a cut connection, an answer that is no JSON, or none.
Failure: TypeAlias = tuple[int, dict[str, str], str] | Literal["cut", "malformed", "silent"]


def model(**relations: dict[str, Any]) -> dict[str, Any]:
    """A model of groups and documents; `relations` are further ones of documents.

    A viewer or an editor is a user, everybody, or the members of a group.
    """
    users = [
        {"type": "user"},
        {"type": "user", "wildcard": {}},
        {"type": "group", "relation": "member"},
        {"type": "user", "condition": "in_office"},
    ]
    document = {"viewer": {"this": {}}, "editor": {"this": {}}, **relations}
    return {
        "id": "01MODEL",
        "schema_version": "1.1",
        "type_definitions": [
            {"type": "user"},
            {
                "type": "group",
                "relations": {"member": {"this": {}}},
                "metadata": {"relations": {"member": {"directly_related_user_types": users}}},
            },
            {
                "type": "document",
                "relations": document,
                "metadata": {
                    "relations": {name: {"directly_related_user_types": users} for name in document}
                },
            },
        ],
    }


class FakeStore:
    """tuples: those that are there now. changes: all that were ever made, oldest first.

    generation: changes of an earlier one have no position any more.
    on_read: called before each page of tuples.
    """

    def __init__(self) -> None:
        self.model: dict[str, Any] | None = model()
        self.tuples: list[dict[str, Any]] = []
        self.changes: list[dict[str, Any]] = []
        self.generation = 0
        self.on_read: Callable[[], None] = lambda: None

    def write(self, user: str, relation: str, target: str, **condition: Any) -> None:
        key = {"user": user, "relation": relation, "object": target, **condition}
        self.tuples.append({"key": key, "timestamp": _now()})
        self._change("WRITE", key)

    def delete(self, user: str, relation: str, target: str) -> None:
        key = {"user": user, "relation": relation, "object": target}
        self.tuples = [each for each in self.tuples if not key.items() <= each["key"].items()]
        self._change("DELETE", key)

    def restore(self) -> None:
        """Begin another history with the tuples of now."""
        self.generation += 1
        self.changes = []

    def _change(self, operation: str, key: dict[str, Any]) -> None:
        self.changes.append(
            {"tuple_key": key, "operation": f"TUPLE_OPERATION_{operation}", "timestamp": _now()}
        )


class FakeOpenfga:
    """failures: of the next answers; None: no failure. requests: the paths that were asked for."""

    def __init__(self) -> None:
        self.url = ""
        self.stores: dict[str, FakeStore] = {}
        self.failures: list[Failure | None] = []
        self.requests: list[str] = []

    async def answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
            method, target, _ = head[0].split(" ")
            pairs = (line.split(": ", 1) for line in head[1:] if line)
            headers = {name.lower(): value for name, value in pairs}
            body = await reader.readexactly(int(headers.get("content-length", 0)))
            self.requests.append(f"{method} {urlsplit(target).path}")
            failure = self.failures.pop(0) if self.failures else None
            status, more, answer = 200, dict[str, str](), b""
            if failure == "cut":
                writer.write(b'HTTP/1.1 200 OK\r\nContent-Length: 900\r\n\r\n{"tuples": [')
                return
            if failure == "silent":
                await reader.read()  # until the client goes
                return
            if failure == "malformed":
                answer = b'{"tuples": [{"key": null}], "changes": "none"'
            elif failure is not None:
                status, more, code = failure
                answer = orjson.dumps({"code": code, "message": "of the test"})
            elif headers.get("authorization") != f"Bearer {API_TOKEN}":
                status, answer = 401, b'{"code": "bearer_token_missing", "message": ""}'
            else:
                status, answer = self._answer(method, target, body)
            lines = [f"HTTP/1.1 {status} S", f"Content-Length: {len(answer)}", "Connection: close"]
            lines += [f"{name}: {value}" for name, value in more.items()]
            writer.write("\r\n".join([*lines, "", ""]).encode() + answer)
        finally:
            writer.close()

    def _answer(self, method: str, target: str, body: bytes) -> tuple[int, bytes]:
        parts = urlsplit(target)
        _, _, store_id, *rest = parts.path.split("/")
        query = {name: values[0] for name, values in parse_qs(parts.query).items()}
        store = self.stores.get(store_id)
        if store is None:
            return 404, b'{"code": "store_id_not_found", "message": ""}'
        match method, rest:
            case "GET", ["authorization-models"]:
                models = [] if store.model is None else [store.model]
                answer: dict[str, Any] = {"authorization_models": models, "continuation_token": ""}
            case "POST", ["read"]:
                answer = _tuples(store, orjson.loads(body))
            case "GET", ["changes"]:
                position = _position(store, query)
                if position is None:
                    return 400, b'{"code": "invalid_continuation_token", "message": ""}'
                answer = _changes(store, position, query)
            case _:
                return 404, b'{"code": "undefined_endpoint", "message": ""}'
        return 200, orjson.dumps(answer)


def _tuples(store: FakeStore, query: dict[str, Any]) -> dict[str, Any]:
    store.on_read()
    start, size = int(query.get("continuation_token") or 0), int(query.get("page_size", 50))
    assert 1 <= size <= 100
    end = start + size
    token = str(end) if end < len(store.tuples) else ""
    return {"tuples": store.tuples[start:end], "continuation_token": token}


def _position(store: FakeStore, query: dict[str, str]) -> int | None:
    token = query.get("continuation_token", "")
    if token:
        generation, _, number = base64.urlsafe_b64decode(token).decode().partition(":")
        return int(number) if int(generation) == store.generation else None
    start = query.get("start_time")
    if start is None:
        return 0
    began_at = datetime.fromisoformat(start)
    times = (datetime.fromisoformat(each["timestamp"]) for each in store.changes)
    return sum(at < began_at for at in times)


def _changes(store: FakeStore, position: int, query: dict[str, str]) -> dict[str, Any]:
    size = int(query.get("page_size", 50))
    assert 1 <= size <= 100
    changes = store.changes[position : position + size]
    if not changes:
        return {"changes": [], "continuation_token": query.get("continuation_token", "")}
    place = f"{store.generation}:{position + len(changes)}".encode()
    return {"changes": changes, "continuation_token": base64.urlsafe_b64encode(place).decode()}


def _now(**before: float) -> str:
    return (datetime.now(UTC) - timedelta(**before)).isoformat().replace("+00:00", "Z")


@asynccontextmanager
async def fake_openfga() -> AsyncIterator[FakeOpenfga]:
    fake = FakeOpenfga()
    async with await asyncio.start_server(fake.answer, "127.0.0.1", 0) as server:
        fake.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        yield fake
