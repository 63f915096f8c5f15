"""Extractive summaries: the sentences of a text that are nearest to their common centroid.

A summary depends only on the text, so equal texts have equal summaries.

Sources: the centroid of Radev, Jing, Styś, Tam, Centroid-based summarization of multiple documents,
2004; maximal marginal relevance: Carbonell, Goldstein, SIGIR 1998.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from math import log, sqrt

from index.text import lexical, tokens
from ingest.chunkers.segments import line_ends, segments, sentence_ends
from ingest.chunkers.word_count import count_words
from ingest.parse.markdown import Block, blocks

WORDS_MAX = 80  # two or three sentences; a starting value, not measured

# Starting values, not measured.
_SENTENCE_WORDS_MAX = 40  # a longer one is split
_TERMS_MIN = 4  # a sentence with fewer is ignored, unless all have fewer
_USUAL_TERMS = 12  # a sentence with fewer scores proportionally less
_LEAD = 0.5  # the bonus of the first sentence; the second has half of it, the third a third
_RELEVANCE = 0.7  # the weight of relevance against novelty
_ROOM_MIN = 8  # words; stop when less room remains
_DUPLICATE = 0.8  # a sentence as similar to a chosen one is skipped

_MARKER = re.compile(r"\s*(?:(?:[-*+>|]|#{1,6}|\d{1,9}[.)])\s+)+")  # of a list, a quote, a table
_LINK = re.compile(r"!?\[([^\[\]\n]{0,200})\]\([^()\s]{0,500}\)")
_NO_SPACE_AFTER = ("。", "！", "？", "」", "』")  # noqa: RUF001  as in ingest.chunkers.segments


@dataclass(frozen=True, slots=True)
class _Sentence:
    text: str
    words: int
    terms: Mapping[str, float]  # a unit vector, or empty


def extract(text: str) -> str:
    """The summary of the text: at most WORDS_MAX words, in its order; empty if the text is blank.

    Uses prose only, unless the text has none. Time: n log n.
    """
    sentences = _sentences(text)
    scores = _scores(sentences)
    return _join([sentences[index].text for index in sorted(_choose(sentences, scores))])


def _sentences(text: str) -> list[_Sentence]:
    all_blocks = blocks(text)
    prose = (block for block in all_blocks if _is_prose(text, block))
    texts = dict.fromkeys(_sentence_texts(text, prose))
    texts = texts or dict.fromkeys(_sentence_texts(text, all_blocks))
    all_counts = [(sentence, Counter(_words(sentence))) for sentence in texts]
    long_counts = [pair for pair in all_counts if len(pair[1]) >= _TERMS_MIN]
    counts = long_counts or all_counts
    frequencies = Counter(chain.from_iterable(words for _, words in counts))
    rarity = {word: log(1 + len(counts) / number) for word, number in frequencies.items()}
    return [
        _Sentence(
            sentence,
            count_words(sentence),
            _to_unit_length({word: number * rarity[word] for word, number in words.items()}),
        )
        for sentence, words in counts
    ]


def _is_prose(text: str, block: Block) -> bool:
    return block.kind == "prose" and not text.startswith("|", block.start)


def _sentence_texts(text: str, blocks: Iterable[Block]) -> Iterator[str]:
    for block in blocks:
        is_row = text.startswith("|", block.start)
        ends = line_ends if block.kind == "code" else sentence_ends
        for segment in segments(
            text, block.start, block.end, ends, rank=0, words_max=_SENTENCE_WORDS_MAX
        ):
            plain = _LINK.sub(r"\1", text[segment.start : segment.end]).replace("**", "")
            if is_row:
                plain = plain.replace("|", " ")
            if sentence := " ".join(plain[_marker_length(plain) :].split()):
                yield sentence


def _marker_length(sentence: str) -> int:
    marker = _MARKER.match(sentence)
    return marker.end() if marker else 0


def _words(sentence: str) -> Iterator[str]:
    return chain(lexical.words(sentence), tokens.spans(sentence))


def _to_unit_length(weights: Mapping[str, float]) -> Mapping[str, float]:
    length = sqrt(sum(weight * weight for weight in weights.values()))
    return {word: weight / length for word, weight in weights.items()} if length else {}


def _scores(sentences: Sequence[_Sentence]) -> list[float]:
    """By how near a sentence is to the centroid and to the beginning; at most 1."""
    centre: defaultdict[str, float] = defaultdict(float)
    for sentence in sentences:
        for word, weight in sentence.terms.items():
            centre[word] += weight
    scores = [
        sum(weight * centre[word] for word, weight in sentence.terms.items())
        * min(1, len(sentence.terms) / _USUAL_TERMS)
        * (1 + _LEAD / (1 + index))
        for index, sentence in enumerate(sentences)
    ]
    highest = max(scores, default=0) or 1
    return [score / highest for score in scores]


def _choose(sentences: Sequence[_Sentence], scores: Sequence[float]) -> Iterator[int]:
    """Indexes of sentences: the best first, then by score and difference from those before."""
    postings: defaultdict[str, list[tuple[int, float]]] = defaultdict(list)
    for index, sentence in enumerate(sentences):
        for word, weight in sentence.terms.items():
            postings[word].append((index, weight))
    room = WORDS_MAX
    similarity = [0.0] * len(sentences)  # to the most similar chosen sentence

    def rank(index: int) -> tuple[float, int]:
        return _RELEVANCE * scores[index] - (1 - _RELEVANCE) * similarity[index], -index

    candidates = set(range(len(sentences)))
    while room >= _ROOM_MIN and (
        candidates := {index for index in candidates if sentences[index].words <= room}
    ):
        best = max(candidates, key=rank)
        yield best
        room -= sentences[best].words
        products = defaultdict[int, float](float)
        for word, weight in sentences[best].terms.items():
            for index, other_weight in postings[word]:
                products[index] += weight * other_weight
        for index, product in products.items():
            similarity[index] = max(similarity[index], product)
        candidates = {
            index for index in candidates if index != best and similarity[index] < _DUPLICATE
        }


def _join(sentences: Sequence[str]) -> str:
    return "".join(
        sentence if sentence.endswith(_NO_SPACE_AFTER) else f"{sentence} " for sentence in sentences
    ).rstrip()
