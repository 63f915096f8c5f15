"""Antonyms, and words that give the next word a role, in six languages.

The lists are in the folder `words`; they are read at import.
"""

from collections import defaultdict
from collections.abc import Callable, Sequence

from gateway.extensions.similar_questions.words import word_lists


def directions(
    words: Sequence[str], language: str, is_common: Callable[[str, str], bool]
) -> dict[str, frozenset[str]]:
    """By word such as `from` and `to`, the words after it that are not common in the language."""
    prepositions = _PREPOSITIONS.get(language, frozenset())
    following: defaultdict[str, set[str]] = defaultdict(set)
    preposition = ""
    for word in words:
        if word in prepositions:
            preposition = word
        elif preposition and not is_common(word, language):
            following[preposition].add(word)
            preposition = ""
    return {word: frozenset(after) for word, after in following.items()}


def antonym_sides(words: Sequence[str], language: str) -> dict[str, tuple[bool, ...]]:
    """By pair of antonyms, the sides in the question, in order, without immediate repetitions."""
    sides_by_word = _SIDES_BY_WORD.get(language, {})
    sides_by_pair: defaultdict[str, list[bool]] = defaultdict(list)
    for word in words:
        for pair, side in sides_by_word.get(word, ()):
            if sides_by_pair[pair][-1:] != [side]:
                sides_by_pair[pair].append(side)
    return {pair: tuple(sides) for pair, sides in sides_by_pair.items()}


def _sides(pairs: Sequence[str]) -> dict[str, list[tuple[str, bool]]]:
    """By word, its pairs and on which side of each it is."""
    sides: defaultdict[str, list[tuple[str, bool]]] = defaultdict(list)
    for pair in pairs:
        for side, words in enumerate(pair.split("/")):
            for word in words.split():
                sides[word].append((pair, bool(side)))
    return dict(sides)


_LISTS = word_lists.of_languages()
_PREPOSITIONS = {code: frozenset(lists.words("directions")) for code, lists in _LISTS.items()}
_SIDES_BY_WORD = {code: _sides(lists.lines("antonyms")) for code, lists in _LISTS.items()}
