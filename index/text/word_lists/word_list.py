"""The word list of one language: sorted hashes in bytes that processes can share.

Pure.
"""

import sys
from array import array
from bisect import bisect_left
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import blake2b
from itertools import accumulate, pairwise

_COUNT_BYTES = 8
_HASH_BYTES = 8  # a word that is in no list has the hash of a listed one once in 10 ** 14 words


@dataclass(frozen=True, slots=True, eq=False)
class WordList:
    """A language at large.

    stems:     the hashes of stems, ascending.
    shares:    of each stem, its share of all words, 0 to 1.
    plain:     the hashes of words without their accents, ascending.
    spellings: of each plain word its most frequent spelling, which the stemmer needs, in UTF-8;
               a missing accent then does not change the stem.
    ends:      of each spelling, in bytes.
    """

    stems: memoryview
    shares: "memoryview[float]"
    plain: memoryview
    ends: memoryview
    spellings: memoryview

    @classmethod
    def of(cls, encoded: memoryview) -> "WordList":
        """A view on the bytes, as `encode` returns them."""
        stems, plain = encoded[: 2 * _COUNT_BYTES].cast("Q")
        sizes = [2 * _COUNT_BYTES, stems * 8, stems * 8, plain * 8, plain * 8]
        starts = [*accumulate(sizes), len(encoded)]
        hashes, shares, plain_hashes, ends, spellings = (
            encoded[start:end] for start, end in pairwise(starts)
        )
        return cls(
            hashes.cast("Q"), shares.cast("d"), plain_hashes.cast("Q"), ends.cast("Q"), spellings
        )

    def share(self, stem: str) -> float | None:
        """The share of all words with this stem; None if no list has one."""
        place = _place(self.stems, stem)
        return None if place is None else float(self.shares[place])

    def spelling(self, word: str) -> str:
        """The most frequent spelling of a word without accents; else the word."""
        place = _place(self.plain, word)
        if place is None:
            return word
        start = self.ends[place - 1] if place else 0
        return str(self.spellings[start : self.ends[place]], "utf-8")


def encode(shares: Mapping[str, float], spellings: Mapping[str, str]) -> bytes:
    """shares: by stem. spellings: by word without accents, only those that differ from it."""
    assert sys.byteorder == "little", "the bytes are those of this machine"
    stems, plain = _sorted_by_hash(shares), _sorted_by_hash(spellings)
    words = [spellings[word].encode() for word in plain.values()]
    return b"".join(
        [
            array("Q", [len(stems), len(plain)]).tobytes(),
            array("Q", stems).tobytes(),
            array("d", map(shares.__getitem__, stems.values())).tobytes(),
            array("Q", plain).tobytes(),
            array("Q", accumulate(map(len, words))).tobytes(),
            *words,
        ]
    )


def _sorted_by_hash(words: Mapping[str, object]) -> dict[int, str]:
    by_hash = {_hash(word): word for word in words}
    assert len(by_hash) == len(words), "two listed words have one hash"
    return dict(sorted(by_hash.items()))


def _hash(word: str) -> int:
    digest = blake2b(word.encode("utf-8", "surrogatepass"), digest_size=_HASH_BYTES)
    return int.from_bytes(digest.digest(), "little")


def _place(hashes: memoryview, word: str) -> int | None:
    wanted = _hash(word)
    place = bisect_left(hashes, wanted)
    return place if place < len(hashes) and hashes[place] == wanted else None
