"""`nearhit config check`, `nearhit migrate` and `nearhit --version`."""

import json
import secrets
from importlib import metadata
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

import pytest
from redis.asyncio import Redis

from gateway.extensions.embedded_servers.owned_servers import Servers
from gateway.settings.settings import Settings
from tests.gateway.support.commands import command, environment_of, refused, succeeds

pytestmark = [pytest.mark.anyio, pytest.mark.blocking]


SECRET = "postgresql://ana:a-secret@localhost/db"


@pytest.fixture
def environment(settings: Settings) -> dict[str, str]:
    return environment_of(settings)


async def test_check_names_each_setting_with_its_origin_and_no_secret(tmp_path: Path) -> None:
    (tmp_path / "url").write_text(SECRET)
    (tmp_path / "nearhit.toml").write_text("port = 9000\n")
    variables = {
        "NEARHIT_CONFIG": str(tmp_path / "nearhit.toml"),
        "NEARHIT_DATABASE_URL_FILE": str(tmp_path / "url"),
        "NEARHIT_REDIS_URL": "redis://localhost",
    }

    done = await succeeds(variables, "config", "check", "--json")

    assert "a-secret" not in done
    assert json.loads(done)["settings"] == {
        "NEARHIT_DATABASE_URL": {"value": "(secret)", "from": "NEARHIT_DATABASE_URL_FILE"},
        "NEARHIT_REDIS_URL": {"value": "(secret)", "from": "NEARHIT_REDIS_URL"},
        "NEARHIT_PORT": {"value": 9000, "from": str(tmp_path / "nearhit.toml")},
    }


async def test_check_fails_for_a_variable_that_is_no_setting() -> None:
    done = await command({"NEARHIT_PROT": "9000"}, "config", "check")

    assert done.exit_code == 1
    assert "NEARHIT_PROT is no setting; did you mean NEARHIT_PORT?" in done.stdout


async def test_check_fails_for_a_file_of_settings_that_cannot_be_read(tmp_path: Path) -> None:
    line = await refused({"NEARHIT_CONFIG": str(tmp_path / "none.toml")}, "config", "check")

    assert "none.toml" in line


async def test_check_fails_where_only_one_server_is_set() -> None:
    line = await refused(
        {"NEARHIT_DATABASE_URL": SECRET, "NEARHIT_EMBEDDER": "onnx:/nowhere"},
        *("config", "check", "--connect"),
    )

    assert "NEARHIT_DATABASE_URL is set and NEARHIT_REDIS_URL is not" in line
    assert "there is no folder /nowhere" in line


async def test_check_fails_for_web_tokens_without_keys() -> None:
    line = await refused({"NEARHIT_JWT_ISSUER": "https://login.example"}, "config", "check")

    assert "set NEARHIT_JWT_JWKS_URL or NEARHIT_JWT_SECRET" in line


async def test_check_connects_to_the_servers_and_says_what_it_found(
    environment: dict[str, str],
) -> None:
    done = await succeeds(environment, "config", "check", "--connect")
    no_redis = await refused(
        environment | {"NEARHIT_REDIS_URL": "redis://127.0.0.1:1"}, "config", "check", "--connect"
    )

    assert "PostgreSQL answers, and its schema is up to date" in done
    assert "maxmemory-policy" in done
    assert "Redis did not answer" in no_redis


async def test_check_names_what_the_user_of_redis_may_not_do(
    environment: dict[str, str], servers: Servers
) -> None:
    name = f"nearhit-test-{secrets.token_hex(6)}"
    parts = urlsplit(servers.redis_url)
    host = parts.netloc.rpartition("@")[2]
    url = urlunsplit(parts._replace(netloc=f"{name}:secret@{host}"))
    async with Redis.from_url(servers.redis_url) as redis:
        await redis.execute_command(  # type: ignore[no-untyped-call]  # of the driver
            "ACL", "SETUSER", name, "on", ">secret", "~*", "+@all", "-@dangerous"
        )
        line = await refused(
            environment | {"NEARHIT_REDIS_URL": url}, "config", "check", "--connect"
        )
        await redis.acl_deluser(name)

    assert "its user may not run INFO: ACL SETUSER … +info|server +info|memory" in line


async def test_check_names_a_key_that_is_none_and_does_not_repeat_it() -> None:
    done = await command({"NEARHIT_CACHE_KEYS": "a-secret"}, "config", "check")

    assert done.exit_code == 1
    assert "openssl rand -hex 32" in done.output
    assert "a-secret" not in done.output


async def test_migrate_applies_what_is_missing_once(
    environment: dict[str, str], empty_url: str
) -> None:
    empty = environment | {"NEARHIT_DATABASE_URL": empty_url}

    before = await command(empty, "migrate", "--check")
    first = await succeeds(empty, "migrate")
    second = await succeeds(empty, "migrate")
    after = await succeeds(empty, "migrate", "--check")

    assert before.exit_code == 1
    names = [line.removeprefix("missing ") for line in before.stdout.splitlines()]
    assert [line.removeprefix("applied ") for line in first.splitlines()] == names
    assert names[0] == "0001_schema.sql"
    assert second == after == f"the schema is up to date: {names[-1]}\n"


async def test_the_version_is_that_of_the_installed_package() -> None:
    assert await succeeds({}, "--version") == f"{metadata.version('nearhit')}\n"
