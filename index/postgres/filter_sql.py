"""The conditions of filters as SQL: fragments of constant text, and the arguments that they take.

A condition has a parameter of its own, or a key in the JSON object that is the last parameter of
filters: so a new condition moves no parameter of the statements that include the fragments.

Pure.
"""

from collections.abc import Mapping
from operator import attrgetter
from typing import Any

from index.model.conditions.condition import FilterCondition
from index.model.query import CONDITIONS, Filter

_FIRST = 5  # parameter, after those of the scope
_OWN = {name: each for name, each in CONDITIONS.items() if each.parameter is not None}
_OTHERS = {
    name: each
    for name, each in CONDITIONS.items()
    if each.sql is not None and each.parameter is None
}
_OBJECT = f"${_FIRST + len(_OWN)}::jsonb"
_own_values, _other_values = attrgetter(*_OWN), attrgetter(*_OTHERS)
_NO_OTHERS = (None,) * len(_OTHERS)


def _fragments() -> Mapping[str, str]:
    """By name: whether the filter admits a row of `documents`, and whether there is a filter."""
    own = {f"${_FIRST + at}::{each.parameter}": each for at, each in enumerate(_OWN.values())}
    others = {f"({_OBJECT} -> '{name}')": each for name, each in _OTHERS.items()}
    of_object = "\n    AND ".join(_condition(argument, each) for argument, each in others.items())
    conditions = [_condition(argument, each) for argument, each in own.items()]
    conditions.append(f"({_OBJECT} IS NULL OR (\n    {of_object}\n))")
    is_absent = " AND ".join(f"{argument} IS NULL" for argument in (*own, _OBJECT))
    return {"passes_filter": "\nAND ".join(conditions), "is_filtered": f"NOT ({is_absent})"}


def arguments(document_filter: Filter) -> tuple[Any, ...]:
    """In the order of the parameters, from the fifth on."""
    own, others = _own_values(document_filter), _other_values(document_filter)
    if others == _NO_OTHERS:
        return (*own, None)
    asked = zip(_OTHERS.items(), others, strict=True)
    given = {name: each.argument(value) for (name, each), value in asked if value is not None}
    return (*own, given)


def _condition(argument: str, condition: FilterCondition[Any]) -> str:
    assert condition.sql is not None
    text = condition.sql.strip().replace(":value", argument)
    return f"({argument} IS NULL OR ({text}))"


FRAGMENTS = _fragments()
