"""Joins words that a line break parts at a hyphen, as the word lists of the index have them."""

import re

# Long words are none: without the limits, one of a megabyte would be searched from each character.
_PARTED = re.compile(r"(?<!\w)(\w{1,64})([-\u2010\u00ad])[ \t]*\n\s?(\w{1,64})")
_SOFT = "\u00ad"
# Measured on 60 English pairs: tells `ware-house` and `on-line` from `long-term`, `full-time`.
_CHANCE_RATIO_MIN = 5.0
# `pre- and postwar`: the hyphen stands for the word that follows the conjunction.
_CONJUNCTIONS = frozenset({
    "and", "or", "nor", "to", "und", "oder", "bzw", "bis", "sowie", "et", "ou", "y", "o", "u", "e",
    "ed", "od", "en", "of", "ja", "tai", "och", "eller", "og", "i", "a",
})  # fmt: skip


def join_hyphenated(text: str) -> str:
    """The text with each parted word in one line, with its hyphen if it has one elsewhere too."""
    if _PARTED.search(text) is None:
        return text
    # They take 0.2 s, which most files don't need.
    from index.text import language_detection
    from index.text.word_lists.stemming import UNDETERMINED

    language = language_detection.detect_surely(text) or UNDETERMINED

    def join(parted: re.Match[str]) -> str:
        first, hyphen, second = parted.groups()
        if hyphen == _SOFT or _is_one_word(first, second, language):
            return first + second
        return f"{first}- {second}" if second in _CONJUNCTIONS else f"{first}-{second}"

    return _PARTED.sub(join, text)


def _is_one_word(first: str, second: str, language: str) -> bool:
    """Whether the joined word is more frequent than its parts are beside each other by chance."""
    from index.text import lexical

    if not (first[-1].isalpha() and second[0].islower()):
        return False
    shares = (lexical.word_share(part.lower(), language) for part in (first, second))
    by_chance = next(shares) * next(shares)
    joined = lexical.word_share((first + second).lower(), language)
    if joined:
        return joined > _CHANCE_RATIO_MIN * by_chance
    return by_chance == 0.0 and second not in _CONJUNCTIONS
