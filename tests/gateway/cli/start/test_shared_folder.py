"""The folder that the workers of one start share."""

import os
import tempfile
import time
from pathlib import Path

import pytest

from gateway.cli.start import serve_command
from gateway.cli.start import shared_folder as module
from gateway.cli.start.shared_folder import shared_folder
from gateway.settings.settings import Settings

PREFIX = "nearhit-test-"


@pytest.fixture
def memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "memory"
    folder.mkdir()
    monkeypatch.setattr(module, "_MEMORY", folder)
    return folder


@pytest.fixture
def disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "disk"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


def test_it_is_this_users_alone_and_ends_with_the_command(memory: Path, disk: Path) -> None:
    with shared_folder(PREFIX, 1_000) as folder:
        assert folder.parent == memory
        assert folder.stat().st_mode & 0o777 == 0o700
        (folder / "file").touch()
    assert [*memory.iterdir()] == [*disk.iterdir()] == []


def test_it_is_on_disk_where_memory_has_no_room(memory: Path, disk: Path) -> None:
    with shared_folder(PREFIX, 1 << 60) as folder:
        assert folder.parent == disk


def test_it_is_on_disk_where_no_file_system_is_in_memory(memory: Path, disk: Path) -> None:
    memory.rmdir()
    with shared_folder(PREFIX, 1_000) as folder:
        assert folder.parent == disk


def test_the_folder_of_a_command_that_was_killed_is_removed_and_no_other(memory: Path) -> None:
    an_hour_ago = time.time() - 3_600
    killed, just_made, elsewhere = (
        memory / name for name in (f"{PREFIX}killed", f"{PREFIX}just-made", "other-1")
    )
    for folder in (killed, just_made, elsewhere):
        folder.mkdir()
        (folder / "file").touch()
    (memory / f"{PREFIX}link").symlink_to(elsewhere)
    os.utime(killed, (an_hour_ago, an_hour_ago))
    os.utime(elsewhere, (an_hour_ago, an_hour_ago))
    with shared_folder(PREFIX, 1_000) as living:
        os.utime(living, (an_hour_ago, an_hour_ago))
        with shared_folder(PREFIX, 1_000):
            assert not killed.exists()
            assert living.exists()
    for folder in (just_made, elsewhere):
        assert (folder / "file").exists()


def test_the_folders_of_workers_that_were_killed_are_removed_by_the_next_start(
    memory: Path, disk: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("PROMETHEUS_MULTIPROC_DIR", "NEARHIT_SHARD_FOLDER", "NEARHIT_SUPERVISOR_PID"):
        monkeypatch.setenv(name, "")  # so that it is as before after the test
    settings = Settings(workers=2, shard_bytes_max=1_000)
    an_hour_ago = time.time() - 3_600
    for parent in (memory, disk):
        killed = parent / f"nearhit-{'shards' if parent == memory else 'metrics'}-killed"
        killed.mkdir()
        os.utime(killed, (an_hour_ago, an_hour_ago))
    with serve_command.shared_metrics(settings), serve_command.shared_shards(settings):
        assert [folder.name.split("-")[1] for folder in memory.iterdir()] == ["shards"]
        assert [folder.name.split("-")[1] for folder in disk.iterdir()] == ["metrics"]
    assert [*memory.iterdir()] == [*disk.iterdir()] == []
