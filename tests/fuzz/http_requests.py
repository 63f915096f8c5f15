"""Requests as bytes: valid ones, what is done to them, and those that could be read in two ways."""

import random
from collections.abc import Callable
from dataclasses import dataclass

_BODIES = (b'{"query": "leave"}', b'{"query": 7}', b"{", b'{"query": "' + b"x" * 5_000 + b'"}')
_DOCUMENT = b'{"text": "Everybody gets 25 days."}'
_HOST = b"Host: x\r\n"
_STRANGE = (
    b"\0",
    b"\r",
    b"\n",
    b"\r\n",
    b"\r\n\r\n",
    b":",
    b" ",
    b"\t",
    b"\xff",
    b"\x80",
    b"%",
    b"0",
)


@dataclass(frozen=True, slots=True)
class Keys:
    """attackers: which they know, too; empty for none."""

    attackers: str
    probe: str

    def head(self, method: bytes, path: bytes) -> bytes:
        """Up to the last header but those of the body."""
        key = f"Authorization: Bearer {self.attackers}\r\n".encode() if self.attackers else b""
        return b"%b %b HTTP/1.1\r\n%b%b" % (method, path, _HOST, key)


def valid(rng: random.Random, keys: Keys) -> bytes:
    """As HTTP; what it asks for may be wrong."""
    match rng.randrange(6):
        case 0:
            return b"GET /healthz HTTP/1.1\r\n" + _HOST + b"\r\n"
        case 1:
            return _with(Keys("nh_made-up", ""), b"POST", b"/v1/search", rng.choice(_BODIES))
        case 2:
            return _with(keys, b"PUT", b"/v1/documents/d%d" % rng.randrange(5), _DOCUMENT)
        case 3:
            return _chunked(rng, keys, rng.choice(_BODIES))
        case 4:
            return keys.head(rng.choice((b"GET", b"TRACE")), b"/v1/documents") + b"\r\n"
        case _:
            return _with(keys, b"POST", b"/v1/search", rng.choice(_BODIES))


def _with(keys: Keys, method: bytes, path: bytes, body: bytes) -> bytes:
    return keys.head(method, path) + b"Content-Length: %d\r\n\r\n" % len(body) + body


def _chunked(rng: random.Random, keys: Keys, body: bytes) -> bytes:
    cut = rng.randrange(1, len(body) + 1)
    chunks = b"".join(
        b"%x\r\n%b\r\n" % (len(part), part) for part in (body[:cut], body[cut:]) if part
    )
    head = keys.head(b"POST", b"/v1/search") + b"Transfer-Encoding: chunked\r\n\r\n"
    return head + chunks + b"0\r\n\r\n"


def _drop(rng: random.Random, request: bytes) -> bytes:
    place = rng.randrange(len(request))
    return request[:place] + request[place + rng.randrange(1, 9) :] or b"\r\n"


def _insert(rng: random.Random, request: bytes) -> bytes:
    place = rng.randrange(len(request))
    return request[:place] + rng.choice(_STRANGE) * rng.randrange(1, 4) + request[place:]


def _flip(rng: random.Random, request: bytes) -> bytes:
    place = rng.randrange(len(request))
    return request[:place] + bytes([request[place] ^ 1 << rng.randrange(8)]) + request[place + 1 :]


def _double_a_line(rng: random.Random, request: bytes) -> bytes:
    lines = request.split(b"\r\n")
    place = rng.randrange(len(lines))
    return b"\r\n".join([*lines[:place], lines[place], *lines[place:]])


def _end(rng: random.Random, request: bytes) -> bytes:
    return request[: rng.randrange(1, len(request) + 1)]


MUTATIONS: tuple[Callable[[random.Random, bytes], bytes], ...] = (
    _drop, _insert, _flip, _double_a_line, _end,
)  # fmt: skip

_POST = b"POST /v1/search HTTP/1.1\r\n" + _HOST
SMUGGLED = (
    _POST + b"Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    _POST + b"Transfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\n0\r\n\r\n",
    _POST + b"Content-Length: 4\r\nContent-Length: 5\r\n\r\nabcde",
    _POST + b"Content-Length: 4, 4\r\n\r\nabcd",
    _POST + b"Content-Length: 0x4\r\n\r\nabcd",
    _POST + b"Content-Length : 4\r\n\r\nabcd",
    _POST + b"Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n",
    _POST + b"Transfer-Encoding: \x0bchunked\r\n\r\n0\r\n\r\n",
    _POST + b"Transfer-Encoding:\r\n chunked\r\n\r\n0\r\n\r\n",
    _POST + b"X: a\r\n Content-Length: 4\r\n\r\nabcd",
    _POST + b"X: a\nContent-Length: 4\r\n\r\nabcd",
    _POST + b"X: a\0\r\nContent-Length: 4\r\n\r\nabcd",
    _POST + b"Transfer-Encoding: chunked\r\n\r\n1\nx\n0\n\n",
    _POST + b"Transfer-Encoding: chunked\r\n\r\n1\r\nxx\r\n0\r\n\r\n",
    _POST + b"Transfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\nx",
    _POST + b"Connection: Upgrade\r\nUpgrade: websocket\r\nContent-Length: 4\r\n\r\nabcd",
    b"CONNECT x:1 HTTP/1.1\r\n" + _HOST + b"\r\n",
    b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    b"GET http://y/healthz HTTP/1.1\r\n" + _HOST + b"\r\n",
    b"GET /healthz HTTP/1.1\r\n" + _HOST + b"Connection: close\r\n\r\n",
)
