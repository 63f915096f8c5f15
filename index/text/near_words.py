"""Proves that no word of a vocabulary is near enough to a typed one to correct it.

A correction is within 1 slip of the typed word, or within 2 of a long one. Two words within so many
slips become the same string when at most so many letters are deleted from each: one letter for
each inserted, deleted, replaced or swapped one. So the hashes of the strings that deletions make of
each word suffice for the proof. Where 2 slips are allowed, only the first letters are compared: of
two such words these become the same string too, as the same deletions and one more of the last
letters for each letter that the other lost show.

Pure.

Source: Garbe, "1000x Faster Spelling Correction", 2012 (symmetric deletes, SymSpell).
"""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from index.text import sorted_values
from index.text.spelling import LONG_LETTERS_MIN

# Of the vocabulary: the longest words one slip from a short typed word, and the shortest words two
# slips from a long one.
ONE_SLIP_LETTERS_MAX = LONG_LETTERS_MIN
TWO_SLIPS_LETTERS_MIN = LONG_LETTERS_MIN - 2

# Over questions of seven public sets in the vocabularies of others, 0.22 to 0.43 of the look-ups
# are left with 12 letters and 37 hashes a word; with 10 letters 0.25 to 0.51 and 30, with whole
# words 0.22 to 0.40 and 45. It also bounds the hashes of a word to 79.
PREFIX_LETTERS_MAX = 12

_PART_GROWTH = 8  # a part is merged into the one before unless that is so much larger


@dataclass(frozen=True, slots=True, eq=False)
class NearWords:
    """The hashes of what deletions make of a vocabulary's words; see `delete_hashes`.

    parts: ascending, the largest first; each has a hash.
    """

    parts: tuple[NDArray[np.uint32], ...]

    @classmethod
    def of(cls, hashes: bytes) -> "NearWords":
        """hashes: four bytes each, as `resident.near_words` returns them, in any order."""
        return cls(()).with_learned(hashes)

    @property
    def size_bytes(self) -> int:
        return sum(part.nbytes for part in self.parts)

    def is_consistent(self) -> bool:
        """Whether each part is ascending and has a hash."""
        return all(len(part) > 0 and sorted_values.are_ascending(part) for part in self.parts)

    def with_learned(self, hashes: bytes) -> "NearWords":
        """Those of these hashes too; they are of words that the vocabulary has learned."""
        parts = [
            *self.parts,
            sorted_values.distinct(np.frombuffer(hashes, ">u4").astype(np.uint32)),
        ]
        while len(parts) > 1 and len(parts[-2]) < _PART_GROWTH * len(parts[-1]):
            parts[-2:] = [sorted_values.distinct(np.concatenate(parts[-2:]))]
        return NearWords(tuple(part for part in parts if len(part)))

    def may_correct(self, word: str) -> bool:
        """Whether a word of the vocabulary may be a correction of this unknown one.

        If not, none is: no hash of a correction is missing. Otherwise most often one is.
        """
        hashes = np.frombuffer(b"".join(delete_hashes(word)), ">u4").astype(np.uint32)
        return any(bool(sorted_values.are_in(hashes, part).any()) for part in self.parts)


def delete_hashes(word: str) -> list[bytes]:
    """The hashes, of four bytes each, of which an unknown word shares one with each correction."""
    slips = 1 if len(word) < LONG_LETTERS_MIN else 2
    return _hashes(slips, word)


def vocabulary_hashes(word: str) -> list[bytes]:
    """The hashes of a word of a vocabulary, as `resident.near_words` computes them."""
    one_slip = _hashes(1, word) if len(word) <= ONE_SLIP_LETTERS_MAX else []
    two_slips = _hashes(2, word) if len(word) >= TWO_SLIPS_LETTERS_MIN else []
    return one_slip + two_slips


def _hashes(slips: int, word: str) -> list[bytes]:
    """Of both numbers of slips apart: of 2 deletions there are many more."""
    prefix = word[:PREFIX_LETTERS_MAX]
    return [
        hashlib.sha256(f"{slips}{rest}".encode()).digest()[:4] for rest in _deletes(prefix, slips)
    ]


def _deletes(word: str, letters: int, start: int = 0) -> Iterator[str]:
    """The word, and what is left of it without at most so many letters, from a place on."""
    yield word
    if letters:
        for place in range(start, len(word)):
            yield from _deletes(word[:place] + word[place + 1 :], letters - 1, place)
