"""The documents that meet the conditions of a filter on fields that shards lack.

PostgreSQL lists them. Metadata would take much memory in a shard, and the time of a document's last
edit also changes for chunks that the change log does not name. Each version of a shard keeps the
lists that were read at its revision; an edit makes another version. A list pays only if its filter
comes again, so the first search with a filter reads the tables.
"""

import asyncio
import time
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from common.errors import Saturated
from common.shares.cache import FairCache
from index.errors import DatabaseUnavailable
from index.model.query import Filter
from index.model.scope import PUBLIC, Scope
from index.postgres.database import Database
from index.postgres.filter_sql import filter_args

# Starting values, not measured.
_SEARCHES_MIN = 2  # with a filter at a scope before it is listed, within `_WINDOW_S` of one another
_WINDOW_S = 60.0
_COUNTED_MAX = 10_000  # filters


@dataclass(frozen=True, slots=True, eq=False)
class MatchingDocuments:
    """The keys of the documents that a scope and a filter admit, in one snapshot, by partition."""

    history: str
    revisions: Mapping[str, int]
    keys: Mapping[str, NDArray[np.int64]]


def cache_key(scope: Scope, conditions: Filter) -> bytes:
    """Includes the scope, so that no timing reveals what callers of another scope have asked."""
    return scope.fingerprint + conditions.digest


class MatchingDocumentsReader:
    """Decides which filters are listed; concurrent searches with one filter share a reading."""

    def __init__(self, database: Database) -> None:
        self._database = database
        # how many, and when the last of them came
        self._searches: FairCache[bytes, tuple[int, float]] = FairCache(_COUNTED_MAX)
        self._readings: dict[bytes, asyncio.Future[MatchingDocuments | None]] = {}

    def count(self, tenant: str, key: bytes) -> bool:
        """Count a search; True if its filter has come often enough to be listed."""
        now_s = time.monotonic()
        searches, last_s = self._searches.get(key) or (0, now_s)
        searches = searches + 1 if now_s - last_s < _WINDOW_S else 1
        self._searches.put(tenant, key, (searches, now_s))
        return searches >= _SEARCHES_MIN

    async def read(self, key: bytes, scope: Scope, conditions: Filter) -> MatchingDocuments:
        """The documents as they are, or were when a reading began that has not ended.

        key: `cache_key` of the scope and the conditions.
        Raises `DatabaseUnavailable` and `Saturated`.
        """
        while (shared := self._readings.get(key)) is not None:
            matching = await asyncio.shield(shared)
            if matching is not None:
                return matching
        reading = self._readings[key] = asyncio.get_running_loop().create_future()
        try:
            matching = await read(self._database, scope, conditions)
        except (DatabaseUnavailable, Saturated) as error:
            reading.set_exception(error)
            reading.exception()  # often nobody else waits for it
            raise
        else:
            reading.set_result(matching)
            return matching
        finally:
            del self._readings[key]
            if not reading.done():
                reading.set_result(None)  # the reader was cancelled: one who waits reads instead


async def read(database: Database, scope: Scope, conditions: Filter) -> MatchingDocuments:
    """The documents as they are now. Raises `DatabaseUnavailable` and `Saturated`."""
    row = await database.searching.row(
        "search.matching", *filter_args(scope, conditions), True, scope.public
    )
    assert row is not None, "an aggregate always has a row"
    return MatchingDocuments(
        history=row["history"],
        revisions={PUBLIC: row["public_revision"], scope.tenant: row["tenant_revision"]},
        keys={
            PUBLIC: _keys(row["others_documents"]),
            scope.tenant: _keys(row["own_documents"]),
        },
    )


def _keys(sent: bytes | None) -> NDArray[np.int64]:
    return np.frombuffer(sent or b"", ">i8").astype(np.int64)
