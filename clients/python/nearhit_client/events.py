"""Server-sent events."""

import json
from dataclasses import dataclass
from typing import Any

import httpx2

from nearhit_client.errors import NearhitError, unreachable

EVENT_BYTES_MAX = 64 * 1024 * 1024  # a hit has up to some thousand bytes, an answer many hits


@dataclass(frozen=True, slots=True)
class Event:
    """One event of a stream. id: where `events` of a subscription goes on from; else empty."""

    name: str
    data: Any
    id: str = ""


def of_message(message: httpx2.ServerSentEvent) -> Event:
    return Event(message.event, json.loads(message.data), message.id)


def ended_early() -> NearhitError:
    return unreachable(httpx2.RemoteProtocolError("the stream ended before its last event"))
