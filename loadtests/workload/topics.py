"""Generated documents and questions of English words, about topics that have little in common.

Pure and seeded.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

_COMMON = 150  # frequent words, used in every text
_TELLING = slice(300, 8_000)  # words of the topics, by their rank in English
_TOPIC_WORDS = 12
_SENTENCES, _SENTENCE_WORDS = 6, 12
_TELLING_SHARE = 0.5  # of a sentence's words
_QUESTION_WORDS_MIN, _QUESTION_WORDS_MAX = 3, 5


@dataclass(frozen=True, slots=True)
class TopicWorld:
    """topics: the distinctive words of each document. about: the number of each question's one."""

    topics: Sequence[Sequence[str]]
    documents: Sequence[dict[str, Any]]
    questions: Sequence[str]
    about: Sequence[int]


def build(documents: int, questions: int, seed: int) -> TopicWorld:
    """So many documents of one chunk each, and so many different questions about them."""
    random = Random(seed)  # noqa: S311  no secret
    common = _most_common(_COMMON)
    telling = _most_common(_TELLING.stop)[_TELLING]
    topics = [random.sample(telling, _TOPIC_WORDS) for _ in range(documents)]
    written: list[dict[str, Any]] = [
        {
            "document_id": f"document-{number}",
            "text": " ".join(_sentence(topic, common, random) for _ in range(_SENTENCES)),
            "language": "en",
            "readers": ["tenant"],
        }
        for number, topic in enumerate(topics)
    ]
    about: dict[str, int] = {}
    while len(about) < questions:
        count = random.randint(_QUESTION_WORDS_MIN, _QUESTION_WORDS_MAX)
        number = random.randrange(documents)
        about.setdefault(" ".join(random.sample(topics[number], count)), number)
    return TopicWorld(topics, written, list(about), list(about.values()))


def edited(text: str, topic: Sequence[str], random: Random) -> str:
    """The text with one sentence replaced."""
    sentences = text.removesuffix(".").split(". ")
    common = _most_common(_COMMON)
    sentences[random.randrange(len(sentences))] = _sentence(topic, common, random).rstrip(".")
    return ". ".join(sentences) + "."


def edits(world: TopicWorld, seed: int | str) -> Iterator[str]:
    """The first document's texts, each with a sentence of the one before replaced."""
    random = Random(seed)  # noqa: S311  no secret
    text: str = world.documents[0]["text"]
    while True:
        text = edited(text, world.topics[0], random)
        yield text


def _most_common(words: int) -> list[str]:
    from wordfreq import top_n_list  # takes long

    return top_n_list("en", words)


def _sentence(topic: Sequence[str], common: Sequence[str], random: Random) -> str:
    words = (
        random.choice(topic if random.random() < _TELLING_SHARE else common)
        for _ in range(_SENTENCE_WORDS)
    )
    return " ".join(words).capitalize() + "."
