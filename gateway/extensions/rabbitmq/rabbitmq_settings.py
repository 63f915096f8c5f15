"""RabbitMQ, and whose documents the events of its queues change."""

from importlib.util import find_spec
from typing import Self
from urllib.parse import urlsplit

from pydantic import BaseModel, Field, SecretStr, field_validator, model_validator

from gateway.extension import listed


class RabbitmqSettings(BaseModel):
    """Events from RabbitMQ."""

    url: SecretStr | None = Field(
        None, description="URL of RabbitMQ, whose events the worker applies; unset: none"
    )
    queues: str | None = Field(
        None, description="comma-separated queues, each with its tenant: `QUEUE=TENANT`"
    )
    may_publish: bool = Field(
        False, description="whether events may write documents with the reader `public`"
    )

    def tenants(self) -> dict[str, str]:
        """The tenant of each queue."""
        return _tenants_by_queue(self.queues)

    @field_validator("queues")
    @classmethod
    def _check_queues(cls, text: str | None) -> str | None:
        _tenants_by_queue(text)
        return text

    @model_validator(mode="after")
    def _can_be_used(self) -> Self:
        if self.url is None:
            return self
        if find_spec("aio_pika") is None:
            raise ValueError(
                "NEARHIT_RABBITMQ_URL needs the extra: pip install '.[rabbitmq]' in a checkout"
            )
        if urlsplit(self.url.get_secret_value()).scheme not in ("amqp", "amqps"):
            raise ValueError("NEARHIT_RABBITMQ_URL must begin with amqp:// or amqps://")
        if not self.tenants():
            raise ValueError("NEARHIT_RABBITMQ_QUEUES must list the queues, as QUEUE=TENANT")
        return self


def _tenants_by_queue(text: str | None) -> dict[str, str]:
    """Raises `ValueError`, also for a queue of two tenants."""
    tenants: dict[str, str] = {}
    for part in listed(text):
        queue, equals, tenant = (item.strip() for item in part.rpartition("="))
        if not (queue and equals and tenant):
            raise ValueError(f"must be QUEUE=TENANT, separated by commas; {part} is not")
        if queue in tenants:
            raise ValueError(f"must name each queue once; {queue} is repeated")
        tenants[queue] = tenant
    return tenants
