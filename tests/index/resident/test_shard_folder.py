"""The files of a folder: which are kept, and who may write one."""

import asyncio
import fcntl
import os
import threading
import time
from contextlib import suppress
from pathlib import Path

import pytest

from index.resident.building.shard_file import Unusable
from index.resident.building.shard_folder import ShardFolder
from tests.index.support.sample_shards import a_shard
from tests.index.support.tiny_shards import values_of

pytestmark = pytest.mark.anyio

CHUNKS = {name: name for name in range(1, 40)}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "shards"
    path.mkdir(0o700)
    return path


def a_folder(path: Path, bytes_max: int = 1 << 20) -> ShardFolder:
    return ShardFolder(path, "edition", bytes_max)


def test_files_that_were_mapped_longest_ago_are_removed_beyond_the_limit(path: Path) -> None:
    a_folder(path).store(a_shard(CHUNKS, partition="first"))
    (file,) = path.iterdir()
    folder = a_folder(path, file.stat().st_size * 5 // 2)
    folder.store(a_shard(CHUNKS, partition="second"))
    for seconds, each in enumerate(sorted(path.iterdir(), key=os.path.getmtime)):
        os.utime(each, (0, seconds))
    folder.map("first")

    folder.store(a_shard(CHUNKS, partition="third"))

    for partition in ("first", "third"):
        assert values_of(folder.map(partition)) == CHUNKS
    with pytest.raises(FileNotFoundError):
        folder.map("second")


def test_a_shard_larger_than_the_limit_is_not_written(path: Path) -> None:
    with pytest.raises(Unusable, match="larger"):
        a_folder(path, 1_000).store(a_shard(CHUNKS))
    assert [*path.iterdir()] == []


def test_a_file_that_is_replaced_or_removed_stays_with_those_that_have_mapped_it(
    path: Path,
) -> None:
    folder = a_folder(path)
    mapped = folder.store(a_shard(CHUNKS))
    newer = folder.store(a_shard({1: 5}, revision=8))
    folder.remove("acme")

    assert values_of(mapped) == CHUNKS
    assert values_of(newer) == {1: 5}
    assert [*path.iterdir()] == []


def test_what_a_killed_process_left_unfinished_is_removed_in_time(path: Path) -> None:
    old, new = path / "old.new", path / "recent.new"
    for each in (old, new):
        each.touch()
    os.utime(old, (0, time.time() - 3_600))

    a_folder(path).store(a_shard(CHUNKS))

    assert not old.exists()
    assert new.exists()


def test_a_write_that_fails_leaves_nothing_and_keeps_the_older_file(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = a_folder(path)
    folder.store(a_shard(CHUNKS))

    def full(*_arguments: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("index.resident.building.shard_file.write", full)
    with pytest.raises(OSError, match="No space"):
        folder.store(a_shard({1: 5}, revision=8))

    assert len([*path.iterdir()]) == 1
    assert values_of(folder.map("acme")) == CHUNKS


@pytest.mark.parametrize("wrong", ["mode", "owner", "link"])
def test_a_folder_that_is_not_this_users_alone_is_refused(
    path: Path, monkeypatch: pytest.MonkeyPatch, wrong: str
) -> None:
    folder = a_folder(path)
    folder.store(a_shard(CHUNKS))
    match wrong:
        case "mode":
            path.chmod(0o711)
        case "owner":
            user = os.geteuid()
            monkeypatch.setattr(os, "geteuid", lambda: user + 1)
        case "link":
            link = path.with_name("link")
            link.symlink_to(path)
            folder = a_folder(link)

    with pytest.raises(Unusable, match="alone"):
        folder.map("acme")
    with pytest.raises(Unusable, match="alone"):
        folder.store(a_shard(CHUNKS))


async def test_a_lock_excludes_the_others_until_it_is_released(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("index.resident.building.shard_folder._LOCK_ATTEMPTS", 2)
    one, other = a_folder(path), a_folder(path)
    async with one.locked("acme") as is_first, other.locked("acme") as is_second:
        assert (is_first, is_second) == (True, False)
    async with other.locked("acme") as is_locked:
        assert is_locked


async def test_a_lock_is_released_though_a_child_process_has_a_copy_of_it(path: Path) -> None:
    folder = a_folder(path)
    async with folder.locked("acme"):
        copies = [os.dup(each) for each in locks_in(path)]
    async with folder.locked("acme") as is_locked:
        assert is_locked
    for each in copies:
        os.close(each)
    assert len(copies) == 1


def locks_in(path: Path) -> list[int]:
    """The descriptors of this process that are locks of the folder."""
    found = []
    for each in [*Path("/proc/self/fd").iterdir()]:
        with suppress(FileNotFoundError):  # it was that of the list itself
            if each.readlink().parent == path:
                found.append(int(each.name))
    return found


async def test_a_lock_that_comes_after_its_caller_was_cancelled_is_released(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = a_folder(path)
    begun, may_end = threading.Event(), threading.Event()
    lock = fcntl.flock

    def slow(descriptor: int, operation: int) -> None:
        begun.set()
        may_end.wait(10)
        lock(descriptor, operation)

    async def hold() -> None:
        async with folder.locked("acme"):
            raise AssertionError("it was cancelled")

    with monkeypatch.context() as context:
        context.setattr(fcntl, "flock", slow)
        holding = asyncio.create_task(hold())
        await asyncio.to_thread(begun.wait, 10)
        holding.cancel()
        with pytest.raises(asyncio.CancelledError):
            await holding
        may_end.set()
    async with folder.locked("acme") as is_locked:
        assert is_locked
