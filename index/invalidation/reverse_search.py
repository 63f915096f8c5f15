"""The reverse search: which answers of a tenant does a change end?

It may end an answer in vain. It leaves none that a search at the new revision would give otherwise.
Where a graph took part it leaves what is as good as before: another walk of it might find another
chunk, then as now.

Pure.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from itertools import repeat
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from index.errors import Unreadable
from index.invalidation import answer_dependencies
from index.invalidation.answer_dependencies import DependencyRecord
from index.invalidation.changes import ChangedChunk, ChangeSet
from index.invalidation.postings import NOTE, WEIGHED_NOTE, Postings
from index.model.query import Filter
from index.model.scope import PUBLIC, Scope
from index.text import lexical

T = TypeVar("T")
Table = NDArray[Any]

# PostgreSQL compares in numbers of 32 bits: each step of its arithmetic is off by up to this share.
_ROUNDING = 2**-24

# pgvector's similarity is a sum of n products over the root of two such sums, each sum off by up to
# n roundings: 2n in all, for vectors of length one. Ours is one sum, of scaled rows: n, and 4.
_DENSE_ROUNDINGS = 4  # for each dimension, and once more

# The lexical score is a sum of positive products, a product a term, so it is off by a share of it.
_LEXICAL_ROUNDINGS = 2 * lexical.QUERY_TERMS_MAX * len(lexical.LANGUAGES)
_LEXICAL_MARGIN = _LEXICAL_ROUNDINGS * _ROUNDING

_ROWS_MIN = 64
_BLOCK_NUMBERS_MAX = 8_192  # OpenBLAS calls threads for products of more than 9,216
_NO_WORDS = -1

# What can't be compared is nearer than anything, but not than a floor that lets nothing in.
_NEAREST = float(np.finfo(np.float32).max)

# A row is an answer. What is lost can't be judged, so any news ends it. Of the floors, -inf lets
# everything in, 0 whatever has anything in common, inf nothing.
_ROW = np.dtype(
    [
        ("turn", "u4"),
        ("is_live", "?"),
        ("is_lost", "?"),
        ("is_dated", "?"),
        ("sees_others", "?"),
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
    """All answers of one tenant, by what they depend on.

    The records are those of `index.invalidation.answer_dependencies`.
    """

    def __init__(self) -> None:
        self._rows: dict[str, int] = {}
        self._keys: list[str | None] = []
        self._free: list[int] = []
        self._table: Table = np.zeros(_ROWS_MIN, _ROW)
        self._audiences = _Shared(answer_dependencies.audience)
        self._analyses = _Shared(answer_dependencies.analysis)
        self._meanings: dict[str, _Meanings] = {}
        self._words = Postings(WEIGHED_NOTE)
        self._candidates = Postings()
        self._shown = Postings()
        self._documents = Postings()

    def __len__(self) -> int:
        return len(self._rows)

    def add(self, key: str, record: bytes) -> None:
        """Put the answer under its key, in the place of one that was there."""
        self.discard(key)
        row = self._free.pop() if self._free else self._new_row()
        self._rows[key] = row
        self._keys[row] = key
        try:
            self._enter(row, answer_dependencies.decode_record(record))
        except Unreadable:
            self._table[row]["is_lost"] = True

    def discard(self, key: str) -> None:
        row = self._rows.pop(key, None)
        if row is None:
            return
        left = self._table[row]
        if left["is_live"]:
            self._leave(row, int(left["audience"]), int(left["analysis"]))
        turn = left["turn"]
        self._table[row] = np.zeros((), _ROW)
        self._table[row]["turn"] = turn + np.uint32(1)
        self._keys[row] = None
        self._free.append(row)
        turns = self._table["turn"]
        for postings in (self._words, self._candidates, self._shown, self._documents):
            postings.sweep(turns)

    def invalidated(self, news: ChangeSet) -> set[str]:
        """The keys of all answers that may be others at the revision of the news."""
        table = self._table[: len(self._keys)]
        turns = np.ascontiguousarray(table["turn"])
        concerned = table["sees_others"] if news.partition == PUBLIC else table["is_live"]
        doomed = table["is_lost"] | (concerned & self._is_otherwise(news, table))
        for postings, numbers in (
            (self._candidates, news.removed),
            (self._shown, news.removed | news.moved),
            (self._documents, news.documents),
        ):
            doomed[postings.rows(numbers, turns)] = True
        may_see = _VisibleChunks(self._audiences, news.partition)
        for arrival, reached in self._reached(news.changed_chunks, table, turns):
            rows = np.flatnonzero(reached & concerned & ~doomed)
            doomed[rows[may_see(arrival, table["audience"][rows])]] = True
        return {key for row in np.flatnonzero(doomed) if (key := self._keys[row]) is not None}

    def _new_row(self) -> int:
        row = len(self._keys)
        self._keys.append(None)
        self._table = _with_row(self._table, row)
        return row

    def _enter(self, row: int, parts: DependencyRecord) -> None:
        """Raises `Unreadable`, and then nothing has entered."""
        audience = self._audiences.number(parts.audience)
        analysis = self._analyses.number(parts.analysis)
        scope, wanted = self._audiences[audience]
        space, _ = self._analyses[analysis]
        meanings = self._meanings.get(space) or _Meanings(len(parts.dense))
        meanings.enter(row, parts.dense)
        self._meanings[space] = meanings
        self._audiences.hold(audience)
        self._analyses.hold(analysis)
        turn = self._table[row]["turn"]
        self._table[row] = (
            turn,
            True,
            False,
            wanted.updated_after is not None or wanted.updated_before is not None,
            scope.public,
            audience,
            analysis,
            _NO_WORDS if parts.words is None else parts.words,
            parts.alpha,
            parts.fused_floor,
            -math.inf if parts.dense_floor is None else parts.dense_floor,
            0.0 if parts.lexical_floor is None else parts.lexical_floor,
        )
        self._note(row, turn, parts)

    def _note(self, row: int, turn: int, parts: DependencyRecord) -> None:
        weighed = np.empty(len(parts.terms), WEIGHED_NOTE)
        weighed["row"], weighed["turn"], weighed["weight"] = row, turn, parts.weights
        self._words.add(parts.terms.tolist(), _each(weighed))
        note = repeat(np.array((row, turn), NOTE).tobytes())
        self._candidates.add(parts.candidates.tolist(), note)
        self._shown.add(parts.shown.tolist(), note)
        self._documents.add(parts.documents.tolist(), note)

    def _leave(self, row: int, audience: int, analysis: int) -> None:
        space, _ = self._analyses[analysis]
        if not self._meanings[space].leave(row):
            del self._meanings[space]
        self._audiences.release(audience)
        self._analyses.release(analysis)

    def _is_otherwise(self, news: ChangeSet, table: Table) -> NDArray[np.bool_]:
        """Whose question would now be put, or looked up, in another way, whatever has come."""
        at_home = news.partition != PUBLIC
        is_other = [
            (languages is not None and not news.languages <= languages)
            or (at_home and news.space not in {None, space})
            for space, languages in self._analyses.all()
        ]
        otherwise: NDArray[np.bool_] = np.array([*is_other, False])[table["analysis"]]
        if at_home:
            otherwise |= (table["words"] != _NO_WORDS) & (table["words"] != news.words)
        if (
            news.removed or news.changed_chunks or news.moved or news.documents
        ):  # and all of it at a time
            otherwise |= table["is_dated"]
        return otherwise

    def _reached(
        self, arrivals: Sequence[ChangedChunk], table: Table, turns: NDArray[np.uint32]
    ) -> Iterator[tuple[ChangedChunk, NDArray[np.bool_]]]:
        """Each arrival, and whose hits or legs it would get into if it may be seen."""
        alphas, fused_floors, dense_floors, lexical_floors = (
            np.ascontiguousarray(table[name])
            for name in ("alpha", "fused_floor", "dense_floor", "lexical_floor")
        )
        for arrival in arrivals:
            words = self._words.products(arrival.lexical, turns) * (1 + _LEXICAL_MARGIN)
            reached = (words > 0) & (words >= lexical_floors)
            fused = words  # of what can't be compared by meaning
            for space, held in self._meanings.items():
                if arrival.space in {None, space}:
                    is_there = np.array([name == space for name, _ in self._analyses.all()])
                    compared = is_there[table["analysis"]]
                    near = held.similarities(arrival.dense, len(table)) + held.margin
                    reached |= compared & (near >= dense_floors)
                    fused = np.where(compared, alphas * near + (1 - alphas) * words, fused)
            yield arrival, reached | ((fused > 0) & (fused >= fused_floors))


class _VisibleChunks:
    """Who may see what has come; asked about few, for few are reached."""

    def __init__(self, audiences: "_Shared[tuple[Scope, Filter]]", partition: str) -> None:
        self._audiences = audiences
        self._partition = partition

    def __call__(self, arrival: ChangedChunk, audiences: NDArray[np.int32]) -> NDArray[np.bool_]:
        """Of each audience, whether the arrival is one of its documents."""
        may_see = np.zeros(len(self._audiences), np.bool_)
        for audience in np.unique(audiences).tolist():
            scope, wanted = self._audiences[audience]
            may_see[audience] = self._is_in_scope(arrival, scope) and wanted.admits(
                document_id=arrival.document_id,
                source=arrival.source,
                language=arrival.language,
                tags=arrival.tags,
                metadata=arrival.metadata,
                updated_at=arrival.updated_at,
                kind=arrival.kind,
            )
        result: NDArray[np.bool_] = may_see[audiences]
        return result

    def _is_in_scope(self, arrival: ChangedChunk, scope: Scope) -> bool:
        if self._partition == PUBLIC:
            return scope.public and arrival.tenant != scope.tenant and PUBLIC in arrival.readers
        return arrival.tenant == scope.tenant and scope.admits(arrival.owner, arrival.readers)


class _Meanings:
    """The vectors of the queries in one space, a row each, at length one."""

    def __init__(self, width: int) -> None:
        self._width = width
        self._matrix = np.zeros((_ROWS_MIN, width), np.float32)
        self._count = 0

    def enter(self, row: int, vector: NDArray[np.float16]) -> None:
        """Raises `Unreadable` if the vector has no direction, or is not as wide as the rest."""
        wide = vector.astype(np.float64)
        length = math.sqrt(wide @ wide)
        if len(vector) != self._width or not length:
            raise Unreadable("the query has no vector to compare")
        self._matrix = _with_row(self._matrix, row)
        self._matrix[row] = wide / length
        self._count += 1

    def leave(self, row: int) -> int:
        """How many are left."""
        self._matrix[row] = 0
        self._count -= 1
        return self._count

    @property
    def margin(self) -> float:
        """What PostgreSQL's similarities may be greater by than ours."""
        return _DENSE_ROUNDINGS * (self._width + 1) * _ROUNDING

    def similarities(self, vector: NDArray[np.float32], rows: int) -> NDArray[np.float32]:
        """Of the vector and each of so many rows, 0 where there is none."""
        wide = vector.astype(np.float64)
        length = math.sqrt(wide @ wide)
        if len(vector) != self._width or not length:
            # PostgreSQL takes what can't be compared for the nearest of all.
            return np.full(rows, _NEAREST, np.float32)
        return self._products((wide / length).astype(np.float32), rows)

    def _products(self, vector: NDArray[np.float32], rows: int) -> NDArray[np.float32]:
        """Of the vector and each of so many rows, 0 where there is none.

        In blocks that OpenBLAS shares with no other thread: on a busy machine its threads wait for
        each other, and 10,000 rows took 8 ms instead of 0.15.
        """
        block = 1 << max(1, _BLOCK_NUMBERS_MAX // self._width).bit_length() - 1
        block = min(block, len(self._matrix))  # a power of two as well
        blocks = self._matrix[: -(-rows // block) * block].reshape(-1, block, self._width)
        products = np.zeros(rows, np.float32)
        made = (blocks @ vector).reshape(-1)[:rows]
        products[: len(made)] = made
        return products


class _Shared(Generic[T]):
    """Parts that many records have in common: each is read and kept once, while one holds it."""

    def __init__(self, read: Callable[[bytes], T]) -> None:
        self._read = read
        self._numbers: dict[bytes, int] = {}
        self._parts: list[bytes] = []
        self._held: list[T] = []
        self._holders: list[int] = []
        self._free: list[int] = []

    def __len__(self) -> int:
        return len(self._held)

    def __getitem__(self, number: int) -> T:
        return self._held[number]

    def all(self) -> Sequence[T]:
        """By number; some that nobody holds any more among them."""
        return self._held

    def number(self, part: bytes) -> int:
        """Of the part. Raises `Unreadable`."""
        number = self._numbers.get(part)
        if number is not None:
            return number
        held = self._read(part)
        if self._free:
            number = self._free.pop()
            self._parts[number], self._held[number] = part, held
        else:
            number = len(self._held)
            self._parts.append(part)
            self._held.append(held)
            self._holders.append(0)
        self._numbers[part] = number
        return number

    def hold(self, number: int) -> None:
        self._holders[number] += 1

    def release(self, number: int) -> None:
        self._holders[number] -= 1
        if not self._holders[number]:
            del self._numbers[self._parts[number]]
            self._free.append(number)


def _with_row(rows: NDArray[Any], row: int) -> NDArray[Any]:
    """The rows, or twice as many with the same ones first, so that this one is among them."""
    while row >= len(rows):
        rows = np.concatenate((rows, np.zeros_like(rows)))
    return rows


def _each(notes: NDArray[Any]) -> Iterator[bytes]:
    held, size = notes.tobytes(), notes.itemsize
    return (held[at : at + size] for at in range(0, len(held), size))
