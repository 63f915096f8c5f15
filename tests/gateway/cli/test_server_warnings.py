"""What is wrong with servers is told where an operator looks, and by its own name."""

import asyncio
import secrets
from collections.abc import AsyncIterator
from urllib.parse import urlsplit, urlunsplit

import pytest
from pydantic import SecretStr
from structlog.testing import CapturingLogger

from gateway.cli import operations
from gateway.extensions.embedded_servers.owned_servers import Servers
from gateway.monitoring import server_warnings
from gateway.monitoring.metrics import Metrics
from gateway.settings.settings import Settings
from index.search.query_embedder import Embedder
from tests.conftest import run_sql
from tests.gateway.servers.own_redis import own_redis
from tests.gateway.support.commands import command, environment_of, refused, succeeds
from tests.gateway.support.gateways import Gateway, running

pytestmark = [pytest.mark.anyio, pytest.mark.blocking, pytest.mark.isolated, pytest.mark.slow]

ONLY_READS = "the database only reads: end default_transaction_read_only"
NOTHING_IS_STORED = "once Redis is full, no answer is stored"
WRONG = f"wrong{secrets.token_hex(6)}"  # a password


@pytest.fixture
async def careless(settings: Settings, gateway: Gateway) -> AsyncIterator[Settings]:
    """A database that was ready and only reads now, and a Redis as it is installed."""
    assert gateway
    assert settings.database_url is not None
    url = settings.database_url.get_secret_value()
    name = urlsplit(url).path[1:]
    await run_sql(
        url, f"ALTER ROLE nearhit IN DATABASE {name} SET default_transaction_read_only = on"
    )
    async with own_redis() as redis:
        yield settings.model_copy(
            update={"redis_url": SecretStr(redis.url), "audit_log": "off", "log_level": "error"}
        )


async def test_servers_tell_at_their_start_and_commands_only_if_they_are_asked(
    careless: Settings, embedder: Embedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    logger = CapturingLogger()
    monkeypatch.setattr(server_warnings, "log", logger)
    environment = environment_of(careless) | {"NEARHIT_AUDIT_LOG": "off"}  # it can't be written
    stop = asyncio.Event()
    stop.set()

    await succeeds(environment, "search", "annual leave", "--tenant", "public")
    shown = await succeeds(environment, "status")
    checked = (await command(environment, "config", "check", "--connect")).stderr
    assert logger.calls == []

    async with running(careless, embedder) as started:
        await started.client.get("/readyz")
        of_gateway = [call.kwargs["detail"] for call in logger.calls]
    logger.calls.clear()
    await operations.run_worker(careless, 60.0, Metrics(), stop)

    of_worker = [call.kwargs["detail"] for call in logger.calls]
    assert of_gateway == of_worker
    assert all(detail in shown for detail in of_gateway)
    only_reads, redis = of_gateway
    assert redis.startswith(NOTHING_IS_STORED)
    assert only_reads.startswith(ONLY_READS)
    remedy = only_reads.partition(" runs ")[2]
    assert {f"  - {ONLY_READS}", f"  {remedy}"} <= set(checked.splitlines())
    assert remedy.startswith("SET default_transaction_read_only = off; ALTER ROLE nearhit IN ")


async def test_a_login_that_is_refused_is_told_with_the_reason_and_without_a_password(
    settings: Settings, servers: Servers
) -> None:
    parts = urlsplit(servers.database_url)
    wrong = urlunsplit(parts._replace(netloc=f"nearhit:{WRONG}@"))
    missing = urlunsplit(parts._replace(path="/no_such"))
    redis = urlsplit(servers.redis_url)
    wrong_redis = urlunsplit(redis._replace(netloc=f":{WRONG}@{redis.netloc.rpartition('@')[2]}"))
    cases = (
        ("DATABASE", wrong, 'refuses the login: password authentication failed for user "nearhit"'),
        ("DATABASE", missing, 'refuses the login: database "no_such" does not exist'),
        ("DATABASE", f"postgresql://me:{WRONG}#x@db/x", "the URL of PostgreSQL is not valid"),
        ("DATABASE", f"postgresql://me:x@{WRONG}:y@db/x", "the URL of PostgreSQL is not valid"),
        ("REDIS", wrong_redis, "authentication failed: invalid username-password pair"),
    )
    for server, url, reason in cases:
        environment = environment_of(settings) | {f"NEARHIT_{server}_URL": url}

        line = await refused(environment, "config", "check", "--connect")
        if server == "DATABASE":
            assert await refused(environment, "tenant", "list") == line
        else:
            assert reason in await succeeds(environment, "status")

        assert reason in line
        assert WRONG not in line
