"""How many subscriptions there may be, and where webhooks may be."""

from ipaddress import ip_network

from pydantic import BaseModel, Field, NonNegativeInt, PositiveInt, field_validator

from gateway.extension import listed


class SubscriptionSettings(BaseModel):
    """Subscriptions."""

    tenant_max: NonNegativeInt = Field(10_000, description="maximum subscriptions of a tenant")
    subject_max: NonNegativeInt = Field(100, description="maximum subscriptions of one subject")
    retention_days: PositiveInt = Field(
        30,
        le=36_500,
        description="days after which a subscription that nobody listens to is deleted",
    )
    webhook_networks: str | None = Field(
        None,
        description="comma-separated networks, such as `10.1.2.0/24`, in which webhooks may be "
        "although their addresses are not public, also without TLS; unset: none",
    )

    @field_validator("webhook_networks")
    @classmethod
    def _check_networks(cls, text: str | None) -> str | None:
        for part in listed(text):
            ip_network(part)
        return text
