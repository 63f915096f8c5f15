"""What the caches are kept true by: the index, as they see it."""

from cache.errors import TruthUnavailable
from index.changes import Changes, News
from index.errors import DatabaseUnavailable
from index.reverse import Reverse


class Truth:
    """The changes that PostgreSQL keeps, and the reverse search of whom they concern."""

    def __init__(self, changes: Changes) -> None:
        self._changes = changes

    async def since(self, home: str, partition: str, revision: int) -> News | None:
        try:
            return await self._changes.since(home, partition, revision)
        except DatabaseUnavailable as away:
            raise TruthUnavailable from away

    def watch(self) -> Reverse:
        return Reverse()
