"""Which hosts and networks may be read."""

from ipaddress import ip_network

from pydantic import BaseModel, Field, field_validator

from gateway.extension import listed


class CrawlerSettings(BaseModel):
    """Sources of web pages."""

    hosts: str | None = Field(
        None,
        description="comma-separated hosts that sources of kind `web` may read, as `HOST` or "
        "`HOST:PORT`, or `*` for all on their usual ports; unset: none",
    )
    networks: str | None = Field(
        None,
        description="comma-separated networks, such as `10.1.2.0/24`, in which these hosts may be "
        "although their addresses are not public; unset: none",
    )

    @field_validator("networks")
    @classmethod
    def _check_networks(cls, text: str | None) -> str | None:
        for part in listed(text):
            ip_network(part)
        return text
