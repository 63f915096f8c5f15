"""The request and response bodies of tenants, and of what their callers may choose."""

from pydantic import Field

from gateway.schemas import Body, TenantId
from index.model.document import Title


class TenantBody(Body):
    id: TenantId
    name: Title = ""


class TenantAnswer(Body):
    id: str
    name: str


class ConsistencyBody(Body):
    """What the tenant's callers may choose."""

    max_staleness_ms: int | None = Field(
        ge=0,
        le=3_600_000,
        description="what counts of `max_staleness_ms` at most, and how long a gateway of a region "
        "may answer from what it knows; 0: neither; null: as much as the deployment allows",
    )


class ConsistencyAnswer(ConsistencyBody):
    pass
