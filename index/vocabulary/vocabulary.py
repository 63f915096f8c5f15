"""A tenant's vocabulary, and the corrections of a query's unknown words.

A word that the whole tenant may read corrects every caller's typos. A word of a document that only
groups may read is kept for each of the groups, and corrects their members. Words of documents for
single persons are not kept: each person's words would be rows of their own.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import NamedTuple, TypeAlias

from common.shares.cache import FairCache
from index.model.scope import PUBLIC, Scope
from index.postgres.search_connections import SearchStatements
from index.postgres.session import Row
from index.text import spelling
from index.text.spelling import Near
from index.vocabulary.extent import Era, Extent
from index.vocabulary.resident_words import SHARED, ResidentWords

# Short words share few trigrams with their typos: 0.25 and pg_trgm's default of 0.3 took 1.3 and
# 1.0 ms instead of 2.2, but found less (the figure of `spelling` is 0.994 and 0.991).
SIMILARITY_MIN = 0.2
NEAR_MAX = 50  # near words to rank: with 100 the figure is the same, with 20 a little less
UNKNOWN_MAX = 8  # words of a query; a starting value: each costs about 2 ms

GROUPS_MAX = 8  # of a document, whose members its words correct; a starting value, not measured

_SHARED_TOKENS = frozenset({SHARED, PUBLIC})  # of documents that the whole tenant may read
_SEPARATOR = "\x1f"  # between a token and a word; no token contains it

KNOWN_MAX = 100_000  # words, about 20 MB
CORRECTED_MAX = 20_000  # unknown words, about 10 MB

_NONE: Mapping[str, tuple[str, ...]] = MappingProxyType({})

_Visibility: TypeAlias = tuple[bytes, bool]  # the scope's fingerprint, and whether it is filtered


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


def is_shared(readers: Collection[str]) -> bool:
    """Whether the whole tenant may read a document with these readers."""
    return not _SHARED_TOKENS.isdisjoint(readers)


def groups(readers: Collection[str]) -> list[str]:
    """The tokens of the groups for which the words of a document with these readers are kept."""
    if is_shared(readers):
        return []
    return sorted({token for token in readers if token.startswith("group:")})[:GROUPS_MAX]


def entries(readers: Collection[str], words: Collection[str]) -> list[str]:
    """What the vocabulary keeps of the words of a document: each word, or each after each group."""
    if is_shared(readers):
        return list(words)
    return [f"{group}{_SEPARATOR}{word}" for group in groups(readers) for word in words]


def to_columns(new_entries: Collection[str]) -> tuple[list[str], list[str], list[str]]:
    """The words that the whole tenant may read; then tokens and words of the others, in pairs."""
    words = [entry for entry in new_entries if _SEPARATOR not in entry]
    pairs = [entry.split(_SEPARATOR) for entry in new_entries if _SEPARATOR in entry]
    return words, [token for token, _ in pairs], [word for _, word in pairs]


class SeenWords:
    """The entries that this process has seen committed; they stay known for their era."""

    def __init__(self) -> None:
        self._words: defaultdict[tuple[str, Era], set[str]] = defaultdict(set)
        self._size = 0

    def unseen(self, tenant: str, era: Era, words: Iterable[str]) -> list[str]:
        """The entries that may be new, without duplicates."""
        return list(frozenset(words) - self._words[tenant, era])

    def remember(self, tenant: str, era: Era, words: Collection[str]) -> None:
        """Record committed entries; call it after the commit, with the era of the transaction."""
        self._size += len(words)
        if self._size > KNOWN_MAX:  # start anew: forgotten words are added once more
            self._words.clear()
            self._size = len(words)
        self._words[tenant, era].update(words)


class _Asked(NamedTuple):
    """By whom, and in which languages, words are looked up.

    grants: by which words that only some may read are found. visibility: names the scope and these.
    """

    tenant: str
    grants: tuple[str, ...]
    visibility: _Visibility
    languages: frozenset[str]


# A word that is asked for; the history and the number of words of the vocabulary.
_Correctable: TypeAlias = tuple[_Asked, str, int, str]


def _correctable(asked: _Asked, extent: Extent, word: str) -> _Correctable:
    return asked, extent.history, extent.words, word


class Vocabulary:
    """Caches known words by era, and corrections by extent, in this process.

    The caches are per scope, so no timing reveals what callers of another scope have looked up.
    """

    def __init__(self, statements: SearchStatements) -> None:
        self._statements = statements
        self._known_words: FairCache[tuple[_Visibility, Era, str], bool] = FairCache(KNOWN_MAX)
        self._corrections: FairCache[_Correctable, tuple[str, ...]] = FairCache(CORRECTED_MAX)

    async def spelling(
        self,
        scope: Scope,
        doubtful: Sequence[str],
        languages: frozenset[str],
        *,
        extent: Extent,
        resident: ResidentWords | None = None,
        is_filtered: bool = False,
    ) -> Spelling:
        """The corrections of doubtful words of the query, by the words in memory or the database.

        extent: the latest known extent of the vocabulary. resident: its words, if they are in
        memory, of this extent or another. is_filtered: words that only some may read then correct
        nothing: the filter may be that of a token, which narrows what its bearer may read.

        Raises `DatabaseUnavailable` and `Saturated`.
        """
        if not doubtful:
            return CERTAIN
        grants = () if is_filtered else (*scope.grants, *scope.shared)
        asked = _Asked(scope.tenant, grants, (scope.fingerprint, is_filtered), languages)
        era, known = extent.era, self._known_words
        doubtful = [word for word in doubtful if (asked.visibility, era, word) not in known]
        if resident is not None and resident.extent.era == era:
            unknown = resident.without_known(doubtful, grants)
            self._remember(asked, era, {*doubtful}.difference(unknown))
            doubtful = unknown
        if not doubtful:
            return Spelling(_NONE, None, era)
        if resident is not None and resident.has_learned(extent):
            asked_words = doubtful[:UNKNOWN_MAX]
            if all(map(resident.can_compare, asked_words)):
                by_word = {word: self._correct(asked, word, resident) for word in asked_words}
                return _spelling(by_word, resident.extent)
        return self._from_cache(asked, doubtful, extent) or await self._look_up(asked, doubtful)

    def _correct(self, asked: _Asked, word: str, resident: ResidentWords) -> tuple[str, ...]:
        """The corrections of an unknown word, from the cache or by the words in memory."""
        key = _correctable(asked, resident.extent, word)
        corrections = self._corrections.get(key)
        if corrections is None:
            near = resident.near(
                word,
                asked.grants,
                similarity_min=SIMILARITY_MIN,
                count=NEAR_MAX,
                slips_max=spelling.slips_max(word),
            )
            corrections = spelling.corrections(word, near, asked.languages)
            self._corrections.put(asked.tenant, key, corrections)
        return corrections

    def _remember(self, asked: _Asked, era: Era, known: Iterable[str]) -> None:
        for word in known:
            self._known_words.put(asked.tenant, (asked.visibility, era, word), True)

    def _from_cache(self, asked: _Asked, unknown: Sequence[str], extent: Extent) -> Spelling | None:
        by_word: dict[str, tuple[str, ...]] = {}
        for word in unknown[:UNKNOWN_MAX]:
            corrections = self._corrections.get(_correctable(asked, extent, word))
            if corrections is None:
                return None
            by_word[word] = corrections
        return _spelling(by_word, extent)

    async def _look_up(self, asked: _Asked, doubtful: Sequence[str]) -> Spelling:
        rows = await self._statements.rows(
            "vocabulary.look_up",
            *(asked.tenant, doubtful, SIMILARITY_MIN, NEAR_MAX, UNKNOWN_MAX, asked.grants),
        )
        extent = Extent(rows[0]["history"], rows[0]["vocabulary_size"])
        era = extent.era
        self._remember(asked, era, [row["word"] for row in rows if row["is_known"]])
        unknown = [row for row in rows if not row["is_known"]]
        by_word = {
            row["word"]: spelling.corrections(row["word"], _near(row), asked.languages)
            for row in unknown[:UNKNOWN_MAX]
        }
        for word, corrections in by_word.items():
            self._corrections.put(asked.tenant, _correctable(asked, extent, word), corrections)
        return _spelling(by_word, extent) if by_word else Spelling(_NONE, None, era)


def _spelling(by_word: Mapping[str, tuple[str, ...]], extent: Extent) -> Spelling:
    corrected = {word: corrections for word, corrections in by_word.items() if corrections}
    return Spelling(corrected, extent)


def _near(row: Row) -> list[Near]:
    pairs = zip(row["near_words"] or (), row["similarities"] or (), strict=True)
    return [Near(word, similarity) for word, similarity in pairs]
