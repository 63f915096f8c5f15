"""A tenant's vocabulary, and the corrections of a query's unknown words."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import TypeAlias

from cachetools import LRUCache

from index.model.scope import Scope
from index.postgres.database import Database, Row, Session
from index.text import spelling
from index.text.spelling import Near

# Short words share few trigrams with their slips: 0.25 and 0.3, pg_trgm's own, took 1.3 and 1.0 ms
# where this took 2.2, and found less (the figure of `spelling` is 0.994 and 0.991 with them).
SIMILARITY_MIN = 0.2
NEAR_MAX = 50  # enough for the right one to be among them: 100 gave no more, 20 little less
UNKNOWN_MAX = 8  # words of a query; a starting value: each costs about 2 ms

_ERA_BITS = 40  # of its number, as sql/vocabulary.sql counts: below them it is how many words came

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
    """What a query's words are taken for, by a vocabulary of that extent.

    extent: None if the query has no unknown word: then it stays so, whatever is learned.
    era: until when its known words are known; None if every language at large knows them.
    """

    corrections: Mapping[str, tuple[str, ...]]
    extent: Extent | None
    epoch: Era | None = None

    @property
    def words(self) -> int | None:
        """How many words the vocabulary held, where that has a part in the answer."""
        return None if self.extent is None else self.extent.words

    def holds(self, extent: Extent) -> bool:
        """Whether the tenant's vocabulary of that extent gives the same corrections."""
        return self.extent in (None, extent) and self.epoch in (None, extent.era)


CERTAIN = Spelling(_NONE, None)


async def learn(session: Session, tenant: str, words: Collection[str]) -> None:
    """Add what is new of `spelling.words_of` the tenant's texts, within the session's transaction.

    Locks the tenant's row if anything is new, so call it last before the revision is raised.
    """
    if words:
        await session.rows("vocabulary.learn", tenant, list(words))


class SeenWords:
    """The words that this process has seen committed: one that is known stays so for its era."""

    def __init__(self) -> None:
        self._known: defaultdict[tuple[str, Era], set[str]] = defaultdict(set)
        self._size = 0

    def others(self, tenant: str, era: Era, words: Iterable[str]) -> list[str]:
        """The words that may be new, without duplicates."""
        return list(frozenset(words) - self._known[tenant, era])

    def remember(self, tenant: str, era: Era, others: Collection[str]) -> None:
        """Record committed words; call it after the commit, with the era of the transaction."""
        self._size += len(others)
        if self._size > KNOWN_MAX:  # begin anew: whatever is forgotten is learned once more
            self._known.clear()
            self._size = len(others)
        self._known[tenant, era].update(others)


class Vocabulary:
    """Caches, in this process, known words by era, and corrections by extent.

    Cached per scope: no caller of another scope can tell that a word was looked up before.
    """

    def __init__(self, database: Database) -> None:
        self._database = database.searching
        self._known: LRUCache[tuple[bytes, Era, str], bool] = LRUCache(KNOWN_MAX)
        self._corrections: LRUCache[_Key, tuple[str, ...]] = LRUCache(CORRECTED_MAX)

    async def spelling(
        self, scope: Scope, text: str, languages: frozenset[str], *, extent: Extent
    ) -> Spelling:
        """What the query's words are taken for, as of now or as is remembered of that extent.

        extent: what the vocabulary was last seen to be at.

        Raises `DatabaseUnavailable`.
        """
        unlisted = spelling.doubtful(text, languages) if languages else ()
        if not unlisted:
            return CERTAIN
        era, seen = extent.era, scope.fingerprint
        doubtful = [word for word in unlisted if (seen, era, word) not in self._known]
        if not doubtful:
            return Spelling(_NONE, None, era)
        remembered = self._remembered(seen, doubtful, languages, extent)
        return remembered or await self._look_up(scope.tenant, seen, doubtful, languages)

    def _remembered(
        self, seen: bytes, unknown: Sequence[str], languages: frozenset[str], extent: Extent
    ) -> Spelling | None:
        found: dict[str, tuple[str, ...]] = {}
        for word in unknown[:UNKNOWN_MAX]:
            corrections = self._corrections.get((seen, extent, languages, word))
            if corrections is None:
                return None
            found[word] = corrections
        return _spelling(found, extent)

    async def _look_up(
        self, tenant: str, seen: bytes, doubtful: Sequence[str], languages: frozenset[str]
    ) -> Spelling:
        rows = await self._database.rows(
            "vocabulary.look_up", tenant, doubtful, SIMILARITY_MIN, NEAR_MAX, UNKNOWN_MAX
        )
        extent = Extent(rows[0]["history"], rows[0]["vocabulary_size"])
        era = extent.era
        self._known.update(((seen, era, row["word"]), True) for row in rows if row["is_known"])
        unknown = [row for row in rows if not row["is_known"]]
        found = {
            row["word"]: spelling.corrections(row["word"], _near(row), languages)
            for row in unknown[:UNKNOWN_MAX]
        }
        for word, corrections in found.items():
            self._corrections[seen, extent, languages, word] = corrections
        return _spelling(found, extent) if found else Spelling(_NONE, None, era)


_Key = tuple[bytes, Extent, frozenset[str], str]  # scope, extent, languages, unknown word


def _spelling(found: Mapping[str, tuple[str, ...]], extent: Extent) -> Spelling:
    return Spelling({word: taken for word, taken in found.items() if taken}, extent)


def _near(row: Row) -> list[Near]:
    pairs = zip(row["near_words"] or (), row["similarities"] or (), strict=True)
    return [Near(word, similarity) for word, similarity in pairs]
