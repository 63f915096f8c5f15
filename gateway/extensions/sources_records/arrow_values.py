"""The values of an Arrow column, also of types that Python lacks, such as nanoseconds."""

from collections.abc import Callable
from typing import Any

import pyarrow as pa

_ONE_SECOND = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}


def values(column: pa.Array) -> list[Any]:
    """A value for each row; times and durations are text, and a value that has no text is None.

    Times with a zone are in UTC, as Arrow stores them: no table of zones is needed.
    """
    if isinstance(column, pa.DictionaryArray):
        terms = values(column.dictionary)  # decoded, a long one would be there for each row
        return [None if index is None else terms[index] for index in column.indices.to_pylist()]
    if isinstance(column, pa.ExtensionArray):
        if column.type == pa.uuid():
            return [cell and str(cell) for cell in column.to_pylist()]
        column = column.storage
    kind = column.type
    try:
        if pa.types.is_timestamp(kind) and kind.tz is not None:
            return [time and f"{time}+00:00" for time in values(_without_zones(column))]
        if pa.types.is_duration(kind):
            return [_seconds(number, kind.unit) for number in column.cast(pa.int64()).to_pylist()]
        if pa.types.is_time(kind):
            return [time and _trimmed(time) for time in column.cast(pa.string()).to_pylist()]
        text = _without_zones(column).cast(_replaced(kind, _as_text))
        cells = _as_python(text)
    except MemoryError:  # Arrow's is an ArrowException too
        raise
    except (pa.ArrowException, ValueError, OverflowError):
        return [_value(cell) for cell in column]
    if text.type != kind:
        cells = _each(cells, _in_range)
    return [cell and dict(cell) for cell in cells] if pa.types.is_map(kind) else cells


def _as_python(column: pa.Array) -> Any:
    """A byte that is wrong in UTF-8 costs a character, as in other files."""
    try:
        return column.to_pylist()
    except UnicodeDecodeError:
        return _each(column.cast(_replaced(column.type, _as_bytes)).to_pylist(), _decoded)


def _value(cell: pa.Scalar) -> Any:
    try:
        return cell.as_py()
    except (pa.ArrowException, ValueError, OverflowError):
        return None


def _each(cell: Any, change: Callable[[Any], Any]) -> Any:
    """The cell with each value in it changed that has no parts."""
    match cell:
        case list() | tuple():
            return type(cell)(_each(part, change) for part in cell)
        case dict():
            return {key: _each(part, change) for key, part in cell.items()}
        case _:
            return change(cell)


def _in_range(cell: Any) -> Any:
    is_outside = isinstance(cell, str) and cell.startswith("<value out of range")  # Arrow's words
    return None if is_outside else cell


def _decoded(cell: Any) -> Any:
    return cell.decode(errors="replace") if isinstance(cell, bytes) else cell


def _without_zones(column: pa.Array) -> pa.Array:
    return column.cast(_replaced(column.type, _utc))


def _utc(kind: pa.DataType) -> pa.DataType:
    return pa.timestamp(kind.unit) if pa.types.is_timestamp(kind) else kind


def _as_text(kind: pa.DataType) -> pa.DataType:
    if pa.types.is_duration(kind):
        return pa.int64()
    return pa.string() if pa.types.is_temporal(kind) else kind


def _as_bytes(kind: pa.DataType) -> pa.DataType:
    is_text = pa.types.is_string(kind) or pa.types.is_large_string(kind)
    return pa.large_binary() if is_text else kind


def _replaced(kind: pa.DataType, leaf: Any) -> pa.DataType:
    """The type with each type in it that has no parts replaced."""
    if pa.types.is_struct(kind):
        return pa.struct([part.with_type(_replaced(part.type, leaf)) for part in kind])
    if pa.types.is_fixed_size_list(kind):
        return pa.list_(_replaced(kind.value_type, leaf), kind.list_size)
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        make = pa.list_ if pa.types.is_list(kind) else pa.large_list
        return make(kind.value_field.with_type(_replaced(kind.value_type, leaf)))
    if pa.types.is_map(kind):
        return pa.map_(_replaced(kind.key_type, leaf), _replaced(kind.item_type, leaf))
    return leaf(kind)


def _seconds(number: int | None, unit: str) -> str | None:
    if number is None:
        return None
    whole, part = divmod(abs(number), _ONE_SECOND[unit])
    digits = len(str(_ONE_SECOND[unit])) - 1
    return _trimmed(f"{'-' if number < 0 else ''}{whole}.{part:0{digits}}") + " s"


def _trimmed(text: str) -> str:
    return text.rstrip("0").rstrip(".") if "." in text else text
