"""Events as other systems send them."""

from typing import Any

import orjson

from gateway.extensions.rabbitmq import event_schemas
from gateway.extensions.rabbitmq.event_schemas import Event


def update(version: int, text: str, **fields: Any) -> dict[str, Any]:
    """fields: of the event."""
    return _event("update", version, **{"document": {"text": text}, **fields})


def delete(version: int) -> dict[str, Any]:
    return _event("delete", version)


def access(version: int, *readers: str, owner: str | None = None) -> dict[str, Any]:
    return _event("access", version, access={"owner": owner, "readers": readers})


def parsed(event: dict[str, Any]) -> Event:
    return event_schemas.parse(orjson.dumps(event), "acme", 10_000)


def _event(kind: str, version: int, **fields: Any) -> dict[str, Any]:
    return {"type": kind, "document_id": "leave", "version": version, **fields}
