"""A folder in which the processes of one machine share shards: a file for each partition.

A process that loads a partition holds the partition's lock, so that the others wait and map its
file. A file takes the place of the older one at once, by being renamed; a process that has mapped
the older one keeps it. Functions that are not `async` block: call them in a thread.
"""

import asyncio
import fcntl
import hashlib
import os
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import structlog

from index.resident.building import shard_file
from index.resident.building.shard_file import Unusable
from index.resident.shard import Shard

log = structlog.get_logger()

# Starting values, not measured.
_LOCK_ATTEMPTS = 300
_LOCK_POLL_S = 0.1
_UNFINISHED_S_MAX = 600.0  # the age of a file after which no process can still be writing it


@dataclass(frozen=True, slots=True)
class ShardFolder:
    """path: created if it is missing; nobody but this user may have any right to it.

    edition:   of the code and the index; files of another are not used.
    bytes_max: what all files may take together; those that were mapped longest ago are removed.
    """

    path: Path
    edition: str
    bytes_max: int

    @asynccontextmanager
    async def locked(self, partition: str) -> AsyncIterator[bool]:
        """Hold the partition's lock; False if another process keeps it for half a minute.

        It is False too if the folder can't be used.
        """
        descriptor = await self._acquire(partition)
        try:
            yield descriptor is not None
        finally:
            if descriptor is not None:
                _unlock(descriptor)

    def map(self, partition: str) -> Shard:
        """The shard of the partition's file, as another process has stored it.

        Raises `FileNotFoundError`, `Unusable`, and other `OSError`s.
        """
        self._check()
        path = self._path(partition)
        shard = shard_file.read(
            path, partition=partition, edition=self.edition, bytes_max=self.bytes_max
        )
        with suppress(FileNotFoundError):  # it has been replaced or removed meanwhile
            os.utime(path)
        return shard

    def store(self, shard: Shard) -> Shard:
        """Write the shard's file, and return the shard that every process can map.

        Only while the lock is held. Raises `Unusable` and `OSError`.
        """
        self._check()
        descriptor, name = tempfile.mkstemp(suffix=".new", dir=self.path)
        try:
            with os.fdopen(descriptor, "wb") as file:
                self._write(file, shard)
            Path(name).replace(self._path(shard.partition))
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise
        self._make_room(self._path(shard.partition))
        return self.map(shard.partition)

    def remove(self, partition: str) -> None:
        """Remove the partition's file; processes that have mapped it keep it. Raises `OSError`."""
        self._path(partition).unlink(missing_ok=True)

    async def _acquire(self, partition: str) -> int | None:
        for attempt in range(_LOCK_ATTEMPTS):
            if attempt:
                await asyncio.sleep(_LOCK_POLL_S)
            locking = asyncio.ensure_future(asyncio.to_thread(self._try_lock, partition))
            try:
                descriptor = await asyncio.shield(locking)
            except BlockingIOError:
                continue
            except (OSError, Unusable) as error:
                log.warning("shard_folder", state="unusable", reason=str(error))
                return None
            except asyncio.CancelledError:
                locking.add_done_callback(_unlock_late)
                raise
            return descriptor
        log.warning("shard_folder", state="locked", partition=partition)
        return None

    def _try_lock(self, partition: str) -> int:
        """Raises `BlockingIOError` while another process holds it, `OSError` and `Unusable`."""
        self.path.mkdir(mode=0o700, exist_ok=True)
        self._check()
        # Two partitions may share a lock, so that there are at most 256 of these files.
        path = self.path / f"{_digest(partition)[:2]}.lock"
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BaseException:
            os.close(descriptor)
            raise
        return descriptor

    def _write(self, file: BinaryIO, shard: Shard) -> None:
        shard_file.write(file, shard, self.edition)
        if file.seek(0, os.SEEK_END) > self.bytes_max:
            raise Unusable("it is larger than all files may be together")

    def _check(self) -> None:
        if self.path.is_symlink() or not shard_file.is_private(self.path.stat()):
            raise Unusable("the folder is not this user's alone: it needs the mode 0700")

    def _path(self, partition: str) -> Path:
        return self.path / f"{_digest(partition)}.shard"

    def _make_room(self, newest: Path) -> None:
        """Remove the oldest files beyond the limit, and what a killed process left unfinished."""
        finished: list[tuple[float, int, Path]] = []
        for path in self.path.iterdir():
            with suppress(FileNotFoundError):
                status = path.stat()
                if path.suffix == ".new" and status.st_mtime < time.time() - _UNFINISHED_S_MAX:
                    path.unlink()
                elif path.suffix == ".shard" and path != newest:
                    finished.append((status.st_mtime, status.st_size, path))
        size_bytes = newest.stat().st_size
        for _, file_bytes, path in sorted(finished, reverse=True):
            size_bytes += file_bytes
            if size_bytes > self.bytes_max:
                path.unlink(missing_ok=True)


def _digest(partition: str) -> str:
    return hashlib.sha256(partition.encode()).hexdigest()


def _unlock(descriptor: int) -> None:
    fcntl.flock(descriptor, fcntl.LOCK_UN)  # a child process may have a copy of the descriptor
    os.close(descriptor)


def _unlock_late(locking: "asyncio.Future[int]") -> None:
    """Release a lock that came after its caller was cancelled."""
    if not locking.cancelled() and locking.exception() is None:
        _unlock(locking.result())
