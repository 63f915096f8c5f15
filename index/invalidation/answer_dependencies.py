"""What an answer depends on, as a value and as the bytes that a cache keeps beside the answer.

Pure.
"""

import math
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, fields
from datetime import datetime
from struct import Struct, pack
from typing import Any

import numpy as np
import orjson
from numpy.typing import NDArray

from index.errors import Unreadable
from index.model.attributes import Condition
from index.model.query import Filter, Postprocessing, Query
from index.model.scope import Scope

FORMAT = 3  # raise it when the same bytes mean something else than before

# Format, check sum of all that follows it, exact, words, alpha, the floors, and how much there is
# of each part: dimensions, terms, candidates, shown, documents; bytes of audience, analysis and
# query.
_FORM = Struct("<BI")
_HEAD = Struct("<?qdddd8I")
_KINDS = ("<f2", "<i4", "<i8", "<i8", "<i8", "<f4")  # the last are the terms' weights
_UNKNOWN = -1
_NOTHING = object()
_USUAL = {each.name: each.default for each in fields(Query)}
_ODDITIES = (ValueError, TypeError, AttributeError, KeyError)  # of bytes that another version wrote


@dataclass(frozen=True, slots=True, eq=False)
class AnswerDependencies:
    """What an answer depends on: enough to know which changes end it, and to compute it anew.

    space: in which the query was embedded.
    languages: in which its words were analysed; None if it names its own.
    words: how many the vocabulary held; None if the answer doesn't hang on it.
    dense: the query's vector, of the numbers that 16 bits can hold; empty without an embedder.
    lexical: the query's weight of each term.
    alpha: the dense score's share in the fused one.
    fused_floor: a chunk that scores less, or 0, is not looked at for hits, if each is judged by
        itself; infinite if the legs' candidates alone decide.
    dense_floor, lexical_floor: the score of the leg's last candidate; None if it found fewer than
        it asked for, so that whatever scores above zero enters; infinite if nothing can enter that
        the answer shows, for the leg has no weight or is not asked.
    candidates: the chunks of the legs that count.
    shown: the chunks that were looked at for hits, and became hits or part of one or were left out.
    documents: of which the hits show more than their chunks: texts around them, summaries.
    exact: whether no other chunk can have been nearer; a graph may miss one.
    """

    scope: Scope
    query: Query
    space: str
    languages: frozenset[str] | None
    words: int | None
    dense: NDArray[np.float32]
    lexical: Mapping[int, float]
    alpha: float
    fused_floor: float
    dense_floor: float | None
    lexical_floor: float | None
    candidates: tuple[int, ...]
    shown: tuple[int, ...]
    documents: tuple[int, ...]
    exact: bool

    def encode(self) -> bytes:
        parts = (self.dense, self.lexical, self.candidates, self.shown, self.documents)
        terms, *chunks = (len(part) for part in parts[1:])
        blobs = (
            orjson.dumps([self.scope, self.query.filter]),
            orjson.dumps([self.space, None if self.languages is None else sorted(self.languages)]),
            orjson.dumps(_beside_the_filter(self.query)),
        )
        head = _HEAD.pack(
            self.exact,
            _UNKNOWN if self.words is None else self.words,
            self.alpha,
            self.fused_floor,
            math.nan if self.dense_floor is None else self.dense_floor,
            math.nan if self.lexical_floor is None else self.lexical_floor,
            *map(len, parts),
            *map(len, blobs),
        )
        numbers = pack(
            f"<{terms}i{sum(chunks)}q{terms}f",
            *self.lexical,
            *self.candidates,
            *self.shown,
            *self.documents,
            *self.lexical.values(),
        )
        body = b"".join((head, self.dense.astype("<f2").tobytes(), numbers, *blobs))
        return _FORM.pack(FORMAT, zlib.crc32(body)) + body

    @classmethod
    def decode(cls, record: bytes) -> "AnswerDependencies":
        """Raises `Unreadable`."""
        parts = decode_record(record)
        scope, wanted = audience(parts.audience)
        space, languages = analysis(parts.analysis)
        return cls(
            scope=scope,
            query=_query(parts.query, wanted),
            space=space,
            languages=languages,
            words=parts.words,
            dense=parts.dense.astype(np.float32),
            lexical=dict(zip(parts.terms.tolist(), parts.weights.tolist(), strict=True)),
            alpha=parts.alpha,
            fused_floor=parts.fused_floor,
            dense_floor=parts.dense_floor,
            lexical_floor=parts.lexical_floor,
            candidates=tuple(parts.candidates.tolist()),
            shown=tuple(parts.shown.tolist()),
            documents=tuple(parts.documents.tolist()),
            exact=parts.exact,
        )


@dataclass(frozen=True, slots=True, eq=False)
class DependencyRecord:
    """A record taken apart, and read no further than takes no time."""

    exact: bool
    words: int | None
    alpha: float
    fused_floor: float
    dense_floor: float | None
    lexical_floor: float | None
    dense: NDArray[np.float16]
    terms: NDArray[np.int32]
    weights: NDArray[np.float32]
    candidates: NDArray[np.int64]
    shown: NDArray[np.int64]
    documents: NDArray[np.int64]
    audience: bytes
    analysis: bytes
    query: bytes


def decode_record(record: bytes) -> DependencyRecord:
    """Raises `Unreadable`."""
    start = _FORM.size + _HEAD.size
    if len(record) < start:
        raise Unreadable("the record is cut short")
    form, checksum = _FORM.unpack_from(record)
    if form != FORMAT:
        raise Unreadable(f"the record is of format {form}, and this version reads {FORMAT}")
    if checksum != zlib.crc32(memoryview(record)[_FORM.size :]):
        raise Unreadable("the record is not what was written")
    exact, words, alpha, fused_floor, dense_floor, lexical_floor, *counts = _HEAD.unpack_from(
        record, _FORM.size
    )
    read: list[NDArray[Any]] = []
    try:
        for kind, count in zip(_KINDS, (*counts[:5], counts[1]), strict=True):
            read.append(np.frombuffer(record, kind, count, start))
            start += read[-1].nbytes
    except ValueError as error:
        raise Unreadable("the record is cut short") from error
    blobs = []
    for length in counts[5:]:
        blobs.append(record[start : start + length])
        start += length
    return DependencyRecord(
        exact,
        None if words == _UNKNOWN else words,
        alpha,
        fused_floor,
        None if math.isnan(dense_floor) else dense_floor,
        None if math.isnan(lexical_floor) else lexical_floor,
        dense=read[0],
        terms=read[1],
        weights=read[5],
        candidates=read[2],
        shown=read[3],
        documents=read[4],
        audience=blobs[0],
        analysis=blobs[1],
        query=blobs[2],
    )


def audience(part: bytes) -> tuple[Scope, Filter]:
    """Who asked, and for documents of which kind. Raises `Unreadable`."""
    try:
        scope, wanted = orjson.loads(part)
        return Scope(**_tuples(scope)), Filter(**_parts_of_filter(_tuples(wanted)))
    except _ODDITIES as error:
        raise Unreadable("the record names no audience") from error


def analysis(part: bytes) -> tuple[str, frozenset[str] | None]:
    """The space and the languages that the query was put in. Raises `Unreadable`."""
    try:
        space, languages = orjson.loads(part)
        return space, None if languages is None else frozenset(languages)
    except _ODDITIES as error:
        raise Unreadable("the record names no analysis") from error


def _beside_the_filter(query: Query) -> dict[str, Any]:
    """What it says that questions mostly don't."""
    told = {name: getattr(query, name) for name in Query.__slots__ if name != "filter"}
    return {name: value for name, value in told.items() if value != _USUAL.get(name, _NOTHING)}


def _query(part: bytes, wanted: Filter) -> Query:
    try:
        fields = orjson.loads(part)
        if fields.get("postprocessing") is not None:
            fields["postprocessing"] = Postprocessing(**fields["postprocessing"])
        return Query(**fields, filter=wanted)
    except _ODDITIES as error:
        raise Unreadable("the record names no query") from error


def _tuples(fields: dict[str, Any]) -> dict[str, Any]:
    return {
        name: tuple(value) if isinstance(value, list) else value for name, value in fields.items()
    }


def _parts_of_filter(told: dict[str, Any]) -> dict[str, Any]:
    if told.get("attributes") is not None:
        told["attributes"] = Condition.from_json(told["attributes"])
    for name in ("updated_after", "updated_before"):
        if told[name] is not None:
            told[name] = datetime.fromisoformat(told[name])
    return told
