"""The plan of a strategy: its template with values in place of the parameters. Does no I/O."""

from collections.abc import Iterator, Mapping
from typing import Any

from gateway.extension import encode_json, field_errors, problems, schemas
from gateway.extensions.plans import strategy_parameters
from gateway.extensions.plans.plan_check import require_valid_plan
from gateway.extensions.plans.plan_schemas import PLAN_BYTES_MAX, PlanBody
from gateway.extensions.plans.strategy_schemas import StrategyBody

_MARK = "parameter"  # the only name in the object that stands for a parameter's value


def require_valid_strategy(strategy: StrategyBody) -> None:
    """A 422 `Problem` unless the plan is valid with each default, bound and listed value."""
    for name, parameter in strategy.parameters.items():
        if parameter.default is None:
            continue
        reason = strategy_parameters.misfit(parameter, parameter.default)
        if reason:
            raise problems.invalid_field(f"parameters.{name}.default", reason)
    used = dict(_places(strategy.plan))
    for place, name in used.items():
        if name not in strategy.parameters:
            raise problems.invalid_field(f"plan.{place}", f"no parameter has the name {name}")
    for name in strategy.parameters.keys() - set(used.values()):
        raise problems.invalid_field(f"parameters.{name}", "stands nowhere in the plan")
    for values in strategy_parameters.probes(strategy.parameters):
        try:
            _valid_plan(_rendered_json(strategy, values))
        except problems.Problem as problem:
            raise problems.invalid(
                [
                    field_errors.FieldError(f"plan.{error.field}", error.detail)
                    for error in problem.errors
                ]
            ) from None


def rendered_plan(strategy: StrategyBody, given: Mapping[str, Any]) -> bytes:
    """The plan with these values of the parameters, as JSON; a 422 `Problem` that names one.

    Each parameter may stand at many places, so the plan has a limit of its own.
    """
    return _rendered_json(strategy, strategy_parameters.values_of(strategy.parameters, given))


def parse_plan(strategy: StrategyBody, rendered: bytes) -> PlanBody:
    """The plan that `rendered_plan` has made; a 422 `Problem` that names the parameter."""
    try:
        return _valid_plan(rendered)
    except problems.Problem as problem:
        places = dict(_places(strategy.plan))
        raise problems.invalid(
            [_error_of_caller(error, places) for error in problem.errors]
        ) from None


def _rendered_json(strategy: StrategyBody, values: Mapping[str, Any]) -> bytes:
    sizes = {name: len(encode_json(value)) for name, value in values.items()}
    size = len(encode_json(strategy.plan)) + sum(sizes[name] for _, name in _places(strategy.plan))
    if size > PLAN_BYTES_MAX:
        detail = f"make a plan of more than {PLAN_BYTES_MAX:,} bytes"
        raise problems.invalid_field("parameters", detail)
    return encode_json(_rendered(strategy.plan, values))


def _valid_plan(rendered: bytes) -> PlanBody:
    plan = schemas.parse(PlanBody, rendered)
    require_valid_plan(plan)
    return plan


def _rendered(template: Any, values: Mapping[str, Any]) -> Any:
    if (name := _parameter_name(template)) is not None:
        return values[name]
    if isinstance(template, dict):
        return {key: _rendered(part, values) for key, part in template.items()}
    if isinstance(template, list):
        return [_rendered(part, values) for part in template]
    return template


def _places(template: Any, path: str = "") -> Iterator[tuple[str, str]]:
    """The path of each parameter in the template, and its name."""
    if (name := _parameter_name(template)) is not None:
        yield path.removesuffix("."), name
    elif isinstance(template, dict):
        for key, part in template.items():
            yield from _places(part, f"{path}{key}.")
    elif isinstance(template, list):
        for number, part in enumerate(template):
            yield from _places(part, f"{path}{number}.")


def _parameter_name(template: Any) -> str | None:
    if not isinstance(template, dict) or template.keys() != {_MARK}:
        return None
    name = template[_MARK]
    return name if isinstance(name, str) else None


def _error_of_caller(
    error: field_errors.FieldError, places: Mapping[str, str]
) -> field_errors.FieldError:
    """The error at the parameter whose value it is about, or at the strategy."""
    for place, name in places.items():
        if error.field == place or error.field.startswith(f"{place}."):
            return field_errors.FieldError(f"parameters.{name}", error.detail)
    return field_errors.FieldError("strategy", f"{error.field}: {error.detail}")
