"""What the consumer of RabbitMQ uses."""

from dataclasses import dataclass

from gateway.extension import Settings
from gateway.extensions.rabbitmq.event_handler import EventHandler
from gateway.extensions.rabbitmq.rabbitmq_metrics import RabbitmqMetrics
from gateway.extensions.rabbitmq.rabbitmq_settings import RabbitmqSettings


@dataclass(frozen=True, slots=True)
class RabbitmqServices:
    """core: the gateway's settings."""

    settings: RabbitmqSettings
    core: Settings
    handler: EventHandler
    metrics: RabbitmqMetrics
