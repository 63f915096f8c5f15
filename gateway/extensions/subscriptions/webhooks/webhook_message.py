"""Messages to webhooks, signed as the Standard Webhooks specification says. Pure.

Source: https://www.standardwebhooks.com, version 1.0.0.
"""

import base64
import hmac
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import orjson

_SECRET_PREFIX = "whsec_"  # noqa: S105  the prefix of secrets
_SECRET_BYTES = 32

# After each failed attempt, the time until the next one; after the last one the event is given up.
# As the specification proposes, about three days in all.
PAUSES_S = (5.0, 300.0, 1_800.0, 7_200.0, 18_000.0, 36_000.0, 50_400.0, 72_000.0, 86_400.0)


@dataclass(frozen=True, slots=True)
class WebhookMessage:
    """message_id: the same at each attempt to report the same event."""

    message_id: str
    body: bytes

    def headers(self, secrets: Sequence[str], now: datetime) -> dict[str, str]:
        """With a signature by each secret, of which a receiver needs to know one."""
        timestamp = str(int(now.timestamp()))
        return {
            "Content-Type": "application/json",
            "webhook-id": self.message_id,
            "webhook-timestamp": timestamp,
            "webhook-signature": " ".join(
                _signature(secret, self.message_id, timestamp, self.body) for secret in secrets
            ),
        }


def new_secret() -> str:
    return _SECRET_PREFIX + base64.b64encode(secrets.token_bytes(_SECRET_BYTES)).decode()


def message(
    subscription_id: str, name: str, kind: str, data: Mapping[str, Any], now: datetime
) -> WebhookMessage:
    """name: tells the message from others of the subscription. kind: as in `subscription.KIND`."""
    body = {
        "type": f"subscription.{kind}",
        "timestamp": now.astimezone(UTC).isoformat().replace("+00:00", "Z"),
        "data": data,
    }
    return WebhookMessage(f"{subscription_id}.{name}", orjson.dumps(body))


def _signature(secret: str, message_id: str, timestamp: str, body: bytes) -> str:
    key = base64.b64decode(secret.removeprefix(_SECRET_PREFIX))
    signed = b".".join((message_id.encode(), timestamp.encode(), body))
    return "v1," + base64.b64encode(hmac.digest(key, signed, "sha256")).decode()
