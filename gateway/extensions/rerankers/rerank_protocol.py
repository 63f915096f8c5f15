"""What rerank services are sent, and the replies that they send; pure.

There is no standard. Replies are lists of objects with an index and a score, bare or in a field:

results[].relevance_score   Cohere, Jina, vLLM, SiliconFlow; results[].score of some
data[].relevance_score      Voyage; data[].score of Pinecone, Mixedbread and vLLM
[].score                    TEI
rankings[].logit            NVIDIA
scores[]                    DeepInfra: numbers alone, in the order of the texts
"""

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from pydantic_core import from_json

Request: TypeAlias = dict[str, Any]

_LIST_FIELDS = ("results", "data", "rankings", "scores", "output")
_INDEX_FIELDS = ("index", "corpus_id")  # the latter of sentence-transformers
_SCORE_FIELDS = ("relevance_score", "score", "logit", "relevanceScore")
_NAMES_MAX = 8  # of a reply that is not understood; a starting value
_NAME_CHARACTERS_MAX = 40


class UnknownReply(ValueError):
    """The message describes the form of the reply and quotes no value of it."""


@dataclass(frozen=True, slots=True)
class RerankReply:
    """scores: by index of the passage; those that the service did not score are missing.

    form: where the scores were found, such as `results[].relevance_score`.
    """

    form: str
    scores: Mapping[int, float]


def _general(query: str, texts: Sequence[str]) -> Request:
    """`texts` is what TEI calls the documents."""
    return {"query": query, "documents": texts, "texts": texts, "top_n": len(texts)}


def _strict(query: str, texts: Sequence[str]) -> Request:
    """For services that refuse fields that they don't know, such as Voyage."""
    return {"query": query, "documents": texts}


def _nvidia(query: str, texts: Sequence[str]) -> Request:
    return {"query": {"text": query}, "passages": [{"text": text} for text in texts]}


# In the order in which they are tried while a service refuses them.
REQUEST_FORMS: tuple[Callable[[str, Sequence[str]], Request], ...] = (_general, _strict, _nvidia)


def parse_reply(body: bytes, count: int) -> RerankReply:
    """The scores of a reply to `count` passages. Raises `UnknownReply`."""
    try:
        reply = from_json(body)
    except ValueError:
        raise UnknownReply("no JSON") from None
    path, items = _list_of(reply)
    if any(isinstance(item, dict) for item in items):
        rows = [item if isinstance(item, dict) else {} for item in items]
        field = next((name for name in _SCORE_FIELDS if any(name in row for row in rows)), None)
        if field is None:
            raise UnknownReply(f"{path}[] of {_describe(items[0])}")
        form, values = f"{path}[].{field}", [row.get(field) for row in rows]
        index = next((name for name in _INDEX_FIELDS if any(name in row for row in rows)), "")
        indexes = [_index(row[index]) for row in rows if index in row] or None
    else:
        form, values, indexes = f"{path}[]", items, None
    places = range(len(values)) if indexes is None else indexes
    if not _are_places(places, len(values), count, are_all=indexes is None):
        raise UnknownReply(f"{form} with the indexes of other passages")
    scores = {
        place: score
        for place, value in zip(places, values, strict=True)
        if (score := _score(value)) is not None
    }
    if not scores:
        raise UnknownReply(f"{form} without a number")
    return RerankReply(form, scores)


def _list_of(reply: object, path: str = "") -> tuple[str, list[Any]]:
    """The list of the reply that is not empty, and the path to it."""
    if isinstance(reply, list) and reply:
        return path, reply
    if isinstance(reply, dict) and path.count(".") < 1:
        for name in _LIST_FIELDS:
            if reply.get(name):
                return _list_of(reply[name], f"{path}.{name}" if path else name)
    raise UnknownReply(f"{path or 'a reply'} of {_describe(reply)}")


def _index(value: object) -> Any:
    """As an integer, if it is one that the service writes as a text or with a fraction of zero."""
    if isinstance(value, str) and re.fullmatch("[0-9]{1,4}", value):
        return int(value)
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _are_places(places: Sequence[object], values: int, count: int, *, are_all: bool) -> bool:
    """Whether each value has another place among the passages. are_all: whether each place has one.

    Without indexes nothing else tells which passage a missing value is of.
    """
    if len(places) != values or not all(type(place) is int for place in places):
        return False
    known = {*places}
    return len(known) == values and known <= {*range(count)} and (not are_all or values == count)


def _score(value: object) -> float | None:
    """Also of a text with a number; None if it is none, or not finite."""
    if not isinstance(value, int | float | str) or isinstance(value, bool):
        return None
    try:
        score = float(value)
    except (ValueError, OverflowError):
        return None
    return score if math.isfinite(score) else None


def _describe(value: object) -> str:
    if not isinstance(value, dict):
        return type(value).__name__
    names = [str(name)[:_NAME_CHARACTERS_MAX] for name in sorted(value)[:_NAMES_MAX]]
    return f"an object with the fields {', '.join(names) or 'none'}"
