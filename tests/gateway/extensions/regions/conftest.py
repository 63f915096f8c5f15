"""A PostgreSQL with a streaming standby, which tests stop, pause and let fall behind."""

import secrets
from collections.abc import Iterator
from dataclasses import dataclass

import pytest
from pydantic import SecretStr

from gateway.settings.settings import Settings
from loadtests.servers.postgres import postgres_programs
from loadtests.servers.postgres.postgres_process import PostgresProcess
from tests.conftest import data_dir, named


@dataclass(frozen=True, slots=True)
class Pair:
    primary: PostgresProcess
    standby: PostgresProcess


@pytest.fixture(scope="session")
def servers_of_region() -> Iterator[Pair]:
    with data_dir() as folder:
        primary = PostgresProcess.create(folder.parent)
        primary.start()
        sockets = postgres_programs.new_folder(folder.parent / "standby")
        standby = primary.new_standby("far", sockets)
        try:
            yield Pair(primary, standby)
        finally:
            standby.kill()
            primary.kill()


@pytest.fixture
def pair(servers_of_region: Pair) -> Iterator[Pair]:
    """The servers; replay goes on after each test."""
    yield servers_of_region
    servers_of_region.standby.ask("SELECT pg_wal_replay_resume()")


@pytest.fixture
def region_settings(shared_settings: Settings, pair: Pair) -> Settings:
    """Of a home region, on a new database of the primary."""
    name = f"nearhit_test_{secrets.token_hex(6)}"
    pair.primary.ask(f"CREATE DATABASE {name}")
    return shared_settings.model_copy(
        update={
            "database_url": SecretStr(named(pair.primary.url, name)),
            "region": "home",
            "read_lease_s": 6.0,
            "cache_audit_per_mille": 0,
            "cache_prefix": f"nearhit-test-{secrets.token_hex(6)}:",
        }
    )


@pytest.fixture
def far_settings(region_settings: Settings, pair: Pair) -> Settings:
    """Of a region with a standby."""
    assert region_settings.database_url is not None
    database = region_settings.database_url.get_secret_value().partition("?")[0].rpartition("/")[2]
    return region_settings.model_copy(
        update={
            "region": "far",
            "replica_url": SecretStr(named(pair.standby.url, database)),
            "cache_prefix": f"nearhit-test-{secrets.token_hex(6)}:",
        }
    )
