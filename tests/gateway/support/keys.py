"""Keys that an administrator makes, and keys that have ended, which no call of the API makes."""

from dataclasses import dataclass

from gateway.settings.settings import Settings
from tests.conftest import run_sql
from tests.gateway.support.gateways import Caller


async def expire_keys(settings: Settings, tenant: str, subject: str) -> None:
    assert settings.database_url is not None
    await run_sql(
        settings.database_url.get_secret_value(),
        f"UPDATE keys SET expires_at = now() WHERE tenant = '{tenant}' AND subject = '{subject}'",  # noqa: S608  ours
    )


@dataclass(frozen=True)
class NewKey:
    key_id: str
    key: str


async def new_key(maker: Caller, **fields: object) -> NewKey:
    answer = await maker.call("POST", "/v1/keys", json={"subject": "eve", **fields})
    assert answer.status_code == 201, answer.text
    made = answer.json()
    return NewKey(made["id"], made["key"])
