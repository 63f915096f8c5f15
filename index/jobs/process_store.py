"""Which gateways and workers of a deployment run."""

from dataclasses import dataclass
from datetime import datetime
from typing import Literal, TypeAlias

from index.postgres.database import Database

ProcessKind: TypeAlias = Literal["gateway", "worker"]

_KEPT_S = 86_400.0  # a process that has not been seen for so long is forgotten
_LISTED_MAX = 1_000


@dataclass(frozen=True, slots=True)
class KnownProcess:
    """is_warm: None of a worker, which loads nothing ahead."""

    process: str
    kind: ProcessKind
    version: str
    is_warm: bool | None
    started_at: datetime
    seen_s_ago: float


class ProcessStore:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def announce(
        self,
        process: str,
        kind: ProcessKind,
        version: str,
        started_at: datetime,
        *,
        is_warm: bool | None,
    ) -> None:
        """Say that a process runs, and forget those that have long been silent."""
        arguments = (process, kind, version, is_warm, started_at, _KEPT_S)
        await self._database.rows("processes.announce", *arguments)

    async def forget(self, process: str) -> None:
        await self._database.rows("processes.forget", process)

    async def known(self) -> list[KnownProcess]:
        """Gateways first; also those that were killed less than a day ago."""
        rows = await self._database.rows("processes.known", _LISTED_MAX)
        return [KnownProcess(**row) for row in rows]
