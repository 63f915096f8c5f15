"""A shard in a file, whose arrays every process of the machine can map instead of copying them.

The file is a magic word with the version of the format, a digest of all that follows, the length of
the header, the header as JSON, and the arrays, each at a multiple of `_ALIGNMENT` bytes. A file is
written once and never changed.

Reading a file runs no code from it. It compares the lengths in the header with the file's size, and
checks each number that is used as a place in an array. A file with a mistake raises `Unusable`.
"""

import hashlib
import math
import mmap
import os
import stat
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, NonNegativeInt, ValidationError

from index.resident import columns
from index.resident.columns import ArrayColumns
from index.resident.exact_scores import SumOrder
from index.resident.labels import Audiences, Labels
from index.resident.segment import ShardSegment
from index.resident.shard import ChunkLabels, PartitionStats, Shard
from index.vocabulary.resident_words import ResidentWords

_MAGIC = b"nhshard2"  # its last byte is the version of the format
_DIGEST = hashlib.sha256  # most processors have instructions for it: 0.6 ms a MB, BLAKE2b 1.4
_DIGEST_BYTES = 32
_LENGTH_BYTES = 8  # of the header's length
_BEFORE_HEADER = len(_MAGIC) + _DIGEST_BYTES + _LENGTH_BYTES
_ALIGNMENT = 64  # bytes; a cache line


class Unusable(Exception):
    """The file is not the shard that was asked for, or not a shard."""


class _Place(BaseModel):
    """Where an array is. start: in bytes, after the header."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    dtype: str
    shape: tuple[NonNegativeInt, ...]
    start: NonNegativeInt


class _Header(BaseModel):
    """edition: of the code and the index. labels: the values in the order of their codes."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    edition: str
    partition: str
    history: str
    revision: NonNegativeInt
    space: str | None
    labels: dict[str, list[str | tuple[str, ...]]]
    plain: dict[str, Any]
    arrays: dict[str, _Place]


@dataclass(frozen=True, slots=True, eq=False)
class _Base:
    """What is in the file as columns; see `Shard`."""

    segment: ShardSegment
    stats: PartitionStats
    sums: SumOrder
    words: ResidentWords | None

    def is_consistent(self, label_counts: Sequence[int]) -> bool:
        """Whether the columns fit together; `label_counts` as in `ShardSegment`."""
        has_words = self.words is None or self.words.is_consistent()
        return has_words and self.segment.is_consistent(label_counts)


def write(file: BinaryIO, shard: Shard, edition: str) -> None:
    """Write a shard of one segment without deleted rows. Labels that no chunk has are left out.

    Raises `OSError`.
    """
    (segment,) = shard.segments
    assert shard.live[0].all(), "a base has no deleted rows"
    codes, labels = _used_labels(segment, shard.labels)
    base = _Base(replace(segment, labels=codes), shard.stats, shard.sums, shard.words)
    parts = columns.split(base)
    places, start = {}, 0
    for name, array in parts.arrays.items():
        places[name] = _Place(dtype=array.dtype.str, shape=array.shape, start=start)
        start += _padded(array.nbytes)
    header = _Header(
        edition=edition,
        partition=shard.partition,
        history=shard.history,
        revision=shard.revision,
        space=shard.space,
        labels=labels,
        plain=dict(parts.plain),
        arrays=places,
    )
    _write_blocks(file, header.model_dump_json().encode(), parts.arrays.values())


def read(path: Path, *, partition: str, edition: str, bytes_max: int) -> Shard:
    """The shard of the file, whose arrays are read-only views on the mapped file.

    Raises `FileNotFoundError`, `Unusable`, and other `OSError`s. Reads the whole file, so it takes
    about 0.6 ms a MB.
    """
    mapped = _map(path, bytes_max)
    header, first = _checked_header(mapped)
    if (header.partition, header.edition) != (partition, edition):
        raise Unusable("it is of another partition, another version of Nearhit or another index")
    try:
        found = ArrayColumns(
            {name: _array(mapped, first, place) for name, place in header.arrays.items()},
            header.plain,
        )
        labels = _labels(header.labels)
        base = columns.join(_Base, found)
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        raise Unusable(f"its columns are not those of a shard: {error!r}") from None
    sizes = [len(getattr(labels, each.name)) for each in fields(ChunkLabels)]
    if not base.is_consistent(sizes):
        raise Unusable("its columns contradict each other")
    return Shard(
        partition=partition,
        history=header.history,
        revision=header.revision,
        space=header.space,
        stats=base.stats,
        sums=base.sums,
        labels=labels,
        words=base.words,
        segments=(base.segment,),
        live=(np.ones(len(base.segment), np.bool_),),
    )


def _used_labels(
    segment: ShardSegment, labels: ChunkLabels
) -> tuple[NDArray[np.int32], dict[str, list[Any]]]:
    """The codes of the segment's chunks among the labels that they have, and these labels."""
    codes = np.empty_like(segment.labels)
    used: dict[str, list[Any]] = {}
    for row, field in enumerate(fields(ChunkLabels)):
        values = getattr(labels, field.name).values()
        kept, codes[row] = np.unique(segment.labels[row], return_inverse=True)
        used[field.name] = [values[code] for code in kept.tolist()]
    return codes, used


def _labels(values: Mapping[str, Sequence[Any]]) -> ChunkLabels:
    """Raises `KeyError` and `ValueError`."""
    labels: dict[str, Any] = {
        each.name: (Audiences if each.name == "audiences" else Labels).of(values[each.name])
        for each in fields(ChunkLabels)
    }
    return ChunkLabels(**labels)


def _write_blocks(file: BinaryIO, header: bytes, arrays: Iterable[NDArray[Any]]) -> None:
    digest = _DIGEST()
    file.write(bytes(_BEFORE_HEADER - _LENGTH_BYTES))
    for block in _blocks(header, arrays):
        digest.update(block)
        file.write(block)
    file.seek(0)
    file.write(_MAGIC + digest.digest())


def _blocks(header: bytes, arrays: Iterable[NDArray[Any]]) -> Iterator[bytes | memoryview]:
    yield len(header).to_bytes(_LENGTH_BYTES, "little")
    yield header
    yield bytes(_padded(_BEFORE_HEADER + len(header)) - _BEFORE_HEADER - len(header))
    for array in arrays:
        yield np.ascontiguousarray(array).reshape(-1).view(np.uint8).data
        yield bytes(_padded(array.nbytes) - array.nbytes)


def _padded(size_bytes: int) -> int:
    return -(-size_bytes // _ALIGNMENT) * _ALIGNMENT


def _map(path: Path, bytes_max: int) -> mmap.mmap:
    """The file in memory, if this user alone can have written it."""
    # A named pipe must not block, and a link is not followed.
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode) or not is_private(status):
            raise Unusable("it is not a file of this user alone")
        if not _BEFORE_HEADER < status.st_size <= bytes_max:
            raise Unusable("it is too short or too long")
        return mmap.mmap(descriptor, status.st_size, access=mmap.ACCESS_READ)
    finally:
        os.close(descriptor)


def is_private(status: os.stat_result) -> bool:
    """Whether a file or folder belongs to this user and nobody else has any right to it."""
    return status.st_uid == os.geteuid() and not status.st_mode & 0o077


def _checked_header(mapped: mmap.mmap) -> tuple[_Header, int]:
    """The header, and where the arrays begin."""
    if mapped[: len(_MAGIC)] != _MAGIC:
        raise Unusable("it is no shard of this format")
    covered = len(_MAGIC) + _DIGEST_BYTES
    with memoryview(mapped) as whole, whole[covered:] as rest:
        if _DIGEST(rest).digest() != mapped[len(_MAGIC) : covered]:
            raise Unusable("its bytes are not those that were written")
    end = _BEFORE_HEADER + int.from_bytes(mapped[covered:_BEFORE_HEADER], "little")
    if end > len(mapped):
        raise Unusable("its header is longer than the file")
    try:
        return _Header.model_validate_json(mapped[_BEFORE_HEADER:end]), _padded(end)
    except ValidationError as error:
        raise Unusable(f"its header is wrong: {error.error_count()} errors") from None


def _array(mapped: mmap.mmap, first: int, place: _Place) -> NDArray[Any]:
    """A view on the mapped file. Raises `TypeError` and `ValueError`."""
    dtype, count = np.dtype(place.dtype), math.prod(place.shape)
    if dtype.kind not in "iufb" or first + place.start + count * dtype.itemsize > len(mapped):
        raise ValueError("an array that is not in the file, or not of numbers")
    return np.frombuffer(mapped, dtype, count, first + place.start).reshape(place.shape)
