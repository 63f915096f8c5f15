"""Generated passages and questions of common English words, used without DATA.

A passage is about a subject, which is a handful of words that stand in it again and again; a
question names some of the subject's words, and what answers it are the passages about the subject.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from random import Random

_WORDS = 6_000  # the most common ones of four letters and more
_LETTERS_MIN = 4
_SUBJECT_WORDS = 6
_PASSAGES_A_SUBJECT = 5
_PASSAGE_WORDS = (30, 80)
_SUBJECT_SHARE = 0.35  # of a passage's words are the subject's
_QUESTIONS_A_SUBJECT = 20
_BEGINNINGS = ("how do i find the", "what is the", "where is the", "who knows about", "when is the")


@dataclass(frozen=True, slots=True)
class PeerTopicQuestion:
    """relevant: passages by number, each with how relevant it is, above 0."""

    text: str
    relevant: Mapping[int, float]


def make(passages: int, random: Random) -> tuple[list[str], list[PeerTopicQuestion]]:
    """So many passages, and the questions about them, all different."""
    from wordfreq import top_n_list  # takes long

    words = [word for word in top_n_list("en", 4 * _WORDS) if _is_plain(word)][:_WORDS]
    texts: list[str] = []
    questions: dict[str, PeerTopicQuestion] = {}
    while len(texts) < passages:
        subject = random.sample(words, _SUBJECT_WORDS)
        about = range(len(texts), min(passages, len(texts) + _PASSAGES_A_SUBJECT))
        texts += [_passage(subject, words, random) for _ in about]
        for _ in range(_QUESTIONS_A_SUBJECT):
            chosen_words = random.sample(subject, random.randint(3, 4))
            text = f"{random.choice(_BEGINNINGS)} {' '.join(chosen_words)}"
            questions[text] = PeerTopicQuestion(text, dict.fromkeys(about, 1.0))
    return texts, list(questions.values())


def _passage(subject: list[str], words: list[str], random: Random) -> str:
    length = random.randint(*_PASSAGE_WORDS)
    chosen = [
        random.choice(subject if random.random() < _SUBJECT_SHARE else words) for _ in range(length)
    ]
    sentences = [" ".join(chosen[at : at + 10]).capitalize() for at in range(0, length, 10)]
    return ". ".join(sentences) + "."


def _is_plain(word: str) -> bool:
    return len(word) >= _LETTERS_MIN and word.isascii() and word.isalpha()
