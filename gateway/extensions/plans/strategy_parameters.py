"""The values of a strategy's parameters. Does no I/O."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from gateway.extension import problems
from gateway.extensions.plans.strategy_schemas import ParameterBody
from index.model.conditions.names import VALUES_MAX
from index.model.document import UNSTORABLE

Value: TypeAlias = Any  # a string, strings, a number or a boolean: what the parameter's type says
Definitions: TypeAlias = Mapping[str, ParameterBody]


def values_of(definitions: Definitions, given: Mapping[str, Value]) -> Mapping[str, Value]:
    """The value of each parameter: the given one, or its default.

    A 422 `Problem` for a value that does not fit, one that is missing, and one of no parameter.
    """
    for name in given:
        if name not in definitions:
            known = ", ".join(sorted(definitions)) or "none"
            raise problems.invalid_field(
                f"parameters.{name}", f"the strategy has no such parameter; it has {known}"
            )
    values = {}
    for name, parameter in definitions.items():
        value = given.get(name, parameter.default)
        reason = "must be set" if value is None else misfit(parameter, value)
        if reason:
            raise problems.invalid_field(f"parameters.{name}", reason)
        values[name] = value
    return values


def misfit(parameter: ParameterBody, value: Value) -> str:
    """Why the value is none of the parameter's; empty if it is one."""
    match parameter.type:
        case "string":
            return _misfit_string(parameter, value)
        case "strings":
            if not isinstance(value, list) or not 1 <= len(value) <= VALUES_MAX:
                return f"must be a list of 1 to {VALUES_MAX} strings"
            return next(filter(None, (_misfit_string(parameter, one) for one in value)), "")
        case "boolean":
            return "" if isinstance(value, bool) else "must be true or false"
        case "integer" | "number":
            return _misfit_number(parameter, value)


def probes(definitions: Definitions) -> Iterator[Mapping[str, Value]]:
    """Values to try a plan with: each default, bound and listed value comes once at least."""
    candidates = {name: _candidates(parameter) for name, parameter in definitions.items()}
    for number in range(max(map(len, candidates.values()), default=1)):
        yield {name: values[number % len(values)] for name, values in candidates.items()}


def _candidates(parameter: ParameterBody) -> Sequence[Value]:
    defaults = [] if parameter.default is None else [parameter.default]
    match parameter.type:
        case "string":
            return [*defaults, *_strings(parameter)]
        case "strings":
            return [*defaults, *([one] for one in _strings(parameter))]
        case "boolean":
            return [False, True]
        case "integer" | "number":
            return [*defaults, parameter.minimum, parameter.maximum]


def _strings(parameter: ParameterBody) -> Sequence[str]:
    return parameter.values or ("x", "x" * parameter.characters_max)


def _misfit_string(parameter: ParameterBody, value: Value) -> str:
    if not isinstance(value, str) or not value.strip() or UNSTORABLE.search(value):
        return "must be text"
    if len(value) > parameter.characters_max:
        return f"must have at most {parameter.characters_max:,} characters"
    if parameter.values is not None and value not in parameter.values:
        return f"must be one of {', '.join(parameter.values)}"
    return ""


def _misfit_number(parameter: ParameterBody, value: Value) -> str:
    assert parameter.minimum is not None, "a number has bounds"
    assert parameter.maximum is not None, "a number has bounds"
    kinds = int if parameter.type == "integer" else (int, float)
    if isinstance(value, bool) or not isinstance(value, kinds):
        return f"must be {'an integer' if parameter.type == 'integer' else 'a number'}"
    if not parameter.minimum <= value <= parameter.maximum:
        return f"must be from {parameter.minimum:,} to {parameter.maximum:,}"
    return ""
