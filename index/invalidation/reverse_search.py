"""The reverse search: which cached answers of a tenant a change invalidates.

It may invalidate an answer needlessly. It keeps no answer that an exact search at the new revision
would give differently. An answer from a graph may stay although another walk of the graph would
find another chunk, as it could have before.

Pure.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from itertools import repeat
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from index.errors import UnreadableRecord
from index.invalidation import answer_dependencies
from index.invalidation.answer_dependencies import DependencyRecord
from index.invalidation.changes import ChangedChunk, ChangeSet
from index.invalidation.postings import NOTE, WEIGHTED_NOTE, Postings
from index.invalidation.visible_chunks import VisibleChunks
from index.model.scope import PUBLIC
from index.text import lexical, long_queries
from index.text.word_lists.analysed_languages import LANGUAGES

T = TypeVar("T")
Table = NDArray[Any]

# PostgreSQL computes with 32-bit floats: each step has a relative error of up to this.
_ROUNDING = 2**-24

# pgvector's similarity is a sum of n products over the root of two such sums, each with up to n
# roundings: 2n in all, for vectors of length one. Ours is one sum of scaled rows: n, and 4.
_DENSE_ROUNDINGS = 4  # for each dimension, plus one

# The lexical score is a sum of positive products, one for each term, so its error is relative.
_LEXICAL_ROUNDINGS = 2 * long_queries.PARTS_MAX * lexical.QUERY_TERMS_MAX * len(LANGUAGES)
_LEXICAL_MARGIN = _LEXICAL_ROUNDINGS * _ROUNDING

_ROWS_MIN = 64
_BLOCK_NUMBERS_MAX = 8_192  # OpenBLAS calls threads for products of more than 9,216
_NO_WORDS = -1

# The similarity of incomparable vectors: above any floor but an infinite one.
_NEAREST = float(np.finfo(np.float32).max)

# A row is an answer. Any change invalidates a lost row, whose record can't be read. A floor of -inf
# admits every chunk, 0 any chunk with something in common, inf none.
_ROW = np.dtype(
    [
        ("turn", "u4"),
        ("is_live", "?"),
        ("is_lost", "?"),
        ("is_dated", "?"),
        ("sees_others", "?"),
        ("reads_all_documents", "?"),
        ("reads_popularity", "?"),
        ("audience", "i4"),
        ("analysis", "i4"),
        ("words", "i8"),
        ("alpha", "f8"),
        ("fused_floor", "f8"),
        ("dense_floor", "f8"),
        ("lexical_floor", "f8"),
    ]
)


class ReverseIndex:
    """All cached answers of one tenant, by their dependencies.

    The records are those of `index.invalidation.answer_dependencies`.
    """

    def __init__(self) -> None:
        self._rows: dict[str, int] = {}
        self._keys: list[str | None] = []
        self._free: list[int] = []
        self._table: Table = np.zeros(_ROWS_MIN, _ROW)
        self._audiences = _SharedParts(answer_dependencies.audience)
        self._analyses = _SharedParts(answer_dependencies.analysis)
        self._vectors: dict[str, _QueryVectors] = {}
        self._words = Postings(WEIGHTED_NOTE)
        self._candidates = Postings()
        self._examined = Postings()
        self._documents = Postings()

    def __len__(self) -> int:
        return len(self._rows)

    def add(self, key: str, record: bytes) -> None:
        """Add the answer under its key; replace an earlier one."""
        self.discard(key)
        row = self._free.pop() if self._free else self._new_row()
        self._rows[key] = row
        self._keys[row] = key
        try:
            self._fill_row(row, answer_dependencies.decode_record(record))
        except UnreadableRecord:
            self._table[row]["is_lost"] = True

    def discard(self, key: str) -> None:
        row = self._rows.pop(key, None)
        if row is None:
            return
        fields = self._table[row]
        if fields["is_live"]:
            self._empty_row(row, int(fields["audience"]), int(fields["analysis"]))
        turn = fields["turn"]
        self._table[row] = np.zeros((), _ROW)
        self._table[row]["turn"] = turn + np.uint32(1)
        self._keys[row] = None
        self._free.append(row)
        turns = self._table["turn"]
        for postings in (self._words, self._candidates, self._examined, self._documents):
            postings.sweep(turns)

    def invalidated(self, changes: ChangeSet) -> set[str]:
        """The keys of all answers that may differ at the revision of the changes."""
        table = self._table[: len(self._keys)]
        turns = np.ascontiguousarray(table["turn"])
        is_concerned = table["sees_others"] if changes.partition == PUBLIC else table["is_live"]
        is_invalid = table["is_lost"] | (is_concerned & self._is_reinterpreted(changes, table))
        for postings, numbers in (
            (self._candidates, changes.outdated),
            (self._examined, changes.outdated | changes.repositioned),
            (self._documents, changes.documents),
        ):
            is_invalid[postings.rows(numbers, turns)] = True
        concerned = self._documents.rows(changes.popularities, turns)
        is_invalid[concerned[table["reads_popularity"][concerned]]] = True
        counts = table["reads_all_documents"] & is_concerned
        if changes.outdated or changes.repositioned:
            # Nothing tells what a document was before it changed or was removed. The `uri` of a
            # related document changes as a chunk is repositioned.
            is_invalid |= counts
        visible_chunks = VisibleChunks(self._audiences.all(), changes.partition)
        for chunk, is_reached in self._reached(changes.changed_chunks, table, turns):
            rows = np.flatnonzero(is_reached & is_concerned & ~is_invalid)
            is_invalid[rows[visible_chunks(chunk, table["audience"][rows])]] = True
            rows = np.flatnonzero(counts & ~is_invalid)
            is_invalid[rows[visible_chunks.of_document(chunk, table["audience"][rows])]] = True
        return {key for row in np.flatnonzero(is_invalid) if (key := self._keys[row]) is not None}

    def _new_row(self) -> int:
        row = len(self._keys)
        self._keys.append(None)
        self._table = _with_row(self._table, row)
        return row

    def _fill_row(self, row: int, record: DependencyRecord) -> None:
        """Raises `UnreadableRecord`, and then changes nothing."""
        audience = self._audiences.number(record.audience)
        analysis = self._analyses.number(record.analysis)
        scope, document_filter = self._audiences[audience]
        space, _ = self._analyses[analysis]
        vectors = self._vectors.get(space) or _QueryVectors(len(record.dense))
        vectors.enter(row, record.dense)
        self._vectors[space] = vectors
        self._audiences.acquire(audience)
        self._analyses.acquire(analysis)
        turn = self._table[row]["turn"]
        self._table[row] = (
            turn,
            True,
            False,
            document_filter.is_dated,
            scope.public,
            record.reads_all_documents,
            record.reads_popularity,
            audience,
            analysis,
            _NO_WORDS if record.vocabulary_size is None else record.vocabulary_size,
            record.alpha,
            record.fused_floor,
            -math.inf if record.dense_floor is None else record.dense_floor,
            0.0 if record.lexical_floor is None else record.lexical_floor,
        )
        self._add_notes(row, turn, record)

    def _add_notes(self, row: int, turn: int, record: DependencyRecord) -> None:
        weighted_notes = np.empty(len(record.terms), WEIGHTED_NOTE)
        weighted_notes["row"], weighted_notes["turn"], weighted_notes["weight"] = (
            row,
            turn,
            record.weights,
        )
        self._words.add(record.terms.tolist(), _split_notes(weighted_notes))
        note = repeat(np.array((row, turn), NOTE).tobytes())
        self._candidates.add(record.candidates.tolist(), note)
        self._examined.add(record.examined.tolist(), note)
        self._documents.add(record.documents.tolist(), note)

    def _empty_row(self, row: int, audience: int, analysis: int) -> None:
        space, _ = self._analyses[analysis]
        if not self._vectors[space].leave(row):
            del self._vectors[space]
        self._audiences.release(audience)
        self._analyses.release(analysis)

    def _is_reinterpreted(self, changes: ChangeSet, table: Table) -> NDArray[np.bool_]:
        """By row, whether its query would now be analysed or filtered differently."""
        is_own_partition = changes.partition != PUBLIC
        has_other_analysis = [
            not answer_dependencies.has_no_search(space)
            and (
                not changes.languages <= languages
                or (is_own_partition and changes.space not in {None, space})
            )
            for space, languages in self._analyses.all()
        ]
        is_reinterpreted: NDArray[np.bool_] = np.array([*has_other_analysis, False])[
            table["analysis"]
        ]
        if is_own_partition:
            is_reinterpreted |= (table["words"] != _NO_WORDS) & (
                table["words"] != changes.vocabulary_size
            )
        if (
            changes.outdated or changes.changed_chunks or changes.repositioned or changes.documents
        ):  # each at some time, which a date filter reads
            is_reinterpreted |= table["is_dated"]
        return is_reinterpreted

    def _reached(
        self, changed_chunks: Sequence[ChangedChunk], table: Table, turns: NDArray[np.uint32]
    ) -> Iterator[tuple[ChangedChunk, NDArray[np.bool_]]]:
        """Each chunk, and by row whether it would enter the hits or legs if it is visible."""
        alphas, fused_floors, dense_floors, lexical_floors = (
            np.ascontiguousarray(table[name])
            for name in ("alpha", "fused_floor", "dense_floor", "lexical_floor")
        )
        for chunk in changed_chunks:
            lexical_scores = self._words.products(chunk.lexical, turns) * (1 + _LEXICAL_MARGIN)
            is_reached = (lexical_scores > 0) & (lexical_scores >= lexical_floors)
            fused_scores = lexical_scores  # without comparable vectors
            has_vector = chunk.dense.any()
            for space, vectors in self._vectors.items():
                if has_vector and chunk.space in {None, space}:
                    has_space = np.array([name == space for name, _ in self._analyses.all()])
                    is_comparable = has_space[table["analysis"]]
                    similarities = vectors.similarities(chunk.dense, len(table)) + vectors.margin
                    is_reached |= is_comparable & (similarities >= dense_floors)
                    fused_scores = np.where(
                        is_comparable,
                        alphas * similarities + (1 - alphas) * lexical_scores,
                        fused_scores,
                    )
            yield chunk, is_reached | ((fused_scores > 0) & (fused_scores >= fused_floors))


class _QueryVectors:
    """The query vectors of one space, a row each, of length one."""

    def __init__(self, width: int) -> None:
        self._width = width
        self._matrix = np.zeros((_ROWS_MIN, width), np.float32)
        self._count = 0

    def enter(self, row: int, vector: NDArray[np.float16]) -> None:
        """Raises `UnreadableRecord` if the vector is zero, or has another width than the rest."""
        wide = vector.astype(np.float64)
        length = math.sqrt(wide @ wide)
        if len(vector) != self._width or not length:
            raise UnreadableRecord("the query has no vector to compare")
        self._matrix = _with_row(self._matrix, row)
        self._matrix[row] = wide / length
        self._count += 1

    def leave(self, row: int) -> int:
        """Clear the row; return how many vectors remain."""
        self._matrix[row] = 0
        self._count -= 1
        return self._count

    @property
    def margin(self) -> float:
        """By how much PostgreSQL's similarities may exceed ours."""
        return _DENSE_ROUNDINGS * (self._width + 1) * _ROUNDING

    def similarities(self, vector: NDArray[np.float32], rows: int) -> NDArray[np.float32]:
        """The similarity of the vector and each of the first `rows` rows; 0 for empty rows."""
        wide = vector.astype(np.float64)
        length = math.sqrt(wide @ wide)
        if len(vector) != self._width or not length:
            # PostgreSQL ranks incomparable vectors as the nearest.
            return np.full(rows, _NEAREST, np.float32)
        return self._products((wide / length).astype(np.float32), rows)

    def _products(self, vector: NDArray[np.float32], rows: int) -> NDArray[np.float32]:
        """The product of the vector and each of the first `rows` rows; 0 for empty rows.

        Computed in blocks too small for OpenBLAS to use threads: on a busy machine its threads
        wait for each other, and 10,000 rows took 8 ms instead of 0.15.
        """
        block = 1 << max(1, _BLOCK_NUMBERS_MAX // self._width).bit_length() - 1
        block = min(block, len(self._matrix))  # a power of two as well
        blocks = self._matrix[: -(-rows // block) * block].reshape(-1, block, self._width)
        products = np.zeros(rows, np.float32)
        block_products = (blocks @ vector).reshape(-1)[:rows]
        products[: len(block_products)] = block_products
        return products


class _SharedParts(Generic[T]):
    """Parts that many records share: each is decoded once and stored while a record uses it."""

    def __init__(self, read: Callable[[bytes], T]) -> None:
        self._read = read
        self._numbers: dict[bytes, int] = {}
        self._parts: list[bytes] = []
        self._values: list[T] = []
        self._reference_counts: list[int] = []
        self._free: list[int] = []

    def __len__(self) -> int:
        return len(self._values)

    def __getitem__(self, number: int) -> T:
        return self._values[number]

    def all(self) -> Sequence[T]:
        """All values by number, among them some that no record uses any more."""
        return self._values

    def number(self, part: bytes) -> int:
        """The number of the part, decoded if it is new. Raises `UnreadableRecord`."""
        number = self._numbers.get(part)
        if number is not None:
            return number
        value = self._read(part)
        if self._free:
            number = self._free.pop()
            self._parts[number], self._values[number] = part, value
        else:
            number = len(self._values)
            self._parts.append(part)
            self._values.append(value)
            self._reference_counts.append(0)
        self._numbers[part] = number
        return number

    def acquire(self, number: int) -> None:
        self._reference_counts[number] += 1

    def release(self, number: int) -> None:
        self._reference_counts[number] -= 1
        if not self._reference_counts[number]:
            del self._numbers[self._parts[number]]
            self._free.append(number)


def _with_row(rows: NDArray[Any], row: int) -> NDArray[Any]:
    """The rows, doubled in number until this one is among them."""
    while row >= len(rows):
        rows = np.concatenate((rows, np.zeros_like(rows)))
    return rows


def _split_notes(notes: NDArray[Any]) -> Iterator[bytes]:
    data, size = notes.tobytes(), notes.itemsize
    return (data[start : start + size] for start in range(0, len(data), size))
