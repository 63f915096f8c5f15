"""Words in memory by their trigrams, so that the most similar ones are found as pg_trgm finds them.

The trigrams of a word are all three letters in a row of it with two blanks before and one after.
The similarity of two words is the number of their common trigrams, divided by that of all.

Pure.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import floor

import numpy as np
from numpy.typing import NDArray

from index.text import sorted_values

_BLANK = ord(" ")
_BLANKS_BETWEEN = "   "  # one after a word, and two before the next
_CHARACTER_BITS = 21

# With two swapped letters four trigrams go, with any other slip three or fewer.
_TRIGRAMS_PER_SLIP = 4


@dataclass(frozen=True, slots=True, eq=False)
class WordTable:
    """The words that the holders of a token know.

    letters:  of the words, which ascend, in UTF-8; shape (bytes,).
    starts:   where each word begins, and the end of the last; shape (words + 1,).
    counts:   of the distinct trigrams of each word; shape (words,).
    trigrams: the distinct ones of all words, ascending; shape (trigrams,).
    posting_starts: where the postings of each begin, and the end; shape (trigrams + 1,).
    postings: the words that have a trigram, ascending; shape (postings,).
    """

    token: str
    letters: NDArray[np.uint8]
    starts: NDArray[np.int32]
    counts: NDArray[np.uint8]
    trigrams: NDArray[np.int64]
    posting_starts: NDArray[np.int32]
    postings: NDArray[np.int32]

    @classmethod
    def of(cls, token: str, words: Iterable[str], separators: str) -> "WordTable":
        """separators: the characters that pg_trgm does not take for a part of a word."""
        ordered = sorted(set(words))
        encoded = [word.encode() for word in ordered]
        trigrams, postings = _trigrams(ordered, separators)
        firsts = np.flatnonzero(np.diff(trigrams, prepend=-1))
        return cls(
            token=token,
            letters=np.frombuffer(b"".join(encoded), np.uint8),
            starts=np.cumsum([0, *map(len, encoded)], dtype=np.int32),
            counts=np.bincount(postings, minlength=len(ordered)).astype(np.uint8),
            trigrams=trigrams[firsts],
            posting_starts=np.append(firsts, len(postings)).astype(np.int32),
            postings=postings.astype(np.int32),
        )

    def __len__(self) -> int:
        return len(self.counts)

    def __contains__(self, word: str) -> bool:
        encoded, letters, starts = word.encode(), self.letters.data, self.starts.data
        first, end = 0, len(self.counts)
        while first < end:  # `bisect` would call a function for each word that it compares
            middle = (first + end) // 2
            other = letters[starts[middle] : starts[middle + 1]].tobytes()
            if other == encoded:
                return True
            if other < encoded:
                first = middle + 1
            else:
                end = middle
        return False

    @property
    def size_bytes(self) -> int:
        return sum(array.nbytes for array in self._arrays)

    def is_consistent(self) -> bool:
        """Whether the arrays fit together, so that no look-up reads beside them."""
        return (
            all(array.ndim == 1 for array in self._arrays)
            and _are_starts(self.starts, len(self), len(self.letters))
            and _are_starts(self.posting_starts, len(self.trigrams), len(self.postings))
            and bool((self.trigrams[1:] > self.trigrams[:-1]).all())
            and bool(((self.postings >= 0) & (self.postings < len(self))).all())
        )

    def words(self, places: NDArray[np.intp]) -> list[str]:
        letters, starts = self.letters.data, self.starts
        bounds = zip(starts[places].tolist(), starts[places + 1].tolist(), strict=True)
        return [letters[start:end].tobytes().decode(errors="replace") for start, end in bounds]

    def compare(self, trigrams: NDArray[np.int64]) -> "ComparedWords":
        """The words beside one of these distinct trigrams."""
        found = trigrams[sorted_values.are_in(trigrams, self.trigrams)]
        places = np.searchsorted(self.trigrams, found)
        starts, ends = self.posting_starts[places], self.posting_starts[places + 1]
        bounds = zip(starts.tolist(), ends.tolist(), strict=True)
        postings = [self.postings[start:end] for start, end in bounds]
        common = np.bincount(np.concatenate(postings)) if postings else np.zeros(0, np.int64)
        return ComparedWords(self, len(trigrams), common)

    @property
    def _arrays(self) -> Sequence[NDArray[np.generic]]:
        return (
            *(self.letters, self.starts, self.counts),
            *(self.trigrams, self.posting_starts, self.postings),
        )


@dataclass(frozen=True, slots=True, eq=False)
class ComparedWords:
    """How much the words of a table have in common with a word.

    trigrams: how many distinct ones the word has.
    common:   how many of them each word has; shorter than the table if the last have none.
    """

    table: WordTable
    trigrams: int
    common: NDArray[np.int64]

    def may_be_within(self, slips: int) -> bool:
        """Whether a word that has a common trigram may be within so many slips; else none is."""
        replaced = _TRIGRAMS_PER_SLIP * slips
        words = (self.common >= max(1, self.trigrams - replaced)).nonzero()[0]
        return bool((self.table.counts[words] - self.common[words] <= replaced).any())

    def nearest(self, count: int, similarity_min: float) -> Iterable[tuple[str, float]]:
        """The most similar words that are at least so similar; of equal ones the lowest first.

        Each with its similarity.
        """
        # All distinct trigrams are as many as the word has, or more.
        words = (self.common >= max(1, floor(similarity_min * self.trigrams))).nonzero()[0]
        common = self.common[words]
        all_distinct = (self.trigrams - common + self.table.counts[words]).astype(np.float32)
        similarities = np.divide(common, all_distinct, dtype=np.float32)  # as pg_trgm divides
        similar = (similarities >= np.float32(similarity_min)).nonzero()[0]
        first = similar[np.argsort(-similarities[similar], kind="stable")[:count]]
        return zip(self.table.words(words[first]), similarities[first].tolist(), strict=True)


def trigrams_of(word: str, separators: str) -> NDArray[np.int64]:
    """The distinct trigrams of a word, ascending, as `WordTable.trigrams` holds them."""
    parts = (f"  {part} " for part in _separated([word], separators)[0].split())
    trigrams = {
        ord(part[place]) << 2 * _CHARACTER_BITS
        | ord(part[place + 1]) << _CHARACTER_BITS
        | ord(part[place + 2])
        for part in parts
        for place in range(len(part) - 2)
    }
    return np.array(sorted(trigrams), np.int64)


def _trigrams(words: Sequence[str], separators: str) -> tuple[NDArray[np.int64], NDArray[np.intp]]:
    """The distinct trigrams of each word, ascending, and the places of their words.

    Equal trigrams are in the order of the words.
    """
    words = _separated(words, separators)
    padded = "  " + _BLANKS_BETWEEN.join(words) + " "
    characters = np.frombuffer(padded.encode("utf-32-le"), "<u4").astype(np.int64)
    first, second, third = characters[:-2], characters[1:-1], characters[2:]
    # Others end with a blank before the next word begins.
    (starts,) = np.nonzero((second != _BLANK) | (third != _BLANK))
    trigrams = (first << 2 * _CHARACTER_BITS | second << _CHARACTER_BITS | third)[starts]
    lengths = np.fromiter(map(len, words), np.int64, len(words)) + len(_BLANKS_BETWEEN)
    owners = np.repeat(np.arange(len(words)), lengths)[starts]
    order = np.argsort(trigrams, kind="stable")
    trigrams, owners = trigrams[order], owners[order]
    is_first = np.ones(len(order), np.bool_)
    is_first[1:] = (trigrams[1:] != trigrams[:-1]) | (owners[1:] != owners[:-1])
    return trigrams[is_first], owners[is_first]


def _separated(words: Sequence[str], separators: str) -> Sequence[str]:
    """The words with blanks for separators, so that they are several."""
    if not separators:
        return words
    blanks = dict.fromkeys(map(ord, separators), _BLANKS_BETWEEN)
    return [word.translate(blanks) for word in words]


def _are_starts(starts: NDArray[np.int32], count: int, end: int) -> bool:
    """Whether they divide so many values into so many parts."""
    if len(starts) != count + 1 or (int(starts[0]), int(starts[-1])) != (0, end):
        return False
    return bool((starts[1:] >= starts[:-1]).all())
