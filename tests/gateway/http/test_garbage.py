"""Reference counts free all that a request and its connection held: the collector rarely runs."""

import asyncio
import socket
from collections.abc import Iterable, Mapping
from types import FrameType

import orjson
import pytest

from tests.gateway.support.garbage import only_collected
from tests.gateway.support.gateways import Caller, Gateway

pytestmark = pytest.mark.anyio

OURS = ("gateway", "cache", "index", "ingest", "common", "uvicorn")
TOO_LONG = {f"key{number}": "y" * 4_000 for number in range(20)}
WAIT_S_MAX = 120.0


def encoded(key: str | None, call: str, *bodies: object, **headers: str) -> bytes:
    """bodies: as lines, if there are several."""
    body = b"\n".join(map(orjson.dumps, bodies))
    lines = [f"{call} HTTP/1.1", "Host: test", "Connection: close", f"Content-Length: {len(body)}"]
    lines += [f"Authorization: Bearer {key}"] if key else []
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    return "\r\n".join([*lines, "\r\n"]).encode() + body


def requests(key: str | None, word: str) -> Mapping[str, tuple[int, bytes]]:
    """By what they are, the status of the answer, and the request."""
    long = f"{word} " * 400
    search, put = "POST /v1/search", "PUT /v1/documents/leave"
    line = {"document_id": "line", "text": long}
    refused = {"text": long, "metadata": TOO_LONG}
    return {
        "a search": (200, encoded(key, search, {"query": "annual leave"})),
        "an invalid search": (422, encoded(key, search, {"query": "leave", "colour": 1})),
        "no JSON": (400, encoded(key, f"{search}?", "leave")[:-1] + b"{"),
        "too long a body": (413, encoded(key, search, {"query": "q" * 70_000})),
        "searches": (200, encoded(key, f"{search}/batch", {"searches": [{"query": "leave"}] * 3})),
        "a put": (200, encoded(key, put, {"text": long})),
        "a refused put": (422, encoded(key, put, refused)),
        "a put of another version": (412, encoded(key, put, {"text": long}, If_Match='"none"')),
        "documents": (200, encoded(key, "POST /v1/documents/batch", line, {**line, "bad": 1})),
        "an unknown key": (401, encoded("nh_unknown", search, {"query": "leave"})),
        "an unknown path": (404, encoded(key, "GET /v1/nothing")),
        "no HTTP": (400, b"SEARCH\r\n\r\n"),
    }


def status_of(address: tuple[str, int], request: bytes) -> int:
    """The answer's status, on a connection of its own until the gateway has closed it."""
    with socket.create_connection(address, timeout=WAIT_S_MAX) as connection:
        connection.sendall(request)
        status = int(connection.recv(65_536)[9:12])
        while connection.recv(65_536):
            pass
    return status


def names_of(garbage: Iterable[object]) -> set[str]:
    """The types of ours, and the functions whose frames are left; others may be of an import."""
    names = set()
    for each in garbage:
        if isinstance(each, FrameType):
            module, name = str(each.f_globals["__name__"]), f"frame of {each.f_code.co_qualname}"
        else:
            module, name = type(each).__module__, type(each).__qualname__
        if module.startswith(OURS):
            names.add(name)
    return names


async def test_neither_a_request_nor_its_connection_is_left_to_the_garbage_collector(
    gateway: Gateway, ana: Caller
) -> None:
    url = gateway.client.base_url
    address = (url.host, int(url.port or 0))
    kinds = requests(ana.key, "word")
    answered, left = {}, {}
    for _, request in requests(ana.key, "other").values():  # Redis is sent its scripts once
        await asyncio.to_thread(status_of, address, request)

    for kind, (_, request) in kinds.items():
        with only_collected() as garbage:
            answered[kind] = await asyncio.to_thread(status_of, address, request)
        left[kind] = names_of(garbage)
        garbage.clear()  # else it is found again

    assert answered == {kind: status for kind, (status, _) in kinds.items()}
    assert {kind: names for kind, names in left.items() if names} == {}
