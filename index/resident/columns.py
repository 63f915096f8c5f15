"""Dataclasses of arrays, taken apart into named arrays and plain values, and put together again.

A field is an array, a dataclass of such fields, a tuple of these, a plain value that JSON holds, or
None. `LRUCache`s are left out: they are made anew. So a new field is taken along without a line
of code here.

Pure.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass
from types import UnionType
from typing import Any, TypeVar, Union, get_args, get_origin, get_type_hints

import numpy as np
from cachetools import LRUCache
from numpy.typing import NDArray
from pydantic import TypeAdapter

Value = TypeVar("Value")


@dataclass(frozen=True, slots=True, eq=False)
class ArrayColumns:
    """arrays, plain: by the name of the field; those of inner dataclasses are `outer.inner`.

    The dataclasses of a tuple are `outer.0`, `outer.1` and so on, and its length is plain.
    """

    arrays: Mapping[str, NDArray[Any]]
    plain: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class _Field:
    """hint: the type without None. is_optional: whether it may be None."""

    name: str
    hint: Any
    is_optional: bool

    @property
    def is_array(self) -> bool:
        return get_origin(self.hint) is np.ndarray

    @property
    def is_dataclass(self) -> bool:
        return is_dataclass(self.hint)

    @property
    def is_dataclasses(self) -> bool:
        """Whether it is a tuple of any number of dataclasses."""
        return get_origin(self.hint) is tuple and is_dataclass(get_args(self.hint)[0])

    @property
    def dtype(self) -> np.dtype[Any]:
        """Of an array: `NDArray[scalar]` is `ndarray[_, dtype[scalar]]`."""
        (scalar,) = get_args(get_args(self.hint)[1])
        dtype: np.dtype[Any] = np.dtype(scalar)
        return dtype


def split(value: object) -> ArrayColumns:
    """The columns of a dataclass."""
    arrays: dict[str, NDArray[Any]] = {}
    plain: dict[str, Any] = {}
    for field in _fields(type(value)):
        part = getattr(value, field.name)
        if part is None:
            plain[field.name] = None
        elif field.is_array:
            assert part.dtype == field.dtype, f"{field.name} is not of the type that it declares"
            arrays[field.name] = part
        elif field.is_dataclass:
            _add(arrays, plain, field.name, part)
        elif field.is_dataclasses:
            plain[field.name] = len(part)
            for number, each in enumerate(part):
                _add(arrays, plain, f"{field.name}.{number}", each)
        else:
            plain[field.name] = part
    return ArrayColumns(arrays, plain)


def join(kind: type[Value], columns: ArrayColumns, prefix: str = "") -> Value:
    """The dataclass of the columns.

    Raises `KeyError` if a field is missing, and `ValueError` if one is of another type.
    """
    parts: dict[str, Any] = {}
    for field in _fields(kind):
        name = prefix + field.name
        if field.is_optional and columns.plain.get(name, ...) is None:
            parts[field.name] = None
        elif field.is_array:
            parts[field.name] = _array(columns, name, field)
        elif field.is_dataclass:
            parts[field.name] = join(field.hint, columns, f"{name}.")
        elif field.is_dataclasses:
            numbers = range(TypeAdapter(int).validate_python(columns.plain[name]))
            inner = get_args(field.hint)[0]
            parts[field.name] = tuple(join(inner, columns, f"{name}.{each}.") for each in numbers)
        else:
            parts[field.name] = TypeAdapter(field.hint).validate_python(columns.plain[name])
    return kind(**parts)


def _add(arrays: dict[str, NDArray[Any]], plain: dict[str, Any], name: str, value: object) -> None:
    """Add the columns of a dataclass that is the field of this name."""
    inner = split(value)
    arrays |= {f"{name}.{each}": array for each, array in inner.arrays.items()}
    plain |= {f"{name}.{each}": part for each, part in inner.plain.items()}


def _array(columns: ArrayColumns, name: str, field: _Field) -> NDArray[Any]:
    """Raises `KeyError` and `ValueError`."""
    array = columns.arrays[name]
    if array.dtype != field.dtype:
        raise ValueError(f"{name} is not of the type that it declares")
    return array


def _fields(kind: type[object]) -> Iterator[_Field]:
    assert is_dataclass(kind)
    hints = get_type_hints(kind)
    for each in fields(kind):
        hint = hints[each.name]
        alternatives = get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)
        (some,) = {alternative for alternative in alternatives if alternative is not type(None)}
        if get_origin(some) is not LRUCache:
            yield _Field(each.name, some, len(alternatives) > 1)
