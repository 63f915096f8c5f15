"""Typos: which of a query's words to doubt, and which known words they are taken for.

A correction is added to the query, and the word as typed stays: it costs nothing where no chunk
holds it, and finds what only another tenant's public documents hold.

Pure, but for what `lexical` reads on the first use of a language.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, takewhile
from operator import eq

from index.text import lexical
from index.text.memo import Memo

# Over seven public sets (nDCG@10 of queries with one typo over that of the same without): 0.941
# uncorrected, 0.996 with the numbers below. With 5 letters at least it is 0.993; 3 gave no more.
LETTERS_MIN = 4
LETTERS_MAX = 40  # past it only a blob of data goes on
QUERY_WORDS_MAX = 64  # as many as a query's terms; a starting value, not measured
CORRECTIONS_MAX = 3  # equally near ones; one alone gave 0.993

# A word of at least this share in the language is meant as it stands, also where the tenant's
# documents don't use it. Without this rule the figure is the same, but genre becomes gene.
LISTED_SHARE_MIN = 1e-6

LONG_LETTERS_MIN = 8  # two slips still leave most of a word; from 6 on gave no more


@dataclass(frozen=True, slots=True)
class Near:
    """A known word near an unknown one, and the share of trigrams that both have."""

    word: str
    similarity: float


def vocabulary_words(texts: Iterable[str]) -> frozenset[str]:
    """What a vocabulary learns from the texts."""
    pieces = set(chain.from_iterable(map(str.split, texts)))
    return frozenset(chain.from_iterable(map(_learned.__getitem__, pieces)))


def doubtful(text: str, languages: Collection[str]) -> list[str]:
    """The query's words that none of the languages at large knows well, in order, without doubles.

    Of more than QUERY_WORDS_MAX the first are kept.
    """
    words = dict.fromkeys(chain.from_iterable(map(_learned.__getitem__, text.split())))
    return [word for word in words if not _listed(word, languages)][:QUERY_WORDS_MAX]


def corrections(word: str, near: Sequence[Near], languages: Collection[str]) -> tuple[str, ...]:
    """The known words that an unknown one is taken for, best first; none if it is a form of one.

    They are those of the least edit distance, up to 1, in long words 2. Ties go to the greater
    similarity, then to the lower word.
    """
    slips_max = 1 if len(word) < LONG_LETTERS_MIN else 2
    ranked = sorted(
        (slips, -one.similarity, one.word)
        for one in near
        if abs(len(one.word) - len(word)) <= slips_max
        and (slips := distance(word, one.word)) <= slips_max
    )
    if not ranked or _is_form(word, near, languages):
        return ()
    least = takewhile(lambda rank: rank[0] == ranked[0][0], ranked)
    return tuple(known for _, _, known in least)[:CORRECTIONS_MAX]


def shown_corrections(
    corrected: Mapping[str, Sequence[str]], texts: Iterable[str]
) -> dict[str, tuple[str, ...]]:
    """The corrections that the texts show, and so whoever may read them may know.

    Any other could betray a word of a document that the caller may not see.
    """
    if not corrected:  # the common query: no text has to be read for it
        return {}
    seen = vocabulary_words(texts)
    shown = {word: tuple(filter(seen.__contains__, taken)) for word, taken in corrected.items()}
    return {word: taken for word, taken in shown.items() if taken}


def distance(typed: str, known: str) -> int:
    """How many slips lie between: letters more, less, other, or swapped with their neighbour.

    No letter is slipped twice ("optimal string alignment").

    Source: Damerau, Communications of the ACM, 1964.
    """
    typed, known = _unlike(typed, known)
    before: list[int] = []
    above = list(range(len(known) + 1))
    for row, letter in enumerate(typed):
        here = [row + 1]
        for column, other in enumerate(known):
            slips = min(above[column + 1] + 1, here[column] + 1, above[column] + (letter != other))
            if row and column and letter == known[column - 1] and typed[row - 1] == other:
                slips = min(slips, before[column - 1] + 1)
            here.append(slips)
        before, above = above, here
    return above[-1]


def _unlike(typed: str, known: str) -> tuple[str, str]:
    """Both without what they begin and end with alike, which changes no distance."""
    start = sum(takewhile(bool, map(eq, typed, known)))
    typed, known = typed[start:], known[start:]
    end = sum(takewhile(bool, map(eq, reversed(typed), reversed(known))))
    return typed[: len(typed) - end], known[: len(known) - end]


def _fits(word: str) -> bool:
    # Letters with case alone: scripts without are not measured, and some don't part their words.
    return LETTERS_MIN <= len(word) <= LETTERS_MAX and word.isalpha() and word.islower()


_learned = Memo(lambda piece: tuple(filter(_fits, lexical.words(piece))))


def _listed(word: str, languages: Collection[str]) -> bool:
    return any(lexical.word_share(word, language) >= LISTED_SHARE_MIN for language in languages)


def _is_form(word: str, near: Sequence[Near], languages: Collection[str]) -> bool:
    """Whether a near word has the same stem, so that the query finds it as typed."""
    terms = lexical.query(word, languages).weights.keys()
    return any(terms & lexical.query(one.word, languages).weights.keys() for one in near)
