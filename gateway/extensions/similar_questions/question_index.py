"""The answered questions of one tenant in memory, searched by similarity within a family."""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from gateway.extensions.similar_questions import cached_question
from gateway.extensions.similar_questions.cached_question import CachedQuestion

_ROWS_MIN = 8  # a family's first matrix; it doubles as it grows


class QuestionIndex:
    """Questions are compared only within a family: the rest of their requests is equal."""

    def __init__(self) -> None:
        self._families: dict[str, _Family] = {}
        self._family_of: dict[str, str] = {}

    def __len__(self) -> int:
        return len(self._family_of)

    def add(self, key: str, question_record: bytes) -> None:
        """Replace the key's question; an unreadable record only removes it."""
        self.discard(key)
        question = cached_question.decode(question_record)
        if question is None:
            return
        family = self._families.setdefault(question.family, _Family())
        if family.add(key, question):
            self._family_of[key] = question.family

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
        questions = self._families.get(family)
        return questions.nearest(vector, limit) if questions is not None else []


@dataclass(slots=True)
class _Family:
    """Row n of the matrix is the vector of keys[n] and texts[n]; further rows are free."""

    keys: list[str] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    rows: dict[str, int] = field(default_factory=dict)
    matrix: NDArray[np.float32] = field(default_factory=lambda: np.empty((0, 0), np.float32))

    def add(self, key: str, question: CachedQuestion) -> bool:
        """False if the vector's dimensions differ from the others': another model made it."""
        if not self.keys:
            self.matrix = np.empty((_ROWS_MIN, len(question.vector)), np.float32)
        if len(question.vector) != self.matrix.shape[1]:
            return False
        row = len(self.keys)
        if row == len(self.matrix):
            self.matrix = np.vstack((self.matrix, np.empty_like(self.matrix)))
        self.matrix[row] = question.vector
        self.rows[key] = row
        self.keys.append(key)
        self.texts.append(question.text)
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
        matches = [(self.keys[row], float(similar[row]), self.texts[row]) for row in rows]
        return sorted(matches, key=lambda match: (-match[1], match[0]))[:limit]
