"""The answered questions of one tenant, in memory, by family: which lie nearest to a new one."""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from cache.semantic import cached_question
from cache.semantic.cached_question import CachedQuestion

_ROWS_MIN = 8  # a family's first matrix; it doubles as it grows


class QuestionIndex:
    """Questions of different families never meet: something else in their keys differs."""

    def __init__(self) -> None:
        self._families: dict[str, _Family] = {}
        self._family_of: dict[str, str] = {}

    def __len__(self) -> int:
        return len(self._family_of)

    def add(self, key: str, question_record: bytes) -> None:
        """Replaces what lay under the key; a record that can't be read only takes it away."""
        self.discard(key)
        asked = cached_question.decode(question_record)
        if asked is None:
            return
        family = self._families.setdefault(asked.family, _Family())
        if family.add(key, asked):
            self._family_of[key] = asked.family

    def discard(self, key: str) -> None:
        name = self._family_of.pop(key, None)
        if name is None:
            return
        family = self._families[name]
        family.discard(key)
        if not family.keys:
            del self._families[name]

    def nearest(
        self, family: str, vector: NDArray[np.float32], limit: int
    ) -> list[tuple[str, float, str]]:
        """Up to `limit` keys with their similarity and text, the most similar first.

        Ties go to the lesser key.
        """
        found = self._families.get(family)
        return found.nearest(vector, limit) if found is not None else []


@dataclass(slots=True)
class _Family:
    """Row n of the matrix is of the question keys[n], texts[n]; rows past them are free."""

    keys: list[str] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    rows: dict[str, int] = field(default_factory=dict)
    matrix: NDArray[np.float32] = field(default_factory=lambda: np.empty((0, 0), np.float32))

    def add(self, key: str, asked: CachedQuestion) -> bool:
        """False for a vector of another width than the others': another judge's."""
        if not self.keys:
            self.matrix = np.empty((_ROWS_MIN, len(asked.vector)), np.float32)
        if len(asked.vector) != self.matrix.shape[1]:
            return False
        row = len(self.keys)
        if row == len(self.matrix):
            self.matrix = np.vstack((self.matrix, np.empty_like(self.matrix)))
        self.matrix[row] = asked.vector
        self.rows[key] = row
        self.keys.append(key)
        self.texts.append(asked.text)
        return True

    def discard(self, key: str) -> None:
        """The last row moves into the gap."""
        row = self.rows.pop(key)
        last_key, last_text = self.keys.pop(), self.texts.pop()
        if last_key != key:
            self.keys[row], self.texts[row], self.rows[last_key] = last_key, last_text, row
            self.matrix[row] = self.matrix[len(self.keys)]

    def nearest(self, vector: NDArray[np.float32], limit: int) -> list[tuple[str, float, str]]:
        if len(vector) != self.matrix.shape[1] or limit < 1:
            return []
        similar = self.matrix[: len(self.keys)] @ vector
        if len(similar) > limit:
            least = np.partition(similar, -limit)[-limit]
            rows = np.flatnonzero(similar >= least)
        else:
            rows = np.arange(len(similar))
        found = [(self.keys[row], float(similar[row]), self.texts[row]) for row in rows]
        return sorted(found, key=lambda each: (-each[1], each[0]))[:limit]
