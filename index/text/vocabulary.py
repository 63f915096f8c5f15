"""A tenant's vocabulary, and the corrections of a query's unknown words."""

import hashlib
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import compress
from types import MappingProxyType
from typing import TypeAlias

import numpy as np
from cachetools import LRUCache
from numpy.typing import NDArray

from index.model.scope import Scope
from index.postgres.database import Database
from index.postgres.session import Row, Session
from index.text import sorted_values, spelling
from index.text.near_words import NearWords
from index.text.spelling import Near

# Short words share few trigrams with their typos: 0.25 and pg_trgm's default of 0.3 took 1.3 and
# 1.0 ms instead of 2.2, but found less (the figure of `spelling` is 0.994 and 0.991).
SIMILARITY_MIN = 0.2
NEAR_MAX = 50  # near words to rank: with 100 the figure is the same, with 20 a little less
UNKNOWN_MAX = 8  # words of a query; a starting value: each costs about 2 ms

_ERA_BITS = 40  # the lower bits count the added words, the upper ones prunings: sql/vocabulary.sql

DIGEST_BYTES = 8  # of a word in memory

KNOWN_MAX = 100_000  # words, about 20 MB
CORRECTED_MAX = 20_000  # unknown words, about 10 MB

_NONE: Mapping[str, tuple[str, ...]] = MappingProxyType({})


Era: TypeAlias = tuple[str, int]


@dataclass(frozen=True, slots=True)
class Extent:
    """The state of a tenant's vocabulary: equal extents of a tenant mean equal vocabularies.

    history: of the database. words: the number of words, and how often some were pruned.
    """

    history: str
    words: int

    @property
    def era(self) -> Era:
        """The history and the number of prunings: within an era the vocabulary only grows."""
        return self.history, self.words >> _ERA_BITS


@dataclass(frozen=True, slots=True)
class Spelling:
    """The corrections of a query's words, from a vocabulary of this extent.

    extent: None if the query has no unknown word, which more words in the vocabulary don't change.
    era: of its known words; None if all its words are common in the languages.
    """

    corrections: Mapping[str, tuple[str, ...]]
    extent: Extent | None
    era: Era | None = None

    @property
    def words(self) -> int | None:
        """The number of words of the vocabulary; None if the corrections do not depend on it."""
        return None if self.extent is None else self.extent.words

    def holds(self, extent: Extent) -> bool:
        """Whether the tenant's vocabulary of this extent gives the same corrections."""
        return self.extent in (None, extent) and self.era in (None, extent.era)


CERTAIN = Spelling(_NONE, None)


async def learn(session: Session, tenant: str, words: Collection[str]) -> None:
    """Add the new words of `spelling.vocabulary_words` of the tenant's texts, in a transaction.

    Locks the tenant's row if a word is new, so call it last, before the revision is raised.
    """
    if words:
        await session.rows("vocabulary.learn", tenant, list(words))


class SeenWords:
    """The words that this process has seen committed; they stay in the vocabulary for their era."""

    def __init__(self) -> None:
        self._words: defaultdict[tuple[str, Era], set[str]] = defaultdict(set)
        self._size = 0

    def unseen(self, tenant: str, era: Era, words: Iterable[str]) -> list[str]:
        """The words that may be new, without duplicates."""
        return list(frozenset(words) - self._words[tenant, era])

    def remember(self, tenant: str, era: Era, words: Collection[str]) -> None:
        """Record committed words; call it after the commit, with the era of the transaction."""
        self._size += len(words)
        if self._size > KNOWN_MAX:  # start anew: forgotten words are added once more
            self._words.clear()
            self._size = len(words)
        self._words[tenant, era].update(words)


@dataclass(frozen=True, slots=True, eq=False)
class ResidentWords:
    """A tenant's words in memory, as of an extent of the vocabulary; they stay known in its era.

    hashes: of the words, ascending; see `_word_hash`. Two words of a million have the same hash
        with a chance of 1 in 10 million; then a typo is not corrected.
    near: which unknown words may have a correction; None if that is not in memory.
    snapshot_xmin: the transactions before it had ended in the snapshot, so that others added what
        the vocabulary has learned since.
    """

    extent: Extent
    hashes: NDArray[np.int64]
    near: NearWords | None
    snapshot_xmin: int

    @classmethod
    def of(
        cls, extent: Extent, digests: bytes, near: NearWords | None, snapshot_xmin: int
    ) -> "ResidentWords":
        """digests: the first 8 bytes of each word's digest, as `resident.words` returns them."""
        return cls(extent, _to_hashes(digests), near, snapshot_xmin)

    @property
    def size_bytes(self) -> int:
        return self.hashes.nbytes + (0 if self.near is None else self.near.size_bytes)

    def has_learned(self, extent: Extent) -> bool:
        """Whether the words of the vocabulary of this extent, or of a later one, are in memory."""
        return self.extent.era == extent.era and self.extent.words >= extent.words

    def lacks(self, extent: Extent) -> int:
        """How many words the vocabulary has learned since; 0 in another era."""
        return extent.words - self.extent.words if self.extent.era == extent.era else 0

    def with_learned(
        self, extent: Extent, digests: bytes, near_hashes: bytes, snapshot_xmin: int
    ) -> "ResidentWords":
        """The words of this later extent, from those learned since.

        Words may be among them that are in memory already. If words are missing, those in memory
        stay the words of their extent, without `near`.
        """
        hashes = sorted_values.distinct(np.concatenate([self.hashes, _to_hashes(digests)]))
        if len(hashes) - len(self.hashes) != self.lacks(extent) or self.near is None:
            return replace(self, near=None)
        return ResidentWords(extent, hashes, self.near.with_learned(near_hashes), snapshot_xmin)

    def is_consistent(self) -> bool:
        """Whether the hashes are ascending, as looking them up needs."""
        has_near = self.near is None or self.near.is_consistent()
        return has_near and sorted_values.are_ascending(self.hashes)

    def without_known(self, words: Sequence[str]) -> list[str]:
        """Those of the words that are unknown at the extent: newer ones may have been learned."""
        hashes = np.array([_word_hash(word) for word in words], np.int64)
        is_known = sorted_values.are_in(hashes, self.hashes)
        return list(compress(words, ~is_known))

    def without_uncorrected(self, unknown: Sequence[str]) -> list[str]:
        """Those of the words, unknown at the extent, that may have a correction at it."""
        near = self.near
        return [word for word in unknown if near is None or near.may_correct(word)]


def _to_hashes(digests: bytes) -> NDArray[np.int64]:
    return sorted_values.distinct(np.frombuffer(digests, ">i8").astype(np.int64))


def _word_hash(word: str) -> int:
    digest = hashlib.sha256(word.encode()).digest()
    return int.from_bytes(digest[:DIGEST_BYTES], signed=True)


class Vocabulary:
    """Caches known words by era, and corrections by extent, in this process.

    The caches are per scope, so no timing reveals what callers of another scope have looked up.
    """

    def __init__(self, database: Database) -> None:
        self._database = database.searching
        self._known_words: LRUCache[tuple[bytes, Era, str], bool] = LRUCache(KNOWN_MAX)
        self._corrections: LRUCache[_Key, tuple[str, ...]] = LRUCache(CORRECTED_MAX)

    async def spelling(
        self,
        scope: Scope,
        text: str,
        languages: frozenset[str],
        *,
        extent: Extent,
        resident: ResidentWords | None = None,
    ) -> Spelling:
        """The corrections of the query's words, from the cache of this extent or from the database.

        extent: the latest known extent of the vocabulary. resident: its words, if they are in
        memory.

        Raises `DatabaseUnavailable`.
        """
        unlisted = spelling.doubtful(text, languages) if languages else ()
        if not unlisted:
            return CERTAIN
        era, fingerprint = extent.era, scope.fingerprint
        doubtful = [word for word in unlisted if (fingerprint, era, word) not in self._known_words]
        if resident is not None and resident.extent.era == era:
            doubtful = resident.without_known(doubtful)
        if not doubtful:
            return Spelling(_NONE, None, era)
        if resident is not None and resident.has_learned(extent):
            unknown = resident.without_uncorrected(doubtful[:UNKNOWN_MAX])
            found = await self._corrections_of(scope, unknown, languages, resident.extent)
            # If a word was learned meanwhile, it may correct those that were not looked up.
            if found.extent == resident.extent or len(unknown) == len(doubtful):
                return found
        return await self._corrections_of(scope, doubtful, languages, extent)

    async def _corrections_of(
        self, scope: Scope, doubtful: Sequence[str], languages: frozenset[str], extent: Extent
    ) -> Spelling:
        """Those from the cache of this extent, or from the database with its extent."""
        cached = self._from_cache(scope.fingerprint, doubtful, languages, extent)
        return cached or await self._look_up(scope.tenant, scope.fingerprint, doubtful, languages)

    def _from_cache(
        self, fingerprint: bytes, unknown: Sequence[str], languages: frozenset[str], extent: Extent
    ) -> Spelling | None:
        by_word: dict[str, tuple[str, ...]] = {}
        for word in unknown[:UNKNOWN_MAX]:
            corrections = self._corrections.get((fingerprint, extent, languages, word))
            if corrections is None:
                return None
            by_word[word] = corrections
        return _spelling(by_word, extent)

    async def _look_up(
        self, tenant: str, fingerprint: bytes, doubtful: Sequence[str], languages: frozenset[str]
    ) -> Spelling:
        rows = await self._database.rows(
            "vocabulary.look_up", tenant, doubtful, SIMILARITY_MIN, NEAR_MAX, UNKNOWN_MAX
        )
        extent = Extent(rows[0]["history"], rows[0]["vocabulary_size"])
        era = extent.era
        self._known_words.update(
            ((fingerprint, era, row["word"]), True) for row in rows if row["is_known"]
        )
        unknown = [row for row in rows if not row["is_known"]]
        by_word = {
            row["word"]: spelling.corrections(row["word"], _near(row), languages)
            for row in unknown[:UNKNOWN_MAX]
        }
        for word, corrections in by_word.items():
            self._corrections[fingerprint, extent, languages, word] = corrections
        return _spelling(by_word, extent) if by_word else Spelling(_NONE, None, era)


_Key = tuple[bytes, Extent, frozenset[str], str]  # scope, extent, languages, unknown word


def _spelling(by_word: Mapping[str, tuple[str, ...]], extent: Extent) -> Spelling:
    corrected = {word: corrections for word, corrections in by_word.items() if corrections}
    return Spelling(corrected, extent)


def _near(row: Row) -> list[Near]:
    pairs = zip(row["near_words"] or (), row["similarities"] or (), strict=True)
    return [Near(word, similarity) for word, similarity in pairs]
