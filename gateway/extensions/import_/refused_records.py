"""The records that an import refused: how many for each reason, and the first ones."""

from collections import Counter

from gateway.extensions._sources.source import RefusedItem

LISTED_MAX = 20
REASONS_MAX = 100  # further ones are counted together; starting values
CHARACTERS_MAX = 300  # of an identifier or a reason, which may quote names of values
_OTHER = "other reasons"


class RefusedRecords:
    """The memory that it needs does not grow with the records."""

    def __init__(self) -> None:
        self.first: list[RefusedItem] = []
        self._by_reason: Counter[str] = Counter()

    def __len__(self) -> int:
        return self._by_reason.total()

    def add(self, item: RefusedItem) -> None:
        reason = item.reason[:CHARACTERS_MAX]
        if len(self.first) < LISTED_MAX:
            self.first.append(RefusedItem(item.path[:CHARACTERS_MAX], reason))
        is_counted = reason in self._by_reason or len(self._by_reason) < REASONS_MAX
        self._by_reason[reason if is_counted else _OTHER] += 1

    def by_reason(self) -> list[tuple[str, int]]:
        """Each reason with the number of its records, the most frequent first."""
        return self._by_reason.most_common()
