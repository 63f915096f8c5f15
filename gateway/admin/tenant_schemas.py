"""The request and response bodies of new tenants."""

from gateway.bodies.schemas import Body, TenantId
from index.model.document import Title


class TenantBody(Body):
    id: TenantId
    name: Title = ""


class TenantAnswer(Body):
    id: str
    name: str
