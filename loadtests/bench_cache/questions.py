"""Questions as people type them, made of the documents' own words; and who asks which how often.

Pure and seeded: equal texts and seeds make equal questions.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from random import Random

from loadtests.workload.agents import BEGINNINGS
from loadtests.workload.typos import with_typo

HOW = (
    "Four in ten questions are a heading of a document, the others the three to five rarest words "
    "of a sentence in their order; all in lower case, three in ten with a beginning such as "
    "“how do i”, one in twenty with a typo."
)
_HEADING_SHARE = 0.4  # the shares are a choice, none is measured
_BEGINNING_SHARE = 0.3
_TYPO_SHARE = 0.05
_WORDS_MIN, _WORDS_MAX = 3, 5
_TRIES_MAX = 100  # for each question, before the texts are taken to hold no more

_FRONT_MATTER = re.compile(r"\A---\n.*?\n---\n", re.DOTALL)
_HEADING = re.compile(r"^#{1,6}[ \t]+(.+?)[ \t#]*$", re.MULTILINE)
_LINK = re.compile(r"!?\[([^\]]*)\]\([^)]*\)")
_MARKUP = re.compile(r"https?://\S+|\{[{%].*?[%}]\}|<[^>]+>|[*_`~|{}#\[\]]+")
_SENTENCE = re.compile(r"[^.!?\n]{20,}")
_WORD = re.compile(r"[^\W\d_][\w'\u2019-]*")
_SMALL_WORDS = (
    "a about all also an and any are as at be been but by can do for from get has have how if in "
    "into is it its may more must need not of on one or other our out please see should so some "
    "than that the their them there these they this to up us use was we what when where which who "
    "will with would you your"
)
_STOP_WORDS = frozenset(_SMALL_WORDS.split())


def make(texts: Sequence[str], count: int, seed: int) -> list[str]:
    """So many different questions, in random order. Raises `ValueError` if there are not enough."""
    random = Random(seed)  # noqa: S311  no secret
    plain = [_plain(text) for text in texts]
    headings = [heading for text in plain for heading in _HEADING.findall(text)]
    sentences = [
        sentence for text in plain for sentence in _SENTENCE.findall(_HEADING.sub("", text))
    ]
    spread = Counter(word for text in plain for word in set(_words(text)))
    questions: dict[str, None] = {}  # in their order
    for _ in range(_TRIES_MAX * count):
        if len(questions) == count:
            break
        if random.random() < _HEADING_SHARE:
            words = _words(_one_of(headings, random))
        else:
            words = _key_words(_one_of(sentences, random), spread, random)
        if len(words) > 1:
            questions[_typed(words, random)] = None
    if len(questions) < count:
        raise ValueError(f"the texts hold {len(questions)} questions, not {count}")
    return list(questions)


def by_zipf(questions: int, draws: int, seed: int) -> list[int]:
    """Numbers of questions, the one at place r drawn as often as 1 / r says."""
    random = Random(seed)  # noqa: S311  no secret
    weights = [1 / rank for rank in range(1, questions + 1)]
    return random.choices(range(questions), weights, k=draws)


def _one_of(texts: Sequence[str], random: Random) -> str:
    return random.choice(texts) if texts else ""


def _plain(text: str) -> str:
    """Without what Markdown adds to the words, but for the marks of headings."""
    text = _LINK.sub(r"\1", _FRONT_MATTER.sub("", text))
    return "\n".join(_without_markup(line) for line in text.splitlines())


def _without_markup(line: str) -> str:
    heading = _HEADING.match(line)
    if heading is None:
        return _MARKUP.sub(" ", line)
    return f"# {_MARKUP.sub(' ', heading[1])}"


def _words(text: str) -> list[str]:
    return [word.lower() for word in _WORD.findall(text)]


def _key_words(sentence: str, spread: Counter[str], random: Random) -> list[str]:
    """The words that the fewest texts hold, in the sentence's order."""
    words = [word for word in dict.fromkeys(_words(sentence)) if word not in _STOP_WORDS]
    rarest = sorted(words, key=lambda word: (spread[word], word))
    chosen = set(rarest[: random.randint(_WORDS_MIN, _WORDS_MAX)])
    return [word for word in words if word in chosen]


def _typed(words: Sequence[str], random: Random) -> str:
    text = " ".join(_begun(words, random))
    return with_typo(text, random) if random.random() < _TYPO_SHARE else text


def _begun(words: Sequence[str], random: Random) -> Iterator[str]:
    if random.random() < _BEGINNING_SHARE and words[0] not in _STOP_WORDS:
        yield random.choice(BEGINNINGS)
    yield from words
