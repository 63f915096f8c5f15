"""All tuples of a store while they are read: they are in memory together, so they have limits."""

from gateway.extensions.openfga.errors import OpenfgaUnavailable
from gateway.extensions.openfga.tuple_store import TupleChanges, TupleKey, TupleMeaning

# Starting values, not measured: 500 characters of a tuple on average.
TUPLES_MAX = 500_000
CHARACTERS_MAX = 250_000_000


class CollectedTuples:
    """The tuples with a meaning, by key, after each change of them."""

    def __init__(self, tuples_max: int = TUPLES_MAX, characters_max: int = CHARACTERS_MAX) -> None:
        self._tuples_max = tuples_max
        self._characters_max = characters_max
        self._characters = 0
        self.by_key: dict[TupleKey, TupleMeaning | None] = {}

    def update(self, changes: TupleChanges) -> None:
        """Raises `OpenfgaUnavailable` if there are too many of them, or they are too long."""
        for key, meaning in changes.items():
            if self.by_key.pop(key, None) is not None:
                self._characters -= _characters(key)
            if meaning is not None:
                self.by_key[key] = meaning
                self._characters += _characters(key)
        if len(self.by_key) > self._tuples_max:
            raise OpenfgaUnavailable(f"the store has more than {self._tuples_max:,} tuples")
        if self._characters > self._characters_max:
            raise OpenfgaUnavailable(
                f"the store has tuples of more than {self._characters_max:,} characters"
            )


def _characters(key: TupleKey) -> int:
    return len(key.object) + len(key.relation) + len(key.holder)
