"""What makes a search plan valid, beyond the form of its fields. Does no I/O.

Each function raises a 422 `Problem` that names the field of the step.
"""

from collections.abc import Collection, Mapping, Sequence

from gateway.extension import problems, require_within_limits
from gateway.extensions.plans.plan_schemas import (
    PlanBody,
    SearchStepBody,
    SetStepBody,
    StepBody,
)
from index.model.conditions.names import VALUES_MAX
from index.model.query import CONDITIONS

_REFUSED = ("history", "gate", "context", "vector")


def require_valid_plan(plan: PlanBody) -> None:
    names = [step.name for step in plan.steps]
    hits_max: dict[str, int] = {}
    for number, step in enumerate(plan.steps):
        path = f"steps.{number}."
        if step.name in hits_max:
            raise problems.invalid_field(f"{path}name", f"two steps have the name {step.name}")
        if isinstance(step, SearchStepBody):
            _require_valid_search(step, path)
            _require_valid_references(step, path, names, hits_max)
        else:
            _require_valid_operands(step, path, names, hits_max)
        hits_max[step.name] = _hits_max(step, hits_max)
    _require_valid_output(plan.output or (), names)


def _hits_max(step: StepBody, earlier: Mapping[str, int]) -> int:
    if isinstance(step, SearchStepBody):
        return step.top_k
    operands = [earlier[name] for name in step.of]
    most = sum(operands) if step.operation == "union" else operands[0]
    return most if step.top_k is None else min(most, step.top_k)


def _require_valid_search(step: SearchStepBody, path: str) -> None:
    require_within_limits(step, path)
    if (name := step.first_used(_REFUSED)) is not None:
        raise problems.invalid_field(f"{path}{name}", "needs a search with a call of its own")


def _require_valid_references(
    step: SearchStepBody, path: str, names: Sequence[str], earlier: Mapping[str, int]
) -> None:
    for field, reference in step.filter.references.items():
        place = f"{path}filter.{field}.from"
        _require_earlier(reference.step, step.name, place, names, earlier)
        if reference.property_name != (taken := CONDITIONS[field].takes):
            expected = f"{reference.step}.{taken}"
            raise problems.invalid_field(place, f"must be {expected}: {field} takes no others")
        found = earlier[reference.step]
        if found > VALUES_MAX and reference.property_name != "tags":
            raise problems.invalid_field(
                place,
                f"step {reference.step} can find {found:,} hits, and a filter takes {VALUES_MAX} "
                "values: lower its top_k",
            )


def _require_valid_operands(
    step: SetStepBody, path: str, names: Sequence[str], earlier: Collection[str]
) -> None:
    for number, name in enumerate(step.of):
        place = f"{path}of.{number}"
        _require_earlier(name, step.name, place, names, earlier)
        if name in step.of[:number]:
            raise problems.invalid_field(place, f"names step {name} twice")


def _require_earlier(
    name: str, of_step: str, place: str, names: Sequence[str], earlier: Collection[str]
) -> None:
    if name in earlier:
        return
    if name == of_step:
        reason = f"step {name} uses itself: a step uses steps before it alone"
    elif name in names:
        reason = f"step {name} comes after step {of_step}: a step uses steps before it alone"
    else:
        reason = f"no step has the name {name}"
    raise problems.invalid_field(place, reason)


def _require_valid_output(output: Sequence[str], names: Collection[str]) -> None:
    for number, name in enumerate(output):
        if name not in names:
            raise problems.invalid_field(f"output.{number}", f"no step has the name {name}")
        if name in output[:number]:
            raise problems.invalid_field(f"output.{number}", f"names step {name} twice")
