"""What the caches are kept true by: the index, as they see it."""

from cache.errors import TruthUnavailable
from index.changes import Changes, News
from index.errors import DatabaseUnavailable


class Truth:
    """The changes that PostgreSQL keeps."""

    def __init__(self, changes: Changes) -> None:
        self._changes = changes

    async def since(self, home: str, partition: str, revision: int) -> News | None:
        try:
            return await self._changes.since(home, partition, revision)
        except DatabaseUnavailable as away:
            raise TruthUnavailable from away
