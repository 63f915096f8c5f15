"""A tenant's vocabulary in memory: a table of words for each token whose holders know them.

A look-up reads the tables of the caller's grants alone, so its time tells nothing of other words.

Pure.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import chain, groupby
from operator import attrgetter

import numpy as np

from index.text.spelling import Near
from index.vocabulary.extent import Extent
from index.vocabulary.word_table import WordTable, trigrams_of

SHARED = "tenant"  # the token of words that the whole tenant may read

# Asked of PostgreSQL for each vocabulary. Words with other letters are looked up there: whether the
# vocabulary holds a letter that is rare must not tell.
LETTERS = frozenset(filter(str.islower, map(chr, range(0x80, 0x590))))

_TOKEN = attrgetter("token")
_GROWTH = 8  # a table is merged into the one before unless that is so much larger


@dataclass(frozen=True, slots=True, eq=False)
class ResidentWords:
    """The words of a vocabulary of this extent; they stay known in its era.

    tables: by token, ascending; of a token the largest and oldest first. Each has a word.
    separators: the characters that pg_trgm does not take for a part of a word, among LETTERS and
        those of the words.
    snapshot_xmin: the transactions before it had ended in the snapshot, so that others added what
        the vocabulary has learned since.
    """

    extent: Extent
    tables: tuple[WordTable, ...]
    separators: str
    snapshot_xmin: int

    @classmethod
    def of(
        cls, extent: Extent, words: Mapping[str, Iterable[str]], separators: str, snapshot_xmin: int
    ) -> "ResidentWords":
        """words: by token; takes 2 ms for 1,000."""
        tables = (WordTable.of(token, words[token], separators) for token in sorted(words))
        return cls(extent, tuple(tables), separators, snapshot_xmin)

    @property
    def entries(self) -> int:
        """How many words there are, each as often as tokens know it."""
        return sum(map(len, self.tables))

    @property
    def size_bytes(self) -> int:
        return sum(table.size_bytes for table in self.tables)

    def has_learned(self, extent: Extent) -> bool:
        """Whether the words of the vocabulary of this extent, or of a later one, are in memory."""
        return self.extent.era == extent.era and self.extent.words >= extent.words

    def lacks(self, extent: Extent) -> int:
        """How many words the vocabulary has learned since; 0 in another era."""
        return extent.words - self.extent.words if self.extent.era == extent.era else 0

    def with_learned(
        self,
        extent: Extent,
        learned: Mapping[str, Iterable[str]],
        separators: str,
        snapshot_xmin: int,
    ) -> "ResidentWords | None":
        """The words of this later extent, from those learned since; None if some are missing.

        Words may be among them that are in memory already. separators: among their characters.
        """
        new = {token: self._unknown(words, (token,)) for token, words in learned.items()}
        if sum(map(len, new.values())) != self.lacks(extent):
            return None
        separators = "".join(sorted({*self.separators, *separators}))
        tables = [table for table in self.tables if table.token not in new]
        for token, words in new.items():
            tables += _with_words(self._tables_of((token,)), token, words, separators)
        tables.sort(key=_TOKEN)
        return ResidentWords(extent, tuple(tables), separators, snapshot_xmin)

    def compacted(self) -> "ResidentWords":
        """The same words in one table for each token."""
        tables = [
            _merge(of_token, self.separators) for _, of_token in groupby(self.tables, key=_TOKEN)
        ]
        return replace(self, tables=tuple(tables))

    def is_consistent(self) -> bool:
        """Whether look-ups find all tables, and read nothing beside their arrays."""
        tokens = [table.token for table in self.tables]
        return tokens == sorted(tokens) and all(table.is_consistent() for table in self.tables)

    def can_compare(self, word: str) -> bool:
        """Whether the words that are similar to this one can be told without PostgreSQL."""
        return word.isascii() or all(letter.isascii() or letter in LETTERS for letter in word)

    def without_known(self, words: Iterable[str], grants: Iterable[str]) -> list[str]:
        """Those of the words that are unknown at the extent to holders of these tokens."""
        return self._unknown(words, (SHARED, *grants))

    def near(
        self,
        word: str,
        grants: Iterable[str],
        *,
        similarity_min: float,
        count: int,
        slips_max: int,
    ) -> list[Near]:
        """The most similar of the words that holders of these tokens know, best first.

        None if no similar one is within so many slips. Equally similar ones are in their order.
        """
        trigrams = trigrams_of(word, self.separators)
        tables = self._tables_of((SHARED, *grants))
        compared = [table.compare(trigrams) for table in tables]
        if not any(words.may_be_within(slips_max) for words in compared):
            return []
        nearest = (words.nearest(count, similarity_min) for words in compared)
        similarities = dict(chain.from_iterable(nearest))
        ranked = sorted(similarities.items(), key=lambda pair: (-pair[1], pair[0]))
        return [Near(*pair) for pair in ranked[:count]]

    def _unknown(self, words: Iterable[str], tokens: Iterable[str]) -> list[str]:
        unknown = [*words]
        for table in self._tables_of(tokens):
            unknown = [word for word in unknown if word not in table]
        return unknown

    def _tables_of(self, tokens: Iterable[str]) -> list[WordTable]:
        tables: list[WordTable] = []
        for token in {*tokens}:
            first = bisect_left(self.tables, token, key=_TOKEN)
            tables += self.tables[first : bisect_right(self.tables, token, first, key=_TOKEN)]
        return tables


def _with_words(
    tables: list[WordTable], token: str, words: Collection[str], separators: str
) -> list[WordTable]:
    """A token's tables with more words; smaller ones are merged, so that there are few."""
    if words:
        tables.append(WordTable.of(token, words, separators))
    while len(tables) > 1 and len(tables[-2]) < _GROWTH * len(tables[-1]):
        tables[-2:] = [_merge(tables[-2:], separators)]
    return tables


def _merge(tables: Iterable[WordTable], separators: str) -> WordTable:
    """One table with the words of all, which are of one token."""
    tables = [*tables]
    if len(tables) == 1:
        return tables[0]
    words = chain.from_iterable(table.words(np.arange(len(table))) for table in tables)
    return WordTable.of(tables[0].token, words, separators)
