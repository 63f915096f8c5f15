"""`nearhit backup`: a file that is whole, or the one that was there before."""

import asyncio
import subprocess
import sys
from pathlib import Path

import pytest

from gateway.settings.settings import Settings
from tests.gateway.support.commands import environment_of, refused, succeeds, without_settings
from tests.gateway.support.gateways import Caller

pytestmark = [pytest.mark.anyio, pytest.mark.blocking, pytest.mark.isolated, pytest.mark.slow]

BLOCKS = 16  # of 1,024 bytes: less than a dump of the empty schema


@pytest.fixture
def settings(settings: Settings) -> Settings:
    """Without a log of reads, which would meet a database that is being replaced."""
    return settings.model_copy(update={"log_level": "error", "audit_log": "changes"})


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


async def test_it_is_restored_with_all_that_was_there(
    settings: Settings, ana: Caller, tmp_path: Path
) -> None:
    environment, file = environment_of(settings), tmp_path / "nearhit.dump"
    await ana.put("leave", "25 days of annual leave.")
    first = await ana.search("annual leave")

    shown = await succeeds(environment, "backup", str(file))
    await ana.put("leave", "27 days of annual leave.")
    await ana.search("annual leave")
    await succeeds(environment, "restore", str(file), "--replace")

    assert " MB to " in shown
    assert (await ana.search("annual leave")).content == first.content
    assert names(tmp_path) == ["nearhit.dump"]
    assert file.stat().st_mode & 0o777 == 0o600


@pytest.mark.thorough
async def test_a_file_that_exists_is_replaced_only_if_that_is_said(
    settings: Settings, gateway: object, tmp_path: Path
) -> None:
    file = tmp_path / "nearhit.dump"
    file.write_bytes(b"precious")

    said = await refused(environment_of(settings), "backup", str(file))
    with file.open("rb") as opened:
        await succeeds(environment_of(settings), "backup", str(file), "--replace")
        before = opened.read()

    assert "exists" in said
    assert before == b"precious"  # a reader of the file has the old one, never half of the new one
    assert file.read_bytes().startswith(b"PGDMP")


@pytest.mark.thorough
async def test_on_a_full_disk_the_file_of_before_stays(
    settings: Settings, gateway: object, tmp_path: Path
) -> None:
    file = tmp_path / "nearhit.dump"
    file.write_bytes(b"precious")
    command = f'ulimit -f {BLOCKS} && exec "$0" -m gateway backup "$1" --replace'

    ended = await asyncio.to_thread(
        subprocess.run,
        ["bash", "-c", command, sys.executable, str(file)],
        env=without_settings() | environment_of(settings),
        capture_output=True,
        text=True,
        check=False,
    )

    assert ended.returncode == 1
    assert "nothing was backed up: pg_dump" in ended.stderr
    assert file.read_bytes() == b"precious"
    assert names(tmp_path) == ["nearhit.dump"]


async def test_without_the_database_nothing_is_written_and_no_password_is_shown(
    settings: Settings, tmp_path: Path
) -> None:
    url = "postgresql://nearhit:cheese@127.0.0.1:1/nearhit"
    environment = {**environment_of(settings), "NEARHIT_DATABASE_URL": url}

    said = await refused(environment, "backup", str(tmp_path / "nearhit.dump"))

    assert "PostgreSQL at 127.0.0.1:1 can't be reached" in said
    assert "cheese" not in said
    assert names(tmp_path) == []


async def test_a_folder_that_is_missing_is_told(settings: Settings, tmp_path: Path) -> None:
    said = await refused(environment_of(settings), "backup", str(tmp_path / "no" / "nearhit.dump"))

    assert said.endswith("no is not a folder")
