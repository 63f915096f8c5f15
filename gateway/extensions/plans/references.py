"""What the filter of a step takes from earlier steps. Does no I/O."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias

from gateway.extensions.plans.plan_schemas import SearchStepBody
from index.model.conditions.names import VALUES_MAX
from index.model.query import CONDITIONS

Hit: TypeAlias = Mapping[str, Any]  # as in the body of an answer
Resolved: TypeAlias = Mapping[str, tuple[str, ...]]  # values by field of the filter


def resolve(step: SearchStepBody, hits: Mapping[str, Sequence[Hit]]) -> Resolved:
    """The values that the step's references stand for, those of better hits first.

    hits: of each step that is referred to, best first. Of more tags than a filter takes,
    the first count.
    """
    return {
        field: _distinct(_values(reference.property_name, hits[reference.step]))[:VALUES_MAX]
        for field, reference in step.filter.references.items()
    }


def finds_nothing(resolved: Resolved) -> bool:
    """Whether a filter with these values admits no document."""
    return any(not values for field, values in resolved.items() if not CONDITIONS[field].excludes)


def resolved_search(step: SearchStepBody, resolved: Resolved) -> SearchStepBody:
    """The step with the values instead of its references."""
    if not resolved:
        return step
    values = {field: found or None for field, found in resolved.items()}
    return step.model_copy(update={"filter": step.filter.model_copy(update=values)})


def _values(property_name: str, hits: Sequence[Hit]) -> Iterable[str]:
    if property_name == "tags":
        return (tag for hit in hits for tag in hit["tags"])
    field = {"sources": "source", "languages": "language"}.get(property_name, "document_id")
    return (hit[field] for hit in hits)


def _distinct(values: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(values))
