"""What the settings say of RabbitMQ, checked before anything connects to it."""

from collections.abc import Mapping
from importlib.util import find_spec
from urllib.parse import urlsplit

from gateway.errors import CommandError
from gateway.settings.settings import Settings


def require_rabbitmq(settings: Settings) -> tuple[str, Mapping[str, str]]:
    """RabbitMQ's URL, and the tenant of each queue. Raises `CommandError`."""
    if settings.rabbitmq_url is None:
        raise CommandError("NEARHIT_RABBITMQ_URL must name the RabbitMQ whose events are applied")
    if find_spec("aio_pika") is None:
        raise CommandError(
            "NEARHIT_RABBITMQ_URL needs the extra: pip install '.[rabbitmq]' in a checkout"
        )
    url, queues = settings.rabbitmq_url.get_secret_value(), settings.rabbitmq_tenants()
    if urlsplit(url).scheme not in ("amqp", "amqps"):
        raise CommandError("NEARHIT_RABBITMQ_URL must begin with amqp:// or amqps://")
    if not queues:
        raise CommandError("NEARHIT_RABBITMQ_QUEUES must list the queues, as QUEUE=TENANT")
    return url, queues
