"""Conditions on a document's metadata: comparisons of one attribute, and their junctions.

A list attribute is compared item by item; a missing attribute fails every comparison. Only values
of one kind are compared: text by code points, numbers, and booleans. `ne` and `nin` negate `eq` and
`in`. Times are compared as times, however they are written: see `index.model.instant`.

PostgreSQL evaluates a condition as a path over JSON. Values are variables of the path. Keys are in
its text, where each character that is no ASCII letter or digit is escaped: with keys in variables
the path would list all keys of a document for each comparison, which took 40 times as long for 60
comparisons of 60 keys. `meets` evaluates the same condition in Python.

Pure.
"""

import operator
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from index.model import instant

Scalar: TypeAlias = str | int | float | bool
Comparing: TypeAlias = Literal["eq", "ne", "gt", "gte", "lt", "lte", "in", "nin"]
Joining: TypeAlias = Literal["and", "or"]

_NO_LETTER_OR_DIGIT = re.compile("[^A-Za-z0-9]")

_TRUE = "1 == 1"  # an `and` of no parts

NEGATED = {"ne": "eq", "nin": "in"}
_OPERATORS: Mapping[str, tuple[str, Callable[[Any, Any], bool]]] = {
    "eq": ("==", operator.eq),
    "in": ("==", operator.eq),
    "gt": (">", operator.gt),
    "gte": (">=", operator.ge),
    "lt": ("<", operator.lt),
    "lte": ("<=", operator.le),
}


@dataclass(frozen=True, slots=True)
class Condition:
    """A comparison of the attribute `key` with any of the values, or a junction of the parts."""

    type: Comparing | Joining
    key: str = ""
    values: tuple[Scalar, ...] = ()
    parts: tuple["Condition", ...] = ()

    @classmethod
    def from_json(cls, fields: Mapping[str, Any]) -> "Condition":
        """The condition from its JSON form. Raises `KeyError` and `TypeError`."""
        parts = tuple(cls.from_json(part) for part in fields["parts"])
        return cls(fields["type"], fields["key"], tuple(fields["values"]), parts)


def meets(metadata: Mapping[str, Any], condition: Condition) -> bool:
    match condition.type:
        case "and":
            return all(meets(metadata, part) for part in condition.parts)
        case "or":
            return any(meets(metadata, part) for part in condition.parts)
        case "ne" | "nin":
            return not _compares(metadata, condition, NEGATED[condition.type])
        case _:
            return _compares(metadata, condition, condition.type)


def path(condition: Condition) -> tuple[str, dict[str, Any]]:
    """The condition as PostgreSQL's `jsonpath` over the metadata, and the path's variables."""
    variables: dict[str, Any] = {}
    return _path(condition, variables), variables


def _compares(metadata: Mapping[str, Any], condition: Condition, name: str) -> bool:
    if condition.key not in metadata:
        return False
    attribute = metadata[condition.key]
    compare = _OPERATORS[name][1]
    return any(
        _kind(item) == _kind(value) and compare(item, value)
        for item in (attribute if isinstance(attribute, list | tuple) else (attribute,))
        for value in _operands(condition)
    )


def _operands(condition: Condition) -> list[Scalar]:
    """The values, a time in the spellings that the comparison has to meet."""
    operands: list[Scalar] = []
    for value in condition.values:
        same = instant.spellings(value) if isinstance(value, str) else (value,)
        match condition.type:
            case "gt" | "lte":
                operands.append(same[-1])
            case "gte" | "lt":
                operands.append(same[0])
            case _:
                operands += same
    return operands


def _kind(value: Any) -> str:
    """The kind of a JSON value; a boolean is no number."""
    if isinstance(value, bool):
        return "boolean"
    return "number" if isinstance(value, int | float) else type(value).__name__


def _path(condition: Condition, variables: dict[str, Any]) -> str:
    if condition.type in ("and", "or"):
        joint = " && " if condition.type == "and" else " || "
        return f"({joint.join(_parts(condition, variables)) or _TRUE})"
    values = f"v{len(variables)}"
    variables[values] = _operands(condition)
    sql_operator = _OPERATORS[NEGATED.get(condition.type, condition.type)][0]
    # Lax: lists are compared item by item, on both sides.
    comparison = f'exists($."{_escaped(condition.key)}" ? (@ {sql_operator} ${values}))'
    return f"!({comparison})" if condition.type in NEGATED else comparison


def _escaped(key: str) -> str:
    """The key within quotes in a path; no character that is left as it is ends or escapes it."""
    return _NO_LETTER_OR_DIGIT.sub(_escape, key)


def _escape(character: re.Match[str]) -> str:
    units = character[0].encode("utf-16-be")
    return "".join(f"\\u{units[at : at + 2].hex()}" for at in range(0, len(units), 2))


def _parts(condition: Condition, variables: dict[str, Any]) -> Iterator[str]:
    for part in condition.parts:
        yield _path(part, variables)
