"""Reads the body of a request; refuses it as soon as it exceeds a limit or is too slow."""

import asyncio
from io import BytesIO

from starlette.requests import ClientDisconnect, Request

from gateway.http.admission import Slot
from gateway.http.deadlines import Deadline
from gateway.problems import problems

# Starting values, not measured.
DEADLINE_S = 120.0  # for all of it
GRACE_S = 5.0  # in which a body may arrive at any rate
BYTES_PER_S_MIN = 1_000  # on average, after the grace period


async def read(
    request: Request,
    declared: bytes | None,
    *,
    size_bytes_max: int,
    deadline: Deadline,
    slot: Slot,
) -> bytes:
    """The whole body. declared: its Content-Length, if it has one. slot: counts its bytes.
    deadline: ends earlier if it is too slow.

    Raises a 413, 429 or 503 `Problem`, and `ClientDisconnect`; `deadline` a 408 `Problem`.
    """
    if declared is not None and int(declared) > size_bytes_max:
        raise problems.too_large(size_bytes_max)
    deadline.restart(_ends_s(0.0, 0), problems.body_too_slow)
    message = await request.receive()
    whole: bytes = message.get("body", b"")
    if message["type"] == "http.request" and not message.get("more_body", False):
        if len(whole) > size_bytes_max:
            raise problems.too_large(size_bytes_max)
        return whole  # one read of the socket is too little to count
    begun_s = asyncio.get_running_loop().time()
    received = BytesIO()  # which gives its bytes away without a copy
    while True:
        if message["type"] == "http.disconnect":
            raise ClientDisconnect
        part: bytes = message.get("body", b"")
        if received.tell() + len(part) > size_bytes_max:
            raise problems.too_large(size_bytes_max)
        slot.hold(len(part))
        received.write(part)
        if not message.get("more_body", False):
            return received.getvalue()
        deadline.ends_s = _ends_s(begun_s, received.tell())
        message = await request.receive()


def _ends_s(begun_s: float, received: int) -> float:
    """The time at which the body is too late, given the bytes that have arrived."""
    return begun_s + min(DEADLINE_S, GRACE_S + received / BYTES_PER_S_MIN)
