"""Reads what scopes see; see `index/model/sight.py`."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from common.errors import Saturated
from common.shares.cache import FairCache
from common.shares.threads import FairThreads
from index.errors import DatabaseUnavailable
from index.model.scope import Scope
from index.model.sight import sight_digest
from index.postgres.database import Database
from index.postgres.session import Row

AUDIENCES_MAX = 1_000  # of one scope: their digest takes 3 ms; a starting value
_INLINE_AUDIENCES_MAX = 100  # more would block the event loop for a third of a millisecond
_SIGHTS_MAX = 20_000  # 6 MB
_RECENT_MAX = 4  # of one scope: callers who accept an older answer may get one of these


@dataclass(frozen=True, slots=True)
class Sight:
    """What a scope sees at an audience revision of a history.

    digest: None if it would take too long to compute.
    """

    history: str
    audience_revision: int
    digest: bytes | None


class SightReader:
    """Reads each sight once, and remembers it. database: the nearest one."""

    def __init__(self, database: Database, threads: FairThreads) -> None:
        self._database = database.searching
        self._threads = threads
        self._sights: FairCache[tuple[bytes, str, int], Sight] = FairCache(_SIGHTS_MAX)
        self._recent: FairCache[bytes, tuple[Sight, ...]] = FairCache(_SIGHTS_MAX)
        self._readings: dict[tuple[bytes, str, int], asyncio.Task[Sight | None]] = {}

    def known(self, scope: Scope, history: str, audience_revision: int) -> Sight | None:
        """The sight, if it has been read."""
        return self._sights.get((scope.fingerprint, history, audience_revision))

    def recent(self, scope: Scope) -> Sequence[Sight]:
        """The sights that were read last, at whatever revisions, the last one first."""
        return self._recent.get(scope.fingerprint) or ()

    def forget(self, scope: Scope, audience_revision: int) -> None:
        """Count the sights of this audience revision among the recent ones no more."""
        others = [
            each for each in self.recent(scope) if each.audience_revision != audience_revision
        ]
        self._recent.put(scope.tenant, scope.fingerprint, tuple(others))

    async def read(self, scope: Scope, history: str, audience_revision: int) -> Sight | None:
        """The sight at this revision; None if the database is at another one, or unavailable."""
        known = self.known(scope, history, audience_revision)
        if known is not None:
            return known
        key = (scope.fingerprint, history, audience_revision)
        reading = self._readings.get(key)
        if reading is None:
            reading = self._readings[key] = asyncio.create_task(self._read(scope))
            reading.add_done_callback(lambda _: self._readings.pop(key, None))
        sight = await asyncio.shield(reading)
        if sight is None or (sight.history, sight.audience_revision) != key[1:]:
            return None
        return sight

    async def _read(self, scope: Scope) -> Sight | None:
        try:
            rows = await self._database.rows(
                "search_audiences.admitted",
                scope.tenant,
                list(scope.grants),
                list(scope.shared),
                scope.owner,
                AUDIENCES_MAX + 1,
            )
            if not rows:
                return None
            digest = await self._digest(scope, rows)
        except (DatabaseUnavailable, Saturated):
            return None
        sight = Sight(rows[0]["history"], rows[0]["audience_revision"], digest)
        recent = (sight, *self.recent(scope))[:_RECENT_MAX]
        self._recent.put(scope.tenant, scope.fingerprint, recent)
        key = (scope.fingerprint, sight.history, sight.audience_revision)
        self._sights.put(scope.tenant, key, sight)
        return sight

    async def _digest(self, scope: Scope, rows: Sequence[Row]) -> bytes | None:
        """None if there are too many audiences. Raises `Saturated`."""
        audiences = [row["allowed_tokens"] for row in rows if row["allowed_tokens"] is not None]
        worded = rows[0]["tokens_with_words"]
        if len(audiences) > AUDIENCES_MAX:
            return None
        if len(audiences) <= _INLINE_AUDIENCES_MAX:
            return sight_digest(scope, audiences, worded)
        return await self._threads.run(scope.tenant, sight_digest, scope, audiences, worded)
