"""Typos: which words of a query are doubtful, and which known words are their corrections.

A correction is added to the query, and the typed word stays: it costs nothing if no chunk contains
it, and finds words that only other tenants' public documents contain.

Pure, except that `lexical` reads a word list on the first use of a language.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import chain, takewhile
from operator import eq

from index.text import lexical
from index.text.memo import QUERY_PIECES_MAX, Memo
from index.text.tokens import PIECES
from index.text.word_lists import analysed_languages

# Over seven public sets (nDCG@10 of queries with one typo over that of the same without): 0.941
# uncorrected, 0.996 with the numbers below. From 5 letters on it is 0.993; from 3 on the same.
LETTERS_MIN = 4
LETTERS_MAX = 40  # a longer word is a blob of data
QUERY_WORDS_MAX = 64  # as many as a query's terms; a starting value, not measured
CORRECTIONS_MAX = 3  # equally near ones; with 1 it is 0.993

# A word of at least this share in the language is not corrected, even if the tenant's documents do
# not contain it. Without this rule the figure is the same, but genre becomes gene.
LISTED_SHARE_MIN = 1e-6

LONG_LETTERS_MIN = 8  # such words may have two slips; from 6 on the figure is the same


@dataclass(frozen=True, slots=True)
class Near:
    """A known word near an unknown one, and the share of their common trigrams."""

    word: str
    similarity: float


def vocabulary_words(texts: Iterable[str]) -> frozenset[str]:
    """The words of the texts that belong in a vocabulary."""
    return words_of_pieces(set(chain.from_iterable(map(str.split, texts))))


def words_of_pieces(pieces: Iterable[str]) -> frozenset[str]:
    """`vocabulary_words` of a text that is already split at its spaces."""
    return frozenset(chain.from_iterable(map(_piece_words.__getitem__, pieces)))


def doubtful(text: str, languages: Collection[str]) -> list[str]:
    """The query's words that are rare in all of the languages, in order, without duplicates.

    languages: at least one. Of more than QUERY_WORDS_MAX the first are kept.
    """
    first, *others = {*map(analysed_languages.base_language, languages)}
    rare = [*dict.fromkeys(chain.from_iterable(map(_rare_words(first).__getitem__, text.split())))]
    if others:
        rare = [word for word in rare if not _is_common(word, others)]
    return rare[:QUERY_WORDS_MAX]


def correctable_words(text: str) -> Mapping[str, None]:
    """The text's words that may be typos, in order, as keys."""
    return dict.fromkeys(chain.from_iterable(map(_piece_words.__getitem__, text.split())))


def corrections(word: str, near: Sequence[Near], languages: Collection[str]) -> tuple[str, ...]:
    """The corrections of an unknown word, best first; none if it is a form of a near word.

    They are the near words of the least edit distance, at most 1, or 2 in long words. Ties go to
    the greater similarity, then to the lower word.
    """
    slips_accepted = slips_max(word)
    ranked = sorted(
        (slips, -candidate.similarity, candidate.word)
        for candidate in near
        if abs(len(candidate.word) - len(word)) <= slips_accepted
        and (slips := distance(word, candidate.word)) <= slips_accepted
    )
    if not ranked or _is_form(word, near, languages):
        return ()
    least = takewhile(lambda rank: rank[0] == ranked[0][0], ranked)
    return tuple(correction for _, _, correction in least)[:CORRECTIONS_MAX]


def slips_max(word: str) -> int:
    """How many slips away the corrections of a word are at most."""
    return 1 if len(word) < LONG_LETTERS_MIN else 2


def shown_corrections(
    corrections: Mapping[str, Sequence[str]], texts: Iterable[str]
) -> dict[str, tuple[str, ...]]:
    """The corrections that occur in the texts, which the caller may read.

    Another correction could reveal a word of a hidden document.
    """
    if not corrections:  # the common query: no text has to be read for it
        return {}
    words = vocabulary_words(texts)
    shown = {typed: tuple(filter(words.__contains__, all_)) for typed, all_ in corrections.items()}
    return {typed: in_texts for typed, in_texts in shown.items() if in_texts}


def distance(typed: str, other: str) -> int:
    """The number of slips between two words: inserted, deleted, replaced or swapped letters.

    No letter takes part in two slips ("optimal string alignment").

    Source: Damerau, Communications of the ACM, 1964.
    """
    typed, other = _strip_common_ends(typed, other)
    two_above: list[int] = []
    above = list(range(len(other) + 1))
    for row, letter in enumerate(typed):
        current = [row + 1]
        for column, other_letter in enumerate(other):
            slips = min(
                above[column + 1] + 1,
                current[column] + 1,
                above[column] + (letter != other_letter),
            )
            if row and column and letter == other[column - 1] and typed[row - 1] == other_letter:
                slips = min(slips, two_above[column - 1] + 1)
            current.append(slips)
        two_above, above = above, current
    return above[-1]


def _strip_common_ends(typed: str, other: str) -> tuple[str, str]:
    """Both words without their common prefix and suffix, which do not change the distance."""
    start = sum(takewhile(bool, map(eq, typed, other)))
    typed, other = typed[start:], other[start:]
    end = sum(takewhile(bool, map(eq, reversed(typed), reversed(other))))
    return typed[: len(typed) - end], other[: len(other) - end]


def _is_correctable(word: str) -> bool:
    # Only scripts with case: others are not measured, and some have no spaces between words.
    return LETTERS_MIN <= len(word) <= LETTERS_MAX and word.isalpha() and word.islower()


_piece_words = Memo(lambda piece: tuple(filter(_is_correctable, lexical.words(piece))))


@cache
def _rare_words(language: str) -> Memo[tuple[str, ...]]:
    """By piece of text between spaces, the words in it that are rare in the language."""

    def analyse(piece: str) -> tuple[str, ...]:
        words = filter(_is_correctable, PIECES[piece].words)
        rare = [word for word in words if lexical.word_share(word, language) < LISTED_SHARE_MIN]
        return tuple(rare)

    return Memo(analyse, QUERY_PIECES_MAX)


def _is_common(word: str, languages: Collection[str]) -> bool:
    return any(lexical.word_share(word, language) >= LISTED_SHARE_MIN for language in languages)


def _is_form(word: str, near: Sequence[Near], languages: Collection[str]) -> bool:
    """Whether a near word has the same stem, so that the typed word finds it."""
    terms = lexical.query(word, languages).weights.keys()
    return any(terms & lexical.query(other.word, languages).weights.keys() for other in near)
