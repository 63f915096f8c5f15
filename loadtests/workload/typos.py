"""Queries with a typing error in one word.

Pure and seeded: an equal `Random` makes equal errors, so that two runs send the same queries.
"""

import re
from random import Random

LETTERS_MIN = 4  # of a word that may get an error

_WORD = re.compile(rf"[^\W\d_]{{{LETTERS_MIN},}}")
_ROWS = ("qwertyuiop", "asdfghjkl", "zxcvbnm")  # each half a key to the right of the one above


def with_typo(text: str, random: Random) -> str:
    """Swap, drop, double or miss one letter of one word, each as likely as the others.

    The text itself if none of its words has LETTERS_MIN letters.
    """
    words = list(_WORD.finditer(text))
    if not words:
        return text
    word = random.choice(words)
    return text[: word.start()] + _slipped(word[0], random) + text[word.end() :]


def _slipped(word: str, random: Random) -> str:
    """Always another word: swapping two equal letters changes nothing."""
    slips = (_swapped, _dropped, _doubled, _missed)
    while (slipped := random.choice(slips)(word, random)) == word:
        pass
    return slipped


def _swapped(word: str, random: Random) -> str:
    at = random.randrange(len(word) - 1)
    return word[:at] + word[at + 1] + word[at] + word[at + 2 :]


def _dropped(word: str, random: Random) -> str:
    at = random.randrange(len(word))
    return word[:at] + word[at + 1 :]


def _doubled(word: str, random: Random) -> str:
    at = random.randrange(len(word))
    return word[: at + 1] + word[at:]


def _missed(word: str, random: Random) -> str:
    """A neighbouring key instead of a letter; a letter that is on no key stays."""
    at = random.randrange(len(word))
    letter = word[at]
    key = random.choice(_neighbours(letter.lower()) or letter)
    return word[:at] + (key.upper() if letter.isupper() else key) + word[at + 1 :]


def _neighbours(key: str) -> str:
    """The keys beside this one, above and below it."""
    for number, row in enumerate(_ROWS):
        if (at := row.find(key)) >= 0:
            above = _ROWS[number - 1][at : at + 2] if number else ""
            below = _ROWS[number + 1][max(at - 1, 0) : at + 1] if number + 1 < len(_ROWS) else ""
            return row[max(at - 1, 0) : at] + row[at + 1 : at + 2] + above + below
    return ""
