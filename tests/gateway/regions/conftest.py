"""A PostgreSQL with a streaming standby, which tests stop, pause and let fall behind."""

import secrets
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from pydantic import SecretStr

from gateway.settings.settings import Settings
from loadtests.servers.postgres import postgres_programs
from loadtests.servers.postgres.postgres_programs import PostgresPrograms
from tests.conftest import data_dir, named


@dataclass(frozen=True, slots=True)
class Server:
    programs: PostgresPrograms
    sockets: Path
    process: "subprocess.Popen[bytes]"

    @property
    def url(self) -> str:
        return self.programs.url(self.sockets)

    def ask(self, statement: str) -> str:
        return self.programs.ask(self.sockets, statement)

    @contextmanager
    def hanging(self) -> Iterator[None]:
        """It does not answer meanwhile, like a machine whose network is gone."""
        postgres_programs.signal_all(self.process, signal.SIGSTOP)
        try:
            yield
        finally:
            postgres_programs.signal_all(self.process, signal.SIGCONT)


@dataclass(frozen=True, slots=True)
class Pair:
    primary: Server
    standby: Server


@pytest.fixture(scope="session")
def servers_of_region() -> Iterator[Pair]:
    with data_dir() as folder:
        home = folder.parent
        programs, data = PostgresPrograms.create(home)
        primary_sockets = postgres_programs.new_folder(home / "primary")
        primary = programs.start(data, primary_sockets)
        copy = postgres_programs.new_folder(home / "copy")
        programs.backup(primary_sockets, copy, "--write-recovery-conf")
        standby_sockets = postgres_programs.new_folder(home / "standby")
        standby = programs.start(copy, standby_sockets, cluster_name="far")
        try:
            yield Pair(
                Server(programs, primary_sockets, primary),
                Server(programs, standby_sockets, standby),
            )
        finally:
            postgres_programs.kill(standby)
            postgres_programs.kill(primary)


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
