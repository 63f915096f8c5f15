"""The summary of a text in its own sentences: those nearest to what all of them say.

It hangs on the text alone, not on its language or on what stands around it: the same text always
gets the same summary.

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
from ingest.chunkers.segments import count_words, line_ends, segments, sentence_ends
from ingest.parse.markdown import Block, blocks

WORDS_MAX = 80  # two or three sentences; a starting value, not measured

# Starting values, not measured.
_SENTENCE_WORDS_MAX = 40  # a longer one is parted
_TERMS_MIN = 4  # a sentence of fewer says nothing, unless there is no other
_USUAL_TERMS = 12  # one of fewer counts for as much less
_LEAD = 0.5  # what the first sentence counts more, the second half of that, and so on
_RELEVANCE = 0.7  # against saying something new
_ROOM_MIN = 8  # words; what would fit into less is a crumb
_TWIN = 0.8  # a sentence that is as near to a chosen one says the same

_MARK = re.compile(r"\s*(?:(?:[-*+>|]|#{1,6}|\d{1,9}[.)])\s+)+")  # of a list, a quote, a table
_LINK = re.compile(r"!?\[([^\[\]\n]{0,200})\]\([^()\s]{0,500}\)")
_NO_SPACE_BEHIND = ("。", "！", "？", "」", "』")  # noqa: RUF001  as in ingest.chunkers.segments


@dataclass(frozen=True, slots=True)
class _Sentence:
    text: str
    words: int
    terms: Mapping[str, float]  # of length one, or none


def extract(text: str) -> str:
    """What the text says in at most WORDS_MAX words of its own, in its order; empty if it is blank.

    Prose, if there is any; else whatever there is. Time: what its words take, and n log n.
    """
    sentences = _sentences(text)
    worths = _worths(sentences)
    return _joined([sentences[place].text for place in sorted(_chosen(sentences, worths))])


def _sentences(text: str) -> list[_Sentence]:
    found = blocks(text)
    said = dict.fromkeys(_said(text, (block for block in found if _is_prose(text, block))))
    said = said or dict.fromkeys(_said(text, found))
    every = [(each, Counter(_words(each))) for each in said]
    counted = [each for each in every if len(each[1]) >= _TERMS_MIN] or every
    holding = Counter(chain.from_iterable(words for _, words in counted))
    rarity = {word: log(1 + len(counted) / held) for word, held in holding.items()}
    return [
        _Sentence(each, count_words(each), _scaled({w: n * rarity[w] for w, n in words.items()}))
        for each, words in counted
    ]


def _is_prose(text: str, block: Block) -> bool:
    return block.kind == "prose" and not text.startswith("|", block.start)


def _said(text: str, found: Iterable[Block]) -> Iterator[str]:
    for block in found:
        is_row = text.startswith("|", block.start)
        ends = line_ends if block.kind == "code" else sentence_ends
        for piece in segments(
            text, block.start, block.end, ends, rank=0, words_max=_SENTENCE_WORDS_MAX
        ):
            plain = _LINK.sub(r"\1", text[piece.start : piece.end]).replace("**", "")
            if is_row:
                plain = plain.replace("|", " ")
            if sentence := " ".join(plain[_marks(plain) :].split()):
                yield sentence


def _marks(sentence: str) -> int:
    mark = _MARK.match(sentence)
    return mark.end() if mark else 0


def _words(sentence: str) -> Iterator[str]:
    held = tokens.read(sentence)
    return chain(lexical.words(sentence), held.spans)


def _scaled(weights: Mapping[str, float]) -> Mapping[str, float]:
    length = sqrt(sum(weight * weight for weight in weights.values()))
    return {word: weight / length for word, weight in weights.items()} if length else {}


def _worths(sentences: Sequence[_Sentence]) -> list[float]:
    """How near each is to all of them together, and how near to the beginning; at most 1."""
    centre: defaultdict[str, float] = defaultdict(float)
    for sentence in sentences:
        for word, weight in sentence.terms.items():
            centre[word] += weight
    worths = [
        sum(weight * centre[word] for word, weight in sentence.terms.items())
        * min(1, len(sentence.terms) / _USUAL_TERMS)
        * (1 + _LEAD / (1 + place))
        for place, sentence in enumerate(sentences)
    ]
    most = max(worths, default=0) or 1
    return [worth / most for worth in worths]


def _chosen(sentences: Sequence[_Sentence], worths: Sequence[float]) -> Iterator[int]:
    """The best first, then each time the one that is best and least like those before."""
    holding: defaultdict[str, list[tuple[int, float]]] = defaultdict(list)
    for place, sentence in enumerate(sentences):
        for word, weight in sentence.terms.items():
            holding[word].append((place, weight))
    room = WORDS_MAX
    likeness = [0.0] * len(sentences)
    left = set(range(len(sentences)))
    while room >= _ROOM_MIN and (
        left := {place for place in left if sentences[place].words <= room}
    ):
        best = max(
            left,
            key=lambda one: (_RELEVANCE * worths[one] - (1 - _RELEVANCE) * likeness[one], -one),
        )
        yield best
        room -= sentences[best].words
        like = defaultdict[int, float](float)
        for word, weight in sentences[best].terms.items():
            for place, other in holding[word]:
                like[place] += weight * other
        for place, share in like.items():
            likeness[place] = max(likeness[place], share)
        left = {place for place in left if place != best and likeness[place] < _TWIN}


def _joined(said: Sequence[str]) -> str:
    return "".join(
        each if each.endswith(_NO_SPACE_BEHIND) else f"{each} " for each in said
    ).rstrip()
