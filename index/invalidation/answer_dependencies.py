"""The dependencies of an answer, as a value and as the bytes stored beside a cached answer.

Pure.
"""

import math
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from struct import Struct, pack
from typing import Any

import numpy as np
import orjson
from numpy.typing import NDArray

from index.errors import UnreadableRecord
from index.model.query import FILTER, Filter, Postprocessing, Query
from index.model.query_parts.boost import Boost, Importance, Recency
from index.model.scope import Scope

FORMAT = 6  # raise it when the same bytes mean something else than before

# Format, checksum of the other bytes, exact, reads all documents, reads popularity, vocabulary
# size, alpha, the floors, and the length of each part: dimensions, terms, candidates, examined,
# documents; bytes of audience, analysis, query.
_FORM = Struct("<BI")
_HEAD = Struct("<???qdddd8I")
_KINDS = ("<f2", "<i4", "<i8", "<i8", "<i8", "<f4")  # the last holds the terms' weights
_NO_SIZE = -1
_NO_SEARCH = "-"  # in place of the space: the answer was written from chunks, without a search
_NO_DEFAULT = object()
_DEFAULTS = {query_field.name: query_field.default for query_field in fields(Query)}
_DECODE_ERRORS = (ValueError, TypeError, AttributeError, KeyError)  # of bytes from another version


@dataclass(frozen=True, slots=True, eq=False)
class AnswerDependencies:
    """What an answer depends on: enough to tell which changes invalidate it, and to recompute it.

    space: in which the query was embedded.
    languages: of the documents of the scope, in which the query's words were analysed.
    vocabulary_size: in words; None if the answer does not depend on it.
    dense: the query's vector, rounded to half precision; empty without an embedder.
    lexical: the query's weight of each term.
    alpha: the dense score's share in the fused score.
    fused_floor: with `absolute` fusion, a chunk that scores less, or 0, is not examined for hits;
        infinite if the legs' candidates alone decide.
    dense_floor, lexical_floor: the score of the leg's last candidate; None if the leg has fewer
        candidates than requested, so that any score above zero enters; infinite if the leg has no
        weight or is not used, so that nothing can enter.
    candidates: the chunks of the legs that count.
    examined: the chunks examined for hits, whether they became part of a hit or not.
    documents: of which the answer shows or reads more than chunks: surrounding texts, summaries,
        times, popularity.
    exact: whether no nearer chunk can have been missed; a graph may miss one.
    reads_all_documents: whether the answer depends on every document with a chunk that the scope
        and the filter admit: it counts them, or they may replace its hits.
    """

    scope: Scope
    query: Query
    space: str
    languages: frozenset[str]
    vocabulary_size: int | None
    dense: NDArray[np.float32]
    lexical: Mapping[int, float]
    alpha: float
    fused_floor: float
    dense_floor: float | None
    lexical_floor: float | None
    candidates: tuple[int, ...]
    examined: tuple[int, ...]
    documents: tuple[int, ...]
    exact: bool
    reads_all_documents: bool = False

    @classmethod
    def of_chunks(cls, scope: Scope, chunk_ids: Sequence[int]) -> "AnswerDependencies":
        """Of a text that was written from these chunks: no other chunk can enter it."""
        return cls(
            scope=scope,
            query=Query(text=""),
            space=_NO_SEARCH,
            languages=frozenset(),
            vocabulary_size=None,
            dense=np.ones(1, np.float32),
            lexical={},
            alpha=0.0,
            fused_floor=math.inf,
            dense_floor=math.inf,
            lexical_floor=math.inf,
            candidates=tuple(chunk_ids),
            examined=(),
            documents=(),
            exact=True,
        )

    @property
    def is_of_chunks(self) -> bool:
        """Whether no search gives this answer again; see `of_chunks`."""
        return has_no_search(self.space)

    def encode(self) -> bytes:
        parts = (self.dense, self.lexical, self.candidates, self.examined, self.documents)
        terms, *chunks = (len(part) for part in parts[1:])
        blobs = (
            orjson.dumps([self.scope, self.query.filter]),
            orjson.dumps([self.space, sorted(self.languages)]),
            orjson.dumps(_non_default_fields(self.query)),
        )
        head = _HEAD.pack(
            self.exact,
            self.reads_all_documents,
            self.query.reads_popularity,
            _NO_SIZE if self.vocabulary_size is None else self.vocabulary_size,
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
            *self.examined,
            *self.documents,
            *self.lexical.values(),
        )
        body = b"".join((head, self.dense.astype("<f2").tobytes(), numbers, *blobs))
        return _FORM.pack(FORMAT, zlib.crc32(body)) + body

    @classmethod
    def decode(cls, record: bytes) -> "AnswerDependencies":
        """Raises `UnreadableRecord`."""
        parts = decode_record(record)
        scope, document_filter = audience(parts.audience)
        space, languages = analysis(parts.analysis)
        return cls(
            scope=scope,
            query=_query(parts.query, document_filter),
            space=space,
            languages=languages,
            vocabulary_size=parts.vocabulary_size,
            dense=parts.dense.astype(np.float32),
            lexical=dict(zip(parts.terms.tolist(), parts.weights.tolist(), strict=True)),
            alpha=parts.alpha,
            fused_floor=parts.fused_floor,
            dense_floor=parts.dense_floor,
            lexical_floor=parts.lexical_floor,
            candidates=tuple(parts.candidates.tolist()),
            examined=tuple(parts.examined.tolist()),
            documents=tuple(parts.documents.tolist()),
            exact=parts.exact,
            reads_all_documents=parts.reads_all_documents,
        )


def has_no_search(space: str) -> bool:
    """Whether this stands in place of a space, for an answer that depends on chunks alone."""
    return space == _NO_SEARCH


@dataclass(frozen=True, slots=True, eq=False)
class DependencyRecord:
    """A decoded record whose JSON parts are still bytes."""

    exact: bool
    reads_all_documents: bool
    reads_popularity: bool
    vocabulary_size: int | None
    alpha: float
    fused_floor: float
    dense_floor: float | None
    lexical_floor: float | None
    dense: NDArray[np.float16]
    terms: NDArray[np.int32]
    weights: NDArray[np.float32]
    candidates: NDArray[np.int64]
    examined: NDArray[np.int64]
    documents: NDArray[np.int64]
    audience: bytes
    analysis: bytes
    query: bytes


def decode_record(record: bytes) -> DependencyRecord:
    """Raises `UnreadableRecord`."""
    start = _FORM.size + _HEAD.size
    if len(record) < start:
        raise UnreadableRecord("the record is truncated")
    form, checksum = _FORM.unpack_from(record)
    if form != FORMAT:
        raise UnreadableRecord(f"the record is of format {form}, and this version reads {FORMAT}")
    if checksum != zlib.crc32(memoryview(record)[_FORM.size :]):
        raise UnreadableRecord("the record has another checksum")
    (
        exact,
        all_documents,
        popularity,
        words,
        alpha,
        fused_floor,
        dense_floor,
        lexical_floor,
        *counts,
    ) = _HEAD.unpack_from(record, _FORM.size)
    arrays: list[NDArray[Any]] = []
    try:
        for kind, count in zip(_KINDS, (*counts[:5], counts[1]), strict=True):
            arrays.append(np.frombuffer(record, kind, count, start))
            start += arrays[-1].nbytes
    except ValueError as error:
        raise UnreadableRecord("the record is truncated") from error
    blobs = []
    for length in counts[5:]:
        blobs.append(record[start : start + length])
        start += length
    return DependencyRecord(
        exact,
        all_documents,
        popularity,
        None if words == _NO_SIZE else words,
        alpha,
        fused_floor,
        None if math.isnan(dense_floor) else dense_floor,
        None if math.isnan(lexical_floor) else lexical_floor,
        dense=arrays[0],
        terms=arrays[1],
        weights=arrays[5],
        candidates=arrays[2],
        examined=arrays[3],
        documents=arrays[4],
        audience=blobs[0],
        analysis=blobs[1],
        query=blobs[2],
    )


def audience(part: bytes) -> tuple[Scope, Filter]:
    """The scope and the filter of the request. Raises `UnreadableRecord`."""
    try:
        scope, fields = orjson.loads(part)
        return Scope(**_tuples(scope)), FILTER.validate_python(fields)
    except _DECODE_ERRORS as error:
        raise UnreadableRecord("the record names no audience") from error


def analysis(part: bytes) -> tuple[str, frozenset[str]]:
    """The query's space and languages. Raises `UnreadableRecord`."""
    try:
        space, languages = orjson.loads(part)
        return space, frozenset(languages)
    except _DECODE_ERRORS as error:
        raise UnreadableRecord("the record names no analysis") from error


def _non_default_fields(query: Query) -> dict[str, Any]:
    """The fields that differ from their defaults, without the filter."""
    values = {name: getattr(query, name) for name in Query.__slots__ if name != "filter"}
    return {
        name: value for name, value in values.items() if value != _DEFAULTS.get(name, _NO_DEFAULT)
    }


def _query(part: bytes, document_filter: Filter) -> Query:
    try:
        fields = _tuples(orjson.loads(part))
        if fields.get("postprocessing") is not None:
            fields["postprocessing"] = Postprocessing(**fields["postprocessing"])
        if fields.get("boost") is not None:
            fields["boost"] = _boost(fields["boost"])
        return Query(**fields, filter=document_filter)
    except _DECODE_ERRORS as error:
        raise UnreadableRecord("the record names no query") from error


def _boost(fields: Mapping[str, Any]) -> Boost:
    recency, importance = fields["recency"], fields["importance"]
    return Boost(
        None if recency is None else Recency(**recency),
        None if importance is None else Importance(**importance),
        fields["replaced"],
        fields["popularity"],
    )


def _tuples(fields: dict[str, Any]) -> dict[str, Any]:
    return {
        name: tuple(value) if isinstance(value, list) else value for name, value in fields.items()
    }
