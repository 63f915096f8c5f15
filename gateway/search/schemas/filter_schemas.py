"""The filter in the body of a search, made of the table of conditions."""

from collections.abc import Iterable, Mapping
from typing import Any

from pydantic import Field

from gateway.bodies.schemas import Body, with_fields
from index.model.conditions.condition import FilterCondition
from index.model.query import CONDITIONS, Filter

_NO_FILTER = Filter()


def _listed(conditions: Mapping[str, FilterCondition[Any]]) -> Iterable[str]:
    """The names in the order of the body: the conditions on chunks are the last."""
    names = sorted(conditions, key=lambda name: conditions[name].table == "chunks")
    for name in list(names):
        if (other := conditions[name].listed_before) is not None:
            names.remove(name)
            names.insert(names.index(other), name)
    return names


def _field(name: str, condition: FilterCondition[Any]) -> tuple[Any, Any]:
    default = getattr(_NO_FILTER, name)
    kind = condition.field | None if default is None else condition.field
    return kind, Field(default, description=condition.description)


_FIELDS = {name: _field(name, CONDITIONS[name]) for name in _listed(CONDITIONS)}


class FilterBody(with_fields(Body, _FIELDS)):  # type: ignore[misc]  # mypy does not read the table
    """Conditions that a document must meet; they only narrow the scope."""

    def canonical(self) -> Filter:
        values: dict[str, Any] = {}
        for name in self.model_fields_set:
            if (value := getattr(self, name)) is not None:
                values[name] = CONDITIONS[name].canonical(value)
        return Filter(**values)
