"""Questions of words of the documents, and Zipf's law for how often each is asked. Pure."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate
from random import Random
from typing import Generic, TypeVar

import orjson

T = TypeVar("T")

_WORD = re.compile(r"[A-Za-z]{3,20}")
_WORDS = range(2, 6)  # of a question
_STALENESS_MS = 1000
_UNUSUAL_SHARE = 0.3
_UNUSUAL: tuple[dict[str, object], ...] = (
    {"expand": True},
    {"document_hits_max": 1},
    {"alpha": 0.0},
    {"fusion": "rrf"},
    {"explain": True},
)
_STALE_SHARE = 0.1  # of the requests that permit a stale answer


@dataclass(frozen=True, slots=True)
class SoakQuestion:
    """staleness_ms: the staleness that the body permits."""

    body: bytes
    staleness_ms: int = 0


class Zipf(Generic[T]):
    """Draws the first thing most often: the n-th by n to the power of -exponent."""

    def __init__(self, things: Sequence[T], exponent: float = 1.0) -> None:
        assert things, "there is something to draw"
        self._things = things
        self._sums = list(accumulate((rank + 1) ** -exponent for rank in range(len(things))))

    def first(self, count: int) -> Sequence[T]:
        """The things that are drawn most often."""
        return self._things[:count]

    def draw(self, random: Random) -> T:
        return random.choices(self._things, cum_weights=self._sums)[0]


def made_of(texts: Iterable[str], count: int, random: Random) -> list[SoakQuestion]:
    """Generate questions of a few neighbouring words each, some with unusual options."""
    word_lists = [text_words for text in texts if len(text_words := words(text)) > max(_WORDS)]
    return [_question(random.choice(word_lists), random) for _ in range(count if word_lists else 0)]


def words(text: str) -> list[str]:
    return _WORD.findall(text)


def older(question: SoakQuestion) -> SoakQuestion:
    """The same question, which permits a stale answer."""
    fields = orjson.loads(question.body) | {"max_staleness_ms": _STALENESS_MS}
    return SoakQuestion(orjson.dumps(fields), _STALENESS_MS)


def perhaps_older(question: SoakQuestion, random: Random) -> SoakQuestion:
    return older(question) if random.random() < _STALE_SHARE else question


def _question(words: Sequence[str], random: Random) -> SoakQuestion:
    length = random.choice(_WORDS)
    position = random.randrange(len(words) - length)
    fields: dict[str, object] = {"query": " ".join(words[position : position + length])}
    if random.random() < _UNUSUAL_SHARE:
        fields |= random.choice(_UNUSUAL)
    return SoakQuestion(orjson.dumps(fields))
