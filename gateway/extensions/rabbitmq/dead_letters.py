"""Events in the dead-letter queues of RabbitMQ: listed, or moved back to their queues."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import aio_pika
import orjson
from aio_pika.abc import AbstractChannel, AbstractIncomingMessage
from aio_pika.connection import make_url
from aio_pika.exceptions import CONNECTION_EXCEPTIONS, ChannelNotFoundEntity, DeliveryError

from gateway.extension import CommandError
from gateway.extensions.rabbitmq.rabbitmq_consumer import (
    CONNECT_S_MAX,
    DEAD,
    REASON,
    persistent_copy,
)


@dataclass(frozen=True, slots=True)
class DeadEvent:
    """type, document_id and version: as the event has them; None if it is no such JSON."""

    queue: str
    type: str | None
    document_id: str | None
    version: int | None
    reason: str
    size_bytes: int


async def list_dead_letters(url: str, queue: str, limit: int) -> list[DeadEvent]:
    """The oldest dead letters of the queue, which stay where they are. Raises `CommandError`."""
    async with _channel(url) as channel:  # what is not acknowledged goes back when it closes
        return [_dead_letter(queue, message) async for message in _messages(channel, queue, limit)]


async def replay_dead_letters(url: str, queue: str, limit: int) -> int:
    """Move the oldest dead letters back to the queue, and count them. Raises `CommandError`.

    Each is removed once RabbitMQ has confirmed its copy. If that fails between the two, it is in
    both queues, which is harmless: an event of a version that was applied changes nothing.
    """
    moved = 0
    async with _channel(url) as channel:
        async for message in _messages(channel, queue, limit):
            headers = {name: value for name, value in message.headers.items() if name != REASON}
            try:
                await channel.default_exchange.publish(persistent_copy(message, headers), queue)
            except DeliveryError:
                raise CommandError(f"RabbitMQ has no queue {queue}, so nothing moved") from None
            await message.ack()
            moved += 1
    return moved


@asynccontextmanager
async def _channel(url: str) -> AsyncIterator[AbstractChannel]:
    try:
        async with aio_pika.Connection(make_url(url)) as connection:
            await connection.connect(timeout=CONNECT_S_MAX)
            async with connection.channel(on_return_raises=True) as channel:
                yield channel
    except CONNECTION_EXCEPTIONS as error:
        raise CommandError(f"RabbitMQ does not answer: {error or type(error).__name__}") from None


async def _messages(
    channel: AbstractChannel, queue: str, limit: int
) -> AsyncIterator[AbstractIncomingMessage]:
    """Those that are there now: what dies again meanwhile is not taken twice."""
    try:
        letters = await channel.declare_queue(queue + DEAD, passive=True)
    except ChannelNotFoundEntity:
        return  # no worker has consumed the queue yet
    for _ in range(min(limit, letters.declaration_result.message_count or 0)):
        message = await letters.get(fail=False)
        if message is None:
            return
        yield message


def _dead_letter(queue: str, message: AbstractIncomingMessage) -> DeadEvent:
    try:
        event = orjson.loads(message.body)
    except orjson.JSONDecodeError:
        event = None
    fields: dict[str, Any] = event if isinstance(event, dict) else {}
    kind, document_id, version = (fields.get(name) for name in ("type", "document_id", "version"))
    return DeadEvent(
        queue,
        kind if isinstance(kind, str) else None,
        document_id if isinstance(document_id, str) else None,
        version if isinstance(version, int) else None,
        str(message.headers.get(REASON, "")),
        len(message.body),
    )
