"""Questions of neighbouring words of the documents, and how often each is asked. Pure."""

import re
from collections.abc import Sequence
from random import Random

BEGINNINGS = ("how do i", "what is", "where can i find", "who do i ask about", "can i")
HOW = (
    "A question is three to five neighbouring words of a document in lower case, three in ten with "
    "a beginning such as “how do i”, one in twenty with a typo."
)
_WORD = re.compile(r"[^\W\d_]{3,20}")
_LENGTHS = (3, 5)
_BEGINNING_SHARE, _TYPO_SHARE = 0.3, 0.05  # a choice, not measured
_TRIES_MAX = 100  # for each question, before the texts are taken to hold no more


def words(text: str) -> list[str]:
    return _WORD.findall(text)


def neighbours(text_words: Sequence[str], random: Random) -> list[str]:
    length = random.randint(*_LENGTHS)
    start = random.randrange(max(1, len(text_words) - length))
    return [word.lower() for word in text_words[start : start + length]]


def typed(texts: Sequence[str], count: int, seed: int) -> list[str]:
    """So many different ones, as people type them. `ValueError` if the texts hold fewer."""
    random = Random(seed)  # noqa: S311  no secret
    word_lists = [words(text) for text in texts]
    questions: dict[str, None] = {}  # in their order
    for _ in range(_TRIES_MAX * count):
        if len(questions) == count:
            return list(questions)
        asked = neighbours(random.choice(word_lists), random)
        if len(asked) > 1:
            begun = [random.choice(BEGINNINGS)] if random.random() < _BEGINNING_SHARE else []
            question = " ".join([*begun, *asked])
            typo = random.random() < _TYPO_SHARE
            questions[with_typo(question, random) if typo else question] = None
    raise ValueError(f"the texts hold {len(questions)} questions, not {count}")


def zipf(length: int, random: Random) -> int:
    """A random index below `length`; index n - 1 comes about as often as 1 / n says."""
    return int((length + 1) ** random.random()) - 1


LETTERS_MIN = 4  # of a word that may get an error

_LONG_WORD = re.compile(rf"[^\W\d_]{{{LETTERS_MIN},}}")
_ROWS = ("qwertyuiop", "asdfghjkl", "zxcvbnm")  # each half a key to the right of the one above


def with_typo(text: str, random: Random) -> str:
    """Swap, drop, double or miss one letter of one word, each as likely as the others.

    The text itself if none of its words has LETTERS_MIN letters.
    """
    words = list(_LONG_WORD.finditer(text))
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
