"""The conditions of filters as SQL: fragments of constant text, and the arguments that they take.

A condition has a parameter of its own, or a key in the JSON object that is the last parameter of
filters: so a new condition moves no parameter of the statements that include the fragments.

Pure.
"""

from collections.abc import Iterator, Mapping, Sequence
from operator import attrgetter
from typing import Any

from index.model.conditions.condition import FilterCondition, Table
from index.model.query import CONDITIONS, Filter
from index.model.scope import Scope

_FIRST: Mapping[Table, int] = {"documents": 5, "chunks": 22}  # parameter, in `search.sql`


def _named(table: Table, *, has_parameter: bool) -> Sequence[str]:
    return [
        name
        for name, each in CONDITIONS.items()
        if each.table == table and (each.parameter is not None) == has_parameter
    ]


_OWN = {table: _named(table, has_parameter=True) for table in _FIRST}
_OTHERS = {table: _named(table, has_parameter=False) for table in _FIRST}
_KEYS = [*_OTHERS["documents"], *_OTHERS["chunks"]]
_own_values, _other_values = attrgetter(*_OWN["documents"]), attrgetter(*_KEYS)
_NO_OTHERS = (None,) * len(_KEYS)
_OBJECT = f"${_FIRST['documents'] + len(_OWN['documents'])}::jsonb"


def _own_parameters(table: Table) -> Mapping[str, FilterCondition[Any]]:
    rows = [CONDITIONS[name] for name in _OWN[table]]
    return {f"${number}::{row.parameter}": row for number, row in enumerate(rows, _FIRST[table])}


def _fragments() -> Mapping[str, str]:
    """By name: whether the filter admits a row of each table, and whether there is a filter."""
    is_absent = " AND ".join(f"{each} IS NULL" for each in (*_own_parameters("documents"), _OBJECT))
    return {
        "passes_filter": _passes("documents"),
        "passes_chunk_filter": _passes("chunks"),
        "is_filtered": f"NOT ({is_absent})",
    }


def _passes(table: Table) -> str:
    others = {f"({_OBJECT} -> '{name}')": CONDITIONS[name] for name in _OTHERS[table]}
    conditions = [*_conditions(_own_parameters(table))]
    if others:
        of_object = "\n    AND ".join(_conditions(others))
        conditions.append(f"({_OBJECT} IS NULL OR (\n    {of_object}\n))")
    return "\nAND ".join(conditions)


def _conditions(arguments: Mapping[str, FilterCondition[Any]]) -> Iterator[str]:
    for argument, condition in arguments.items():
        text = condition.sql.strip().replace(":value", argument)
        yield f"({argument} IS NULL OR ({text}))"


def arguments(document_filter: Filter) -> tuple[Any, ...]:
    """In the order of the parameters, from the fifth on."""
    own, others = _own_values(document_filter), _other_values(document_filter)
    if others == _NO_OTHERS:
        return (*own, None)
    asked = zip(_KEYS, others, strict=True)
    given = {name: CONDITIONS[name].argument(value) for name, value in asked if value is not None}
    return (*own, given)


def filter_args(scope: Scope, document_filter: Filter) -> tuple[Any, ...]:
    """The arguments $1 to $12 of each statement of `search.sql`, which `visibility.sql` takes."""
    return (
        scope.tenant,
        scope.grants,
        scope.shared,
        scope.owner,
        *arguments(document_filter),
    )


def chunk_arguments(document_filter: Filter) -> Sequence[Any]:
    """Those of `passes_chunk_filter` alone, in the order of the parameters."""
    return [CONDITIONS[name].argument(getattr(document_filter, name)) for name in _OWN["chunks"]]


FRAGMENTS = _fragments()
