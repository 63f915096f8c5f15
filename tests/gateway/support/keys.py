"""Ends keys, which no call of the API can make with a time in the past."""

from gateway.settings.settings import Settings
from tests.conftest import run_sql


async def expire_keys(settings: Settings, tenant: str, subject: str) -> None:
    assert settings.database_url is not None
    await run_sql(
        settings.database_url.get_secret_value(),
        f"UPDATE keys SET expires_at = now() WHERE tenant = '{tenant}' AND subject = '{subject}'",  # noqa: S608  ours
    )
