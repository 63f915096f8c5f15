"""Encodes and decodes the answers of searches, a hit at a time.

An answer may have 16 MB. To decode it in one call of C holds the interpreter for a tenth of a
second, also in a thread, and the requests of everybody wait for it. A hit takes less than a
millisecond.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

import orjson

from common.shares.turns import map_in_steps

_HITS = b'{"hits":['
_FIRST_HIT = _HITS + b'{"chunk_id":'
# In no text: there a quotation mark has a backslash before it. Nor in metadata: its lists hold no
# objects.
_BETWEEN_HITS = b'},{"chunk_id":'


def encode_answer(answer: Mapping[str, Any]) -> bytes:
    """The answer as it is sent: its hits come first, and `chunk_id` first in each hit."""
    hits = [orjson.Fragment(_encode(hit)) for hit in answer["hits"]]
    return _encode({**answer, "hits": hits})


def decode_answer(body: bytes) -> dict[str, Any]:
    return _joined([orjson.loads(part) for part in split_answer(body)])


async def decode_in_steps(body: bytes) -> dict[str, Any]:
    """As `decode_answer`, in steps of the event loop."""
    return _joined(await map_in_steps(orjson.loads, split_answer(body)))


def chunk_ids(body: bytes) -> list[int]:
    """Those of the hits."""
    return [
        int(part[len(_FIRST_HIT) : part.index(b",")])
        for part in split_answer(body)
        if part.startswith(_FIRST_HIT)
    ]


def split_answer(body: bytes) -> Iterator[bytes]:
    """Answers of one hit each, of which the last has the other fields too."""
    begin = len(_HITS)
    if body.startswith(_FIRST_HIT):
        while (end := body.find(_BETWEEN_HITS, begin)) >= 0:
            yield b"%b%b]}" % (_HITS, body[begin : end + 1])
            begin = end + 2
    yield body if begin == len(_HITS) else _HITS + body[begin:]


def _joined(parts: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    hits = chain.from_iterable(part["hits"] for part in parts)
    return {**parts[-1], "hits": list(hits)}


def _encode(value: Any) -> bytes:
    return orjson.dumps(value, option=orjson.OPT_UTC_Z)
