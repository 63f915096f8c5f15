"""Events from a real RabbitMQ: done once committed, or dead with the reason; nothing is lost."""

import asyncio
import threading
import tracemalloc
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import aio_pika
import orjson
import pytest
from aio_pika.abc import AbstractChannel, AbstractIncomingMessage
from aio_pika.exceptions import ChannelNotFoundEntity
from pydantic import SecretStr

from gateway.cli import operations
from gateway.extensions.rabbitmq import event_schemas, rabbitmq_consumer
from gateway.extensions.rabbitmq.event_handler import EventHandler
from gateway.extensions.rabbitmq.event_schemas import Event
from gateway.extensions.rabbitmq.event_version_store import EventVersionStore
from gateway.extensions.rabbitmq.rabbitmq_metrics import RabbitmqMetrics
from gateway.extensions.rabbitmq.rabbitmq_services import RabbitmqServices
from gateway.extensions.rabbitmq.rabbitmq_settings import RabbitmqSettings
from gateway.monitoring.metrics import Metrics
from gateway.services import Services, open_services
from gateway.settings.settings import Settings
from index.errors import DatabaseUnavailable
from index.model.document import Document
from index.search.query_embedder import Embedder
from ingest.write.revision import Written
from tests.gateway.extensions.rabbitmq import own_rabbit
from tests.gateway.extensions.rabbitmq.event_samples import access, delete, update
from tests.gateway.extensions.rabbitmq.own_rabbit import OwnRabbit
from tests.gateway.servers.database_proxy import database_proxy
from tests.gateway.support.commands import refused, succeeds
from tests.gateway.support.unreliable_embedder import MoodyEmbedder
from tests.system_programs import needs

pytestmark = [
    pytest.mark.thorough,
    pytest.mark.slow,
    pytest.mark.anyio,
    needs("rabbitmq-server"),
]

QUEUE = "wiki"
FIRST, SECOND = "# Leave\n\n25 days a year.", "# Leave\n\n27 days a year."


@pytest.fixture(scope="module")
async def broker() -> AsyncIterator[OwnRabbit]:
    async with own_rabbit.own_rabbit() as started:
        yield started


@pytest.fixture
async def channel(broker: OwnRabbit) -> AsyncIterator[AbstractChannel]:
    """A producer's; what other tests have left is not there."""
    connection = await aio_pika.connect(broker.url)
    async with connection, connection.channel() as made:
        for queue in (QUEUE, QUEUE + rabbitmq_consumer.DEAD):
            await made.queue_delete(queue)
            await made.declare_queue(queue, durable=True)
        yield made


@pytest.fixture
def settings(settings: Settings) -> Settings:
    return settings.model_copy(update={"job_retry_delay_s": 0.01, "job_attempts_max": 3})


def variables(broker: OwnRabbit, tenant: str = "acme") -> dict[str, str]:
    """Whose documents the events of the queue change."""
    return {"NEARHIT_RABBITMQ_URL": broker.url, "NEARHIT_RABBITMQ_QUEUES": f"{QUEUE}={tenant}"}


@dataclass(frozen=True, slots=True)
class Noticing(EventHandler):
    """failed: set once the database has not answered."""

    failed: asyncio.Event

    async def handle(self, tenant: str, event: Event) -> Written | None:
        try:
            return await EventHandler.handle(self, tenant, event)
        except DatabaseUnavailable:
            self.failed.set()
            raise


@dataclass(slots=True)
class EventWorker:
    services: Services
    running: asyncio.Task[None]
    failed: asyncio.Event

    async def shown(self) -> Document | None:
        stored = await self.services.stores.documents.stored("acme", "leave")
        return None if stored is None else stored.document

    async def until(self, text: str | None) -> Document | None:
        """The document, once it has this text, or is gone."""
        async with asyncio.timeout(30):
            while (found := await self.shown()) is None or found.text != text:
                if found is None and text is None:
                    return None
                assert not self.running.done()
                await asyncio.sleep(0.01)
        return found


@asynccontextmanager
async def working(
    settings: Settings, embedder: Embedder, broker: OwnRabbit, tenant: str = "acme"
) -> AsyncIterator[EventWorker]:
    own = RabbitmqSettings(url=SecretStr(broker.url), queues=f"{QUEUE}={tenant}")
    async with open_services(settings, Metrics(), embedder) as services:
        await services.stores.tenants.create("acme", "acme")
        stop, failed = asyncio.Event(), asyncio.Event()
        handler = Noticing(
            services.documents.writer,
            EventVersionStore(services.stores.database),
            settings.language,
            may_publish=False,
            failed=failed,
        )
        metrics = RabbitmqMetrics(services.http.metrics)
        consumer = rabbitmq_consumer.consumer(RabbitmqServices(own, settings, handler, metrics))
        running = asyncio.create_task(consumer.run(stop))
        try:
            yield EventWorker(services, running, failed)
        finally:
            stop.set()
            await running


@pytest.fixture
async def worker(
    settings: Settings, embedder: Embedder, channel: AbstractChannel, broker: OwnRabbit
) -> AsyncIterator[EventWorker]:
    async with working(settings, embedder, broker) as made:
        yield made


async def send(channel: AbstractChannel, *happened: dict[str, Any] | bytes) -> None:
    for each in happened:
        body = each if isinstance(each, bytes) else orjson.dumps(each)
        message = aio_pika.Message(body, delivery_mode=aio_pika.DeliveryMode.PERSISTENT)
        await channel.default_exchange.publish(message, QUEUE)


async def dead(channel: AbstractChannel) -> AbstractIncomingMessage:
    """The next dead letter, once there is one."""
    queue = await channel.get_queue(QUEUE + rabbitmq_consumer.DEAD)
    async with asyncio.timeout(30):
        while (message := await queue.get(fail=False, no_ack=True)) is None:
            await asyncio.sleep(0.01)
    return message


async def left(broker: OwnRabbit, name: str = QUEUE) -> int:
    """How many events nobody has acknowledged; of a worker that is gone."""
    connection = await aio_pika.connect(broker.url)
    async with connection, connection.channel() as channel:
        queue = await channel.declare_queue(name, passive=True)
        return queue.declaration_result.message_count or 0


async def test_events_are_done_and_acknowledged(
    settings: Settings, embedder: Embedder, channel: AbstractChannel, broker: OwnRabbit
) -> None:
    async with working(settings, embedder, broker) as worker:
        await send(channel, update(1, FIRST), access(2, "tenant"), update(3, SECOND))
        changed = await worker.until(SECOND)
        await send(channel, update(2, FIRST), update(3, SECOND), delete(4))
        gone = await worker.until(None)

    assert changed is not None
    assert changed.readers == ("tenant",)
    assert gone is None
    assert await left(broker) == 0


async def test_a_long_event_is_parsed_in_a_thread(
    worker: EventWorker, channel: AbstractChannel, monkeypatch: pytest.MonkeyPatch
) -> None:
    threads, parse = [], event_schemas.parse

    def parse_watched(body: bytes, tenant: str, bytes_max: int) -> Event:
        threads.append(threading.get_ident())
        return parse(body, tenant, bytes_max)

    monkeypatch.setattr(event_schemas, "parse", parse_watched)
    await send(channel, update(1, SECOND * 10_000))
    await send(channel, update(2, FIRST))
    await worker.until(FIRST)

    assert len(threads) == 2
    assert threads[0] != threading.get_ident() == threads[1]


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (b"no JSON", "Invalid JSON"),
        (orjson.dumps({"type": "explode", "document_id": "a", "version": 1}), "does not match any"),
        (orjson.dumps(delete(1) | {"tenant": "other"}), "tenant: not the tenant of the queue"),
        (orjson.dumps(update(1, "\n\n".join(f"# {n}\n\nx" for n in range(6_000)))), "chunks"),
    ],
)
async def test_what_cant_be_done_is_dead_with_the_reason_and_stops_nothing(
    worker: EventWorker, channel: AbstractChannel, body: bytes, reason: str
) -> None:
    await send(channel, body, update(1, FIRST))

    letter = await dead(channel)

    assert letter.body == body
    assert reason in str(letter.headers[rabbitmq_consumer.REASON])
    await worker.until(FIRST)


async def test_memory_holds_one_of_the_events_that_are_too_long(
    settings: Settings, embedder: Embedder, channel: AbstractChannel, broker: OwnRabbit
) -> None:
    settings = settings.model_copy(update={"document_bytes_max": 1_000})
    size_bytes, events = 8_000_000, 12
    for _ in range(events):
        await send(channel, b"-" * size_bytes)
    await send(channel, update(1, FIRST))

    tracemalloc.start()
    try:
        async with working(settings, embedder, broker) as worker:
            await worker.until(FIRST)
            _, peak_bytes = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert await left(broker, QUEUE + rabbitmq_consumer.DEAD) == events
    assert peak_bytes < 5 * size_bytes  # it is collected from frames, and its copy cut into them


async def test_a_worker_takes_no_more_events_than_it_may_apply_at_once(
    settings: Settings, embedder: Embedder, channel: AbstractChannel, broker: OwnRabbit
) -> None:
    moody = MoodyEmbedder(embedder)
    moody.hold()
    events = [update(1, FIRST) | {"document_id": f"leave-{n}"} for n in range(20)]
    async with working(settings, moody, broker) as worker:
        await send(channel, *events)
        async with asyncio.timeout(30):
            while await left(broker) != 4:
                await asyncio.sleep(0.01)
        await send(channel, update(1, SECOND))
        assert await left(broker) == 5
        moody.go_on()
        await worker.until(SECOND)


async def test_a_queue_of_a_tenant_that_is_not_there_loses_nothing(
    settings: Settings, embedder: Embedder, channel: AbstractChannel, broker: OwnRabbit
) -> None:
    async with working(settings, embedder, broker, "nobody") as worker:
        await send(channel, update(1, FIRST))
        letter = await dead(channel)

        assert "there is no tenant nobody" in str(letter.headers[rabbitmq_consumer.REASON])
        assert await worker.shown() is None


async def test_dead_letters_are_listed_and_applied_once_the_reason_is_gone(
    settings: Settings, embedder: Embedder, channel: AbstractChannel, broker: OwnRabbit
) -> None:
    environment = variables(broker)
    async with working(settings, embedder, broker, "nobody"):
        await send(channel, update(1, FIRST), b"no JSON")
        async with asyncio.timeout(30):
            while await left(broker, QUEUE + rabbitmq_consumer.DEAD) < 2:
                await asyncio.sleep(0.01)

    listed = orjson.loads(await succeeds(environment, "dead-letters", "list", "--json"))
    again = orjson.loads(await succeeds(environment, "dead-letters", "list", "--json"))
    async with working(settings, embedder, broker) as worker:
        moved = await succeeds(environment, "dead-letters", "replay", "--queue", QUEUE)
        await worker.until(FIRST)
        letter = await dead(channel)

    reasons = {letter["document_id"]: letter["reason"] for letter in listed}
    assert again == listed
    assert "there is no tenant nobody" in reasons["leave"]
    assert "Invalid JSON" in reasons[None]
    assert moved == f"moved 2 events back to {QUEUE}\n"
    assert letter.body == b"no JSON"
    assert await left(broker, QUEUE + rabbitmq_consumer.DEAD) == 0


async def test_dead_letters_that_cannot_go_back_stay(
    channel: AbstractChannel, broker: OwnRabbit
) -> None:
    environment = variables(broker)
    dead_queue = QUEUE + rabbitmq_consumer.DEAD
    await channel.default_exchange.publish(aio_pika.Message(b"{}"), dead_queue)
    await channel.queue_delete(QUEUE)

    no_queue = await refused(environment, "dead-letters", "replay")
    away = await refused(
        environment | {"NEARHIT_RABBITMQ_URL": "amqp://user:hush@127.0.0.1:1/"},
        *("dead-letters", "list"),
    )
    other = await refused(environment, "dead-letters", "replay", "--queue", "other")

    assert f"no queue {QUEUE}" in no_queue
    assert await left(broker, dead_queue) == 1
    assert "RabbitMQ does not answer" in away
    assert "hush" not in away
    assert "other is no queue" in other


async def test_a_database_that_is_away_is_waited_for_in_order(
    settings: Settings,
    embedder: Embedder,
    channel: AbstractChannel,
    broker: OwnRabbit,
    database_url: str,
) -> None:
    async with database_proxy(database_url) as wire:
        cut_off = settings.model_copy(update={"database_url": SecretStr(wire.url)})
        async with working(cut_off, embedder, broker) as worker:
            await send(channel, update(1, FIRST))
            await worker.until(FIRST)
            wire.cut()
            await send(channel, delete(2), update(3, SECOND))
            await worker.failed.wait()
            wire.mend()
            await worker.until(SECOND)

    assert await (await channel.get_queue(QUEUE + rabbitmq_consumer.DEAD)).get(fail=False) is None


async def test_an_embedder_that_stays_away_leaves_a_dead_letter(
    settings: Settings, embedder: Embedder, channel: AbstractChannel, broker: OwnRabbit
) -> None:
    moody = MoodyEmbedder(embedder)
    async with working(settings, moody, broker) as worker:
        moody.away = True
        await send(channel, update(1, FIRST), access(2, "tenant"))
        letter = await dead(channel)
        moody.away = False
        await send(channel, letter.body)
        found = await worker.until(FIRST)

    assert "the test said so" in str(letter.headers[rabbitmq_consumer.REASON])
    assert found is not None
    assert found.readers == ("tenant",)


async def test_a_broker_that_dies_loses_nothing(
    worker: EventWorker, channel: AbstractChannel, broker: OwnRabbit
) -> None:
    await send(channel, update(1, FIRST))
    await worker.until(FIRST)

    await broker.kill()
    await broker.start()
    connection = await aio_pika.connect(broker.url)
    async with connection, connection.channel() as again:
        await send(again, update(2, SECOND))
        await worker.until(SECOND)


async def test_a_queue_that_is_deleted_is_made_again(
    worker: EventWorker, broker: OwnRabbit, channel: AbstractChannel
) -> None:
    await send(channel, update(1, FIRST))
    await worker.until(FIRST)

    await channel.queue_delete(QUEUE)
    async with asyncio.timeout(30):
        while not await _is_there(broker):
            await asyncio.sleep(0.05)
    await send(channel, update(2, SECOND))

    await worker.until(SECOND)


async def test_a_stop_gives_back_what_has_to_wait(
    settings: Settings, embedder: Embedder, channel: AbstractChannel, broker: OwnRabbit
) -> None:
    moody = MoodyEmbedder(embedder)
    slow = settings.model_copy(update={"job_retry_delay_s": 60.0, "job_attempts_max": 100})
    async with working(slow, moody, broker):
        moody.away = True
        await send(channel, update(1, FIRST), update(2, SECOND))
        await moody.asked.wait()

    assert await left(broker) == 2
    async with working(settings, embedder, broker) as worker:
        await worker.until(SECOND)


async def test_a_worker_that_is_told_of_a_server_takes_its_events(
    settings: Settings,
    embedder: Embedder,
    channel: AbstractChannel,
    broker: OwnRabbit,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name, value in variables(broker).items():
        monkeypatch.setenv(name, value)
    async with open_services(settings, Metrics(), embedder) as services:
        await services.stores.tenants.create("acme", "acme")
        stop = asyncio.Event()
        running = asyncio.create_task(operations.run_worker(settings, 60.0, Metrics(), stop))
        try:
            await send(channel, update(1, FIRST))
            await EventWorker(services, running, asyncio.Event()).until(FIRST)
        finally:
            stop.set()
            await running


async def _is_there(broker: OwnRabbit) -> bool:
    try:
        await left(broker)
    except ChannelNotFoundEntity:
        return False
    return True
