"""Compares the shards of this process with the tables in the background, one after the other."""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Protocol

import structlog

from cache.invalidation.drain import CountEvent
from common import background_tasks
from gateway.extensions.audits.shard_comparison import ShardDifferences
from index.errors import DatabaseUnavailable
from index.resident.shard import Shard

_REST = 99  # times as long as a comparison took, before the next one; a starting value
_REST_S_MIN = 1.0

log = structlog.get_logger()


class Shards(Protocol):
    def versions(self) -> Mapping[str, Shard]: ...
    def refuse(self, partitions: Sequence[str], /) -> None: ...


class LocalAnswers(Protocol):
    def drop_local(self) -> None: ...


class ShardAuditor:
    """A shard that differs is dropped, and all answers of its partition end, wherever they are.

    Those in this process's memory end at once: a caller may accept answers of earlier revisions.

    compare:    `shard_comparison.compare`; None if the shard can't follow to the tables.
    invalidate: ends a partition's answers; tried again with each audit while there is no database.
    count:      receives shard_audit_equal, shard_audit_other, and shard_audit_moved if it can't.
    every_s:    between two comparisons of a shard; 0: never.
    """

    def __init__(
        self,
        compare: Callable[[Shard], Awaitable[ShardDifferences | None]],
        shards: Shards,
        answers: LocalAnswers,
        invalidate: Callable[[str], Awaitable[None]],
        count: CountEvent,
        *,
        every_s: float,
        clock_s: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._compare = compare
        self._shards = shards
        self._answers = answers
        self._invalidate = invalidate
        self._count = count
        self._every_s = every_s
        self._clock_s = clock_s
        self._sleep = sleep
        self._audited_at_s: dict[str, float] = {}
        self._distrusted = set[str]()

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Audit in the background meanwhile."""
        task = asyncio.create_task(self._run())
        try:
            yield
        finally:
            await background_tasks.end(task)

    async def _run(self) -> None:
        while self._every_s:
            started_s = self._clock_s()
            try:
                await self._audit_next(started_s)
            except DatabaseUnavailable as error:
                log.warning("shard_audit", state="unavailable", detail=str(error))
            except Exception:  # the next audit follows all the same
                log.exception("shard_audit", state="failed")
            elapsed_s = self._clock_s() - started_s
            await self._sleep(max(_REST * elapsed_s, _REST_S_MIN))

    async def _audit_next(self, now_s: float) -> None:
        """Audit the shard that is due for the longest time, if one is.

        Raises `DatabaseUnavailable`.
        """
        await self._end_distrusted()
        versions = self._shards.versions()
        self._audited_at_s = {
            partition: at_s
            for partition, at_s in self._audited_at_s.items()
            if partition in versions
        }
        due_s = now_s - self._every_s
        ages = {name: self._audited_at_s.get(name, due_s) for name in versions}
        partition = min(ages, key=ages.__getitem__, default=None)
        if partition is None or ages[partition] > due_s:
            return
        self._audited_at_s[partition] = now_s
        await self._audit(versions[partition])

    async def _audit(self, shard: Shard) -> None:
        differences = await self._compare(shard)
        if differences is None:
            self._count("shard_audit_moved")
            return
        if not differences:
            self._count("shard_audit_equal")
            return
        self._shards.refuse([shard.partition])
        self._answers.drop_local()
        self._distrusted.add(shard.partition)
        self._count("shard_audit_other")
        log.error(
            "shard_audit",
            partition=shard.partition,
            history=shard.history,
            revision=shard.revision,
            missing=differences.missing,
            extra=differences.extra,
            changed=differences.changed,
            detail="a shard differs from the tables: it is dropped, and all answers that may have "
            "come from it end; please report it",
        )
        await self._end_distrusted()

    async def _end_distrusted(self) -> None:
        for partition in sorted(self._distrusted):
            await self._invalidate(partition)
            self._distrusted.remove(partition)
