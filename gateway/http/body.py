"""Reads the body of a request; refuses it as soon as it exceeds a limit or is too slow."""

import asyncio
from dataclasses import dataclass

from starlette.requests import ClientDisconnect, Request

from gateway import problems
from gateway.http.admission import Slot
from gateway.http.deadlines import Deadline


@dataclass(frozen=True, slots=True)
class BodyLimits:
    """deadline_s: for the whole body. grace_s: in which it may arrive at any rate.

    rate_min: bytes a second on average, after the grace period.
    """

    deadline_s: float
    grace_s: float
    rate_min: int

    def ends_s(self, begun_s: float, received: int) -> float:
        """The time at which the body is too late, given the bytes that have arrived."""
        return begun_s + min(self.deadline_s, self.grace_s + received / self.rate_min)


async def read(
    request: Request,
    declared: bytes | None,
    *,
    size_bytes_max: int,
    limits: BodyLimits,
    deadline: Deadline,
    slot: Slot,
) -> bytes:
    """The whole body. declared: its Content-Length, if it has one. slot: counts its bytes.

    Raises a 413, 429 or 503 `Problem`, and `ClientDisconnect`; `deadline` a 408 `Problem`.
    """
    if declared is not None and int(declared) > size_bytes_max:
        raise problems.too_large(size_bytes_max)
    deadline.restart(limits.ends_s(0.0, 0), problems.body_too_slow)
    message = await request.receive()
    whole: bytes = message.get("body", b"")
    if message["type"] == "http.request" and not message.get("more_body", False):
        if len(whole) > size_bytes_max:
            raise problems.too_large(size_bytes_max)
        return whole  # one read of the socket is too little to count
    begun_s = asyncio.get_running_loop().time()
    received = bytearray()
    while True:
        if message["type"] == "http.disconnect":
            raise ClientDisconnect
        part: bytes = message.get("body", b"")
        if len(received) + len(part) > size_bytes_max:
            raise problems.too_large(size_bytes_max)
        slot.hold(len(part))
        received += part
        if not message.get("more_body", False):
            return bytes(received)
        deadline.ends_s = limits.ends_s(begun_s, len(received))
        message = await request.receive()
