"""Events from RabbitMQ: taken from each queue for the tenant that it belongs to.

1. A delivery is acknowledged once what it says is committed and drained, or once a copy with the
   reason is confirmed in the queue's dead-letter queue. Whatever happens before, it comes again,
   which does no harm: see `ingest.events.event_schemas`.
2. Deliveries of one document are done one after the other, as they came; one that has to wait for
   a server holds up those behind it. Of a queue's other documents `prefetch` are at work at once.
3. A connection that is lost takes what is at work with it: the next one is given all of it again.
"""

import asyncio
import itertools
from collections.abc import AsyncIterator, Mapping, MutableMapping
from contextlib import suppress
from dataclasses import dataclass, field
from weakref import WeakValueDictionary

import aio_pika
import structlog
from aio_pika.abc import (
    AbstractChannel,
    AbstractConnection,
    AbstractIncomingMessage,
    AbstractQueueIterator,
)
from aio_pika.connection import make_url
from aio_pika.exceptions import CONNECTION_EXCEPTIONS, ChannelNotFoundEntity

from gateway.worker.worker_services import WorkerServices
from index.errors import (
    DatabaseUnavailable,
    EmbeddingUnavailable,
    SourceReserved,
    TenantMissing,
)
from ingest.errors import DocumentContended, DocumentTooLong, EventRefused
from ingest.events import event_schemas
from ingest.events.event_handler import EventHandler
from ingest.events.event_schemas import Event
from ingest.worker.pgqueuer_adapter import WorkerLimits

DEAD = ".dead"  # the end of a dead-letter queue's name
REASON = "nearhit-reason"  # the header that says why an event lies there
_REASON_CHARACTERS_MAX = 1_000
_CONNECT_S_MAX = 10.0
_STEADY_S = 60.0  # a connection that held this long had nothing wrong with it
_AWAY = WorkerLimits(pause_s=0.5, pause_s_max=30.0)  # starting values, not measured

log = structlog.get_logger()


class _Stopped(Exception):
    """The worker is to stop; what has not been done is another's."""


def consumer(services: WorkerServices) -> "RabbitmqConsumer":
    """What the settings say, which have to name a server."""
    settings = services.settings
    assert settings.rabbitmq_url is not None, "else there is nothing to consume"
    return RabbitmqConsumer(
        settings.rabbitmq_url.get_secret_value(),
        settings.rabbitmq_tenants(),
        EventHandler(services.writer, services.stores.event_versions, settings.language),
        prefetch=settings.rabbitmq_prefetch,
        attempts_max=settings.job_attempts,
        pace=WorkerLimits(pause_s=settings.job_pause_s, stop_s=settings.shutdown_s),
        size_bytes_max=settings.document_bytes_max,
    )


@dataclass(frozen=True, slots=True)
class RabbitmqConsumer:
    """queues: by name, the tenant that each belongs to.

    prefetch: deliveries of a queue at work at once.
    attempts_max: at an event that needs an embedder that is away; pace: with which pauses.
    size_bytes_max: of an event.
    """

    url: str
    queues: Mapping[str, str]
    hearer: EventHandler
    prefetch: int
    attempts_max: int
    pace: WorkerLimits
    size_bytes_max: int

    async def run(self, stop: asyncio.Event) -> None:
        """Do events until told to stop; what is at work then is finished, or given back."""
        failures, loop = 0, asyncio.get_running_loop()
        while not stop.is_set():
            began_s = loop.time()
            try:
                await self._consume(stop)
            except* CONNECTION_EXCEPTIONS as lost:
                failures = 1 if loop.time() - began_s > _STEADY_S else failures + 1
                log.warning("rabbitmq", state="away", detail=_first(lost))
                await _pause(stop, _AWAY.pause_after_s(failures))

    async def _consume(self, stop: asyncio.Event) -> None:
        """On one connection. Raises what aio-pika does once it is lost."""
        async with aio_pika.Connection(make_url(self.url)) as connection:  # closed if it fails, too
            await connection.connect(timeout=_CONNECT_S_MAX)
            async with asyncio.TaskGroup() as group:
                for queue, tenant in self.queues.items():
                    group.create_task(self._consume_queue(connection, queue, tenant, stop))

    async def _consume_queue(
        self, connection: AbstractConnection, name: str, tenant: str, stop: asyncio.Event
    ) -> None:
        for each in (name, name + DEAD):
            await _declare(connection, each)
        async with connection.channel(on_return_raises=True) as channel:
            await channel.set_qos(prefetch_count=self.prefetch)
            place = _Place(self, channel, name, tenant, stop)
            await place.work()
        if not stop.is_set():
            raise ConnectionError(f"the consumer of {name} was ended")


@dataclass(frozen=True, slots=True)
class _Place:
    """One queue on one channel.

    ended: no deliveries come any more, or one can't be settled here.
    turns: a lock for each document that is waited for.
    """

    consumer: RabbitmqConsumer
    channel: AbstractChannel
    queue: str
    tenant: str
    stop: asyncio.Event
    ended: asyncio.Event = field(default_factory=asyncio.Event)
    turns: MutableMapping[str, asyncio.Lock] = field(default_factory=WeakValueDictionary)

    async def work(self) -> None:
        """Settle deliveries until told to stop, or until that can't go on."""
        at_work: set[asyncio.Task[None]] = set()
        try:
            async for message in self._deliveries():
                task = asyncio.create_task(self._settle(message))
                at_work.add(task)
                task.add_done_callback(at_work.discard)
            if at_work and self.stop.is_set():
                await asyncio.wait(at_work, timeout=self.consumer.pace.stop_s)
        finally:
            for task in at_work:
                task.cancel()
            if at_work:
                await asyncio.wait(at_work)

    async def _deliveries(self) -> AsyncIterator[AbstractIncomingMessage]:
        """In the order in which they come."""
        own = await self.channel.get_underlay_channel()
        own.on_consumer_cancel_callbacks.add(lambda _: self.ended.set())  # the queue was deleted
        queue = await self.channel.get_queue(self.queue, ensure=False)
        async with queue.iterator() as deliveries:
            ending = asyncio.create_task(self._end(deliveries))
            try:
                async for message in deliveries:
                    yield message
            finally:
                ending.cancel()
                await asyncio.wait([ending])

    async def _end(self, deliveries: AbstractQueueIterator) -> None:
        """Take no more, and give back what nobody has begun."""
        waits = [asyncio.create_task(each.wait()) for each in (self.stop, self.ended)]
        try:
            await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for each in waits:
                each.cancel()
        with suppress(*CONNECTION_EXCEPTIONS):
            await deliveries.close()

    async def _settle(self, message: AbstractIncomingMessage) -> None:
        """Do what it says, and acknowledge it; where that can't be, all come again."""
        try:
            if (reason := await self._reason(message.body)) is not None:
                await self._bury(message, reason)
            await message.ack()
        except _Stopped:
            pass
        except CONNECTION_EXCEPTIONS as lost:
            log.warning("event", state="unsettled", queue=self.queue, detail=str(lost))
            self.ended.set()

    async def _reason(self, body: bytes) -> str | None:
        """Why it will never do; None once it is done."""
        try:
            event = event_schemas.parse(body, self.tenant, self.consumer.size_bytes_max)
        except EventRefused as refused:
            return str(refused)
        async with self.turns.setdefault(event.document_id, asyncio.Lock()):
            for attempts in itertools.count(1):
                if self.stop.is_set():
                    raise _Stopped
                try:
                    return await self._hear(event)
                except (DatabaseUnavailable, DocumentContended) as away:
                    pause_s, detail = _AWAY.pause_after_s(attempts), str(away)
                except EmbeddingUnavailable as away:
                    if attempts >= self.consumer.attempts_max:
                        return str(away)
                    pause_s, detail = self.consumer.pace.pause_after_s(attempts), str(away)
                log.warning("event", state="waiting", detail=detail, **self._told(event))
                await _pause(self.stop, pause_s)
        raise AssertionError("it counts for ever")

    async def _hear(self, event: Event) -> str | None:
        """Why it will never do; raises what may be over later."""
        try:
            await self.consumer.hearer.handle(self.tenant, event)
        except (DatabaseUnavailable, DocumentContended, EmbeddingUnavailable):
            raise
        except (DocumentTooLong, SourceReserved, TenantMissing) as refused:
            return str(refused)
        except Exception as error:  # its text may quote the document
            log.exception("event", state="erred", **self._told(event))
            return type(error).__name__
        return None

    async def _bury(self, message: AbstractIncomingMessage, reason: str) -> None:
        log.warning("event", state="dead", queue=self.queue, tenant=self.tenant, detail=reason)
        copy = aio_pika.Message(
            message.body,
            headers={**message.headers, REASON: reason[:_REASON_CHARACTERS_MAX]},
            content_type=message.content_type,
            message_id=message.message_id,
            delivery_mode=aio_pika.DeliveryMode.PERSISTENT,
        )
        await self.channel.default_exchange.publish(copy, self.queue + DEAD)

    def _told(self, event: Event) -> Mapping[str, str]:
        return {"queue": self.queue, "tenant": self.tenant, "document": event.document_id}


async def _declare(connection: AbstractConnection, name: str) -> None:
    """Make the queue, durable, unless it is there, whatever it is like."""
    try:
        async with connection.channel() as channel:
            await channel.declare_queue(name, passive=True)
    except ChannelNotFoundEntity:
        async with connection.channel() as channel:
            await channel.declare_queue(name, durable=True)


def _first(lost: BaseExceptionGroup[Exception]) -> str:
    """What went wrong first, for a log line."""
    error: BaseException = lost
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return str(error) or type(error).__name__


async def _pause(stop: asyncio.Event, seconds: float) -> None:
    with suppress(TimeoutError):
        await asyncio.wait_for(stop.wait(), seconds)
