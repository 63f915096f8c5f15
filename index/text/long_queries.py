"""Long queries: which of their sentences ask.

An agent that searches with a conversation, or with a message of many sentences, asks in one or two
of them. In the sum of all its words the question is lost. So the sentences that most often ask
count as much as the whole text: the first, the last, and the last with a question mark.

They are chosen from the text alone. So the query stays one vector and one set of terms, and its
scores depend on no other chunk.
Measured in docs/design/words.md#long-queries-count-by-their-sentences.

Pure.
"""

import re
from collections.abc import Collection, Mapping, Sequence

from index.text import lexical, spelling
from index.text.lexical import NO_CORRECTIONS, Terms

WORDS_MIN = 60  # of a long query: at 50 words of conversation the whole text still finds most
PARTS_MAX = 4  # the text and three sentences

_IDEOGRAPHIC_ENDS = "\u3002\uff01\uff1f"  # full stop, exclamation and question mark
_SENTENCE_END = re.compile(rf"(?<=[.!?…])\s+|(?<=[{_IDEOGRAPHIC_ENDS}])|\n+")
_QUESTION_MARKS = ("?", "\uff1f", "\u061f")
_CLOSING = "\"'»”\u2019)]"


def normalized(text: str) -> str:
    """The text with one space between words; a long one keeps its lines, which end sentences."""
    words = text.split()
    if len(words) < WORDS_MIN:
        return " ".join(words)
    lines = (" ".join(line.split()) for line in text.splitlines())
    return "\n".join(filter(None, lines))


def asking_sentences(text: str) -> Sequence[str]:
    """The first sentence of a long text, its last question and its last sentence, in this order.

    The last sentence comes twice if it is the last question, or if there is no question: it counts
    as both. None of a text of fewer than WORDS_MIN words, or of one sentence.
    """
    if len(text.split(maxsplit=WORDS_MIN)) < WORDS_MIN:
        return ()
    sentences = [sentence for sentence in _SENTENCE_END.split(text) if sentence.strip()]
    if len(sentences) < 2:
        return ()
    first, last = sentences[0], sentences[-1]
    question = next(filter(_is_question, reversed(sentences)), last)
    return first, question, last


def embedded_text(text: str) -> str:
    """What the dense leg compares: the sentences of a long query that ask, or the whole text."""
    return " ".join(dict.fromkeys(asking_sentences(text))) or text


def terms(
    text: str,
    languages: Collection[str],
    corrections: Mapping[str, Sequence[str]] = NO_CORRECTIONS,
    *,
    asked_in: str | None = None,
) -> Terms:
    """As `lexical.query`; the weights of a long query are the mean of those of its parts.

    So a chunk that is full of every term still scores 1.
    """
    parts = (text, *asking_sentences(text))
    if len(parts) == 1:
        return lexical.query(text, languages, corrections, asked_in=asked_in)
    weights: dict[int, float] = {}
    chances: dict[int, float] = {}
    for part in parts:
        words = spelling.correctable_words(part)
        own = {word: others for word, others in corrections.items() if word in words}
        part_terms = lexical.query(part, languages, own, asked_in=asked_in)
        chances |= part_terms.chances
        for term, weight in part_terms.weights.items():
            weights[term] = weights.get(term, 0.0) + weight / len(parts)
    return Terms(weights, chances)


def _is_question(sentence: str) -> bool:
    return sentence.rstrip(_CLOSING).endswith(_QUESTION_MARKS)
