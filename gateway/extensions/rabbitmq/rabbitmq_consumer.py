"""Applies events from RabbitMQ; each queue belongs to one tenant.

1. A delivery is acknowledged after its event is committed and drained, or after RabbitMQ confirms a
   copy in the dead-letter queue. Otherwise it is redelivered, which is harmless: see
   `gateway.extensions.rabbitmq.event_schemas`.
2. Deliveries of one document are applied in order; one that waits for a server delays the next.
   Up to `events_max` deliveries of a queue are applied concurrently.
3. RabbitMQ limits deliveries by number and not by bytes. So one is taken at a time, and one that is
   too long leaves before the next is taken: beside the events that are applied, memory holds one
   message, of which RabbitMQ's `max_message_size` is the limit.
4. If a connection is lost, its unacknowledged deliveries are redelivered on the next one.
"""

import asyncio
import itertools
from collections.abc import Callable, Mapping, MutableMapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from weakref import WeakValueDictionary

import aio_pika
import structlog
from aio_pika.abc import (
    AbstractChannel,
    AbstractConnection,
    AbstractIncomingMessage,
    AbstractQueue,
    AbstractQueueIterator,
    FieldValue,
)
from aio_pika.connection import make_url
from aio_pika.exceptions import CONNECTION_EXCEPTIONS, ChannelNotFoundEntity

from common import background_tasks
from common.errors import Saturated
from gateway.extensions.rabbitmq import event_schemas
from gateway.extensions.rabbitmq.errors import EventRefused
from gateway.extensions.rabbitmq.event_handler import EventHandler
from gateway.extensions.rabbitmq.event_schemas import Event
from gateway.extensions.rabbitmq.rabbitmq_metrics import EventOutcome
from gateway.extensions.rabbitmq.rabbitmq_services import RabbitmqServices
from index.errors import (
    DatabaseUnavailable,
    EmbeddingUnavailable,
    QuotaExceeded,
    SourceReserved,
    TenantMissing,
)
from ingest.errors import DocumentContended, DocumentTooLong
from ingest.worker.pgqueuer_adapter import WorkerLimits

DEAD = ".dead"  # suffix of a dead-letter queue's name
REASON = "nearhit-reason"  # header with the reason for dead-lettering
_REASON_CHARACTERS_MAX = 1_000
_EVENTS_MAX = 16  # of a queue at once
CONNECT_S_MAX = 10.0
_STABLE_S = 60.0  # a connection that lasted this long resets the count of failures
_UNAVAILABLE = WorkerLimits(pause_s=0.5, pause_s_max=30.0)  # starting values, not measured

log = structlog.get_logger()


class _Stopped(Exception):
    """The worker stops; unacknowledged deliveries go to other workers."""


def consumer(services: RabbitmqServices) -> "RabbitmqConsumer":
    """The consumer of the settings, which must configure RabbitMQ."""
    settings, core = services.settings, services.core
    assert settings.url is not None, "the caller has checked that RabbitMQ is configured"
    return RabbitmqConsumer(
        settings.url.get_secret_value(),
        settings.tenants(),
        services.handler,
        events_max=_EVENTS_MAX,
        attempts_max=core.job_attempts_max,
        limits=WorkerLimits(pause_s=core.job_retry_delay_s, stop_s=core.shutdown_s),
        size_bytes_max=core.document_bytes_max,
        count=services.metrics.event,
    )


@dataclass(frozen=True, slots=True)
class RabbitmqConsumer:
    """queues: the tenant of each queue.

    events_max: maximum number of events of a queue that are applied concurrently.
    attempts_max: attempts at an event while the embedder is unavailable; limits: their pauses.
    size_bytes_max: maximum size of an event.
    count: receives the outcome of each event that leaves its queue.
    """

    url: str
    queues: Mapping[str, str]
    handler: EventHandler
    events_max: int
    attempts_max: int
    limits: WorkerLimits
    size_bytes_max: int
    count: Callable[[EventOutcome], None]

    async def run(self, stop: asyncio.Event) -> None:
        """Apply events until `stop` is set; running ones are then finished or requeued."""
        failures, loop = 0, asyncio.get_running_loop()
        while not stop.is_set():
            started_s = loop.time()
            try:
                await self._consume(stop)
            except* CONNECTION_EXCEPTIONS as lost:
                failures = 1 if loop.time() - started_s > _STABLE_S else failures + 1
                log.warning("rabbitmq", state="unavailable", detail=_first_error(lost))
                await _pause(stop, _UNAVAILABLE.pause_after_s(failures))

    async def _consume(self, stop: asyncio.Event) -> None:
        """Consume on one connection. Raises aio-pika's exceptions if it is lost."""
        async with aio_pika.Connection(make_url(self.url)) as connection:  # also closed on failure
            await connection.connect(timeout=CONNECT_S_MAX)
            async with asyncio.TaskGroup() as group:
                for queue, tenant in self.queues.items():
                    group.create_task(self._consume_queue(connection, queue, tenant, stop))

    async def _consume_queue(
        self, connection: AbstractConnection, name: str, tenant: str, stop: asyncio.Event
    ) -> None:
        for queue in (name, name + DEAD):
            await _declare(connection, queue)
        async with connection.channel(on_return_raises=True) as channel:
            await channel.set_qos(prefetch_count=1)
            await _QueueConsumer(self, channel, name, tenant, stop).run()
        if not stop.is_set():
            raise ConnectionError(f"RabbitMQ has cancelled the consumer of {name}")


@dataclass(frozen=True, slots=True)
class _QueueConsumer:
    """The consumer of one queue on one channel.

    ended: no further deliveries arrive, or one can't be acknowledged on this channel.
    locks: a lock for each document with deliveries in progress.
    """

    consumer: RabbitmqConsumer
    channel: AbstractChannel
    queue: str
    tenant: str
    stop: asyncio.Event
    ended: asyncio.Event = field(default_factory=asyncio.Event)
    parsing: asyncio.Lock = field(default_factory=asyncio.Lock)
    locks: MutableMapping[str, asyncio.Lock] = field(default_factory=WeakValueDictionary)

    async def run(self) -> None:
        """Process deliveries until `stop` is set or the channel fails."""
        queue = await self._open_queue()
        end = asyncio.create_task(self._wait_for_end())
        tasks: set[asyncio.Task[None]] = set()
        try:
            while (message := await self._take(queue, end)) is not None:
                task = asyncio.create_task(self._process(message))
                tasks.add(task)
                task.add_done_callback(tasks.discard)
                is_too_long = len(message.body) > self.consumer.size_bytes_max
                del message  # else it would stay until the next has come
                if is_too_long:
                    await asyncio.wait((task, end), return_when=asyncio.FIRST_COMPLETED)
                elif len(tasks) >= self.consumer.events_max:
                    await asyncio.wait((*tasks, end), return_when=asyncio.FIRST_COMPLETED)
            if tasks and self.stop.is_set():
                await asyncio.wait(tasks, timeout=self.consumer.limits.stop_s)
        finally:
            await background_tasks.end(end, *tasks)

    async def _open_queue(self) -> AbstractQueue:
        channel = await self.channel.get_underlay_channel()
        channel.on_consumer_cancel_callbacks.add(
            lambda _: self.ended.set()
        )  # the queue was deleted
        return await self.channel.get_queue(self.queue, ensure=False)

    async def _wait_for_end(self) -> None:
        waits = [asyncio.create_task(event.wait()) for event in (self.stop, self.ended)]
        try:
            await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for wait in waits:
                wait.cancel()

    async def _take(
        self, queue: AbstractQueue, end: asyncio.Task[None]
    ) -> AbstractIncomingMessage | None:
        """The next delivery, once there is one; None if none arrives any more.

        Each has a consumer of its own, whose prefetch count of 1 sends no second one.
        """
        if end.done():
            return None
        async with queue.iterator() as deliveries:
            closing = asyncio.create_task(_close_after(end, deliveries))
            try:
                return await anext(deliveries, None)
            finally:
                await background_tasks.end(closing)

    async def _process(self, message: AbstractIncomingMessage) -> None:
        """Apply the event and acknowledge it; if that fails, end the channel to get redelivery."""
        try:
            if (reason := await self._apply_with_retries(message.body)) is not None:
                await self._dead_letter(message, reason)
            await message.ack()
            self.consumer.count("applied" if reason is None else "dead_lettered")
        except _Stopped:
            pass
        except (*CONNECTION_EXCEPTIONS, Saturated) as lost:
            log.warning("event", state="not_acknowledged", queue=self.queue, detail=str(lost))
            self.ended.set()

    async def _apply_with_retries(self, body: bytes) -> str | None:
        """Apply the event; the reason if it can never be applied, else None."""
        threads = self.consumer.handler.writer.threads.of(self.tenant)
        parse = partial(
            event_schemas.parse, tenant=self.tenant, bytes_max=self.consumer.size_bytes_max
        )
        try:
            async with self.parsing:  # a short event does not pass a long one
                (event,) = await threads.map(parse, [body])
        except EventRefused as refused:
            return str(refused)
        async with self.locks.setdefault(event.document_id, asyncio.Lock()):
            for attempts in itertools.count(1):
                if self.stop.is_set():
                    raise _Stopped
                try:
                    return await self._apply(event)
                except (DatabaseUnavailable, DocumentContended, Saturated) as error:
                    pause_s, detail = _UNAVAILABLE.pause_after_s(attempts), str(error)
                except EmbeddingUnavailable as error:
                    if attempts >= self.consumer.attempts_max:
                        return str(error)
                    pause_s, detail = self.consumer.limits.pause_after_s(attempts), str(error)
                log.warning("event", state="waiting", detail=detail, **self._log_fields(event))
                await _pause(self.stop, pause_s)
        raise AssertionError("the loop is endless")

    async def _apply(self, event: Event) -> str | None:
        """Apply the event once; the reason if it can never be applied. Raises temporary errors."""
        try:
            await self.consumer.handler.handle(self.tenant, event)
        except (DatabaseUnavailable, DocumentContended, EmbeddingUnavailable, Saturated):
            raise
        except (
            DocumentTooLong, EventRefused, QuotaExceeded, SourceReserved, TenantMissing,
        ) as refused:  # fmt: skip
            return str(refused)
        except Exception as error:  # its message may quote the document
            log.exception("event", state="attempt_failed", **self._log_fields(event))
            return type(error).__name__
        return None

    async def _dead_letter(self, message: AbstractIncomingMessage, reason: str) -> None:
        log.warning(
            "event", state="dead_lettered", queue=self.queue, tenant=self.tenant, detail=reason
        )
        headers = {**message.headers, REASON: reason[:_REASON_CHARACTERS_MAX]}
        copy = persistent_copy(message, headers)
        await self.channel.default_exchange.publish(copy, self.queue + DEAD)

    def _log_fields(self, event: Event) -> Mapping[str, str]:
        return {"queue": self.queue, "tenant": self.tenant, "document": event.document_id}


def persistent_copy(
    message: AbstractIncomingMessage, headers: Mapping[str, FieldValue]
) -> aio_pika.Message:
    """The same event for another queue, with these headers."""
    return aio_pika.Message(
        message.body,
        headers=dict(headers),
        content_type=message.content_type,
        message_id=message.message_id,
        delivery_mode=aio_pika.DeliveryMode.PERSISTENT,
    )


async def _close_after(end: asyncio.Task[None], deliveries: AbstractQueueIterator) -> None:
    """Stop consuming then, and requeue a delivery that was not taken."""
    await asyncio.wait((end,))
    with suppress(*CONNECTION_EXCEPTIONS):
        await deliveries.close()


async def _declare(connection: AbstractConnection, name: str) -> None:
    """Declare a durable queue unless a queue of this name exists."""
    try:
        async with connection.channel() as channel:
            await channel.declare_queue(name, passive=True)
    except ChannelNotFoundEntity:
        async with connection.channel() as channel:
            await channel.declare_queue(name, durable=True)


def _first_error(lost: BaseExceptionGroup[Exception]) -> str:
    """The message of the first error in the group, for a log line."""
    error: BaseException = lost
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return str(error) or type(error).__name__


async def _pause(stop: asyncio.Event, seconds: float) -> None:
    with suppress(TimeoutError):
        await asyncio.wait_for(stop.wait(), seconds)
