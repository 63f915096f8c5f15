"""Small numbers for what chunks have in common: audiences, sources, tags and the like.

A shard compares numbers, and asks each distinct value once, not for every chunk.
"""

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Generic, Self, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from index.model.scope import Scope

Value = TypeVar("Value", bound=Hashable)
Codes: TypeAlias = NDArray[np.int32]


class Labels(Generic[Value]):
    """Numbers distinct values in the order of their first use; a number never changes."""

    def __init__(self) -> None:
        self._codes: dict[Value, int] = {}

    @classmethod
    def of(cls, values: Sequence[Value]) -> Self:
        """The values in the order of their codes. Raises `ValueError` if two are equal."""
        labels = cls()
        for value in values:
            labels.code(value)
        if len(labels) != len(values):
            raise ValueError("two labels are equal")
        return labels

    def __len__(self) -> int:
        return len(self._codes)

    def values(self) -> list[Value]:
        """The values in the order of their codes."""
        return [*self._codes]

    def code(self, value: Value) -> int:
        return self._codes.setdefault(value, len(self._codes))

    def codes(self, values: Iterable[Value]) -> Codes:
        """The codes of the values that occur; others have none."""
        return np.array([self._codes[value] for value in values if value in self._codes], np.int32)

    def where(self, condition: Callable[[Value], bool]) -> NDArray[np.bool_]:
        """For each code, whether its value meets the condition."""
        return np.fromiter(map(condition, self._codes), np.bool_, len(self._codes))


class Audiences(Labels[tuple[str, ...]]):
    """The sets of tokens that admit a document: its owner's and its readers'.

    tokens: by code.
    """

    def __init__(self) -> None:
        super().__init__()
        self._by_token: defaultdict[str, list[int]] = defaultdict(list)
        self.tokens: list[tuple[str, ...]] = []

    def code(self, value: tuple[str, ...]) -> int:
        before = len(self)
        code = super().code(value)
        if len(self) > before:
            self.tokens.append(value)
            for token in value:
                self._by_token[token].append(code)
        return code

    def admitted(self, scope: Scope) -> NDArray[np.bool_]:
        """For each code, whether the scope admits it: `is_admitted` of `visibility.sql`."""
        shared = self._having(scope.shared) & ~self._having((scope.owner,))
        return self._having(scope.grants) | shared

    def _having(self, tokens: Iterable[str]) -> NDArray[np.bool_]:
        having = np.zeros(len(self), np.bool_)
        for token in tokens:
            having[self._by_token.get(token, [])] = True
        return having
