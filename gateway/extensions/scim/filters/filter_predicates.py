"""What a filter of SCIM means for the values of a resource: RFC 7644, section 3.4.2.2."""

from collections.abc import Callable, Mapping
from datetime import datetime
from enum import Enum
from typing import Any, NoReturn, TypeAlias

from gateway.extensions.scim.errors import invalid
from gateway.extensions.scim.filters.filter_grammar import (
    AnyValue,
    AttributeExpression,
    Filter,
    Joined,
    Not,
)

Values: TypeAlias = Mapping[str, Any]
Predicate: TypeAlias = Callable[[Values], bool]


class Kind(Enum):
    """How values of an attribute are compared."""

    TEXT = "text"
    FOLDED_TEXT = "text without regard to case"
    BOOLEAN = "boolean"
    INSTANT = "instant"


# The attributes that a filter may name, in lower case because names have no case. Those with parts
# have any number of values.
Attributes: TypeAlias = Mapping[str, "Kind | Mapping[str, Kind]"]


def compile_filter(parsed: Filter, schema: str, attributes: Attributes) -> Predicate:
    """Whether the values of a resource meet the filter; a 400 `Problem` for what has no meaning.

    The predicate takes the values by the names in `attributes`; an attribute with parts is a list.
    """
    match parsed:
        case Joined(operator, terms):
            predicates = [compile_filter(term, schema, attributes) for term in terms]
            holds = all if operator == "and" else any
            return lambda values: holds(predicate(values) for predicate in predicates)
        case Not(term):
            predicate = compile_filter(term, schema, attributes)
            return lambda values: not predicate(values)
        case AnyValue(_, name, condition):
            parts = _kind(parsed, schema, attributes)
            if isinstance(parts, Kind):
                _refuse(f"{name} has no parts.")
            predicate = compile_filter(condition, schema, parts)
            return lambda values: any(map(predicate, values.get(name, ())))
        case AttributeExpression(_, name, operator, value):
            kind = _kind(parsed, schema, attributes)
            if not isinstance(kind, Kind):  # `members eq "ID"` means `members.value eq "ID"`
                of_value = AttributeExpression(None, "value", operator, value)
                return compile_filter(AnyValue(None, name, of_value), schema, attributes)
            test = _test(name, kind, operator, value)
            return lambda values: test(values.get(name))


def _kind(
    named: AttributeExpression | AnyValue, schema: str, attributes: Attributes
) -> Kind | Mapping[str, Kind]:
    if named.attribute not in attributes or (named.schema or schema.lower()) != schema.lower():
        _refuse(f"A filter may name {', '.join(attributes)}, but not {named.attribute}.")
    return attributes[named.attribute]


def _test(name: str, kind: Kind, operator: str, text: str | None) -> Callable[[Any], bool]:
    """What the value of an attribute, None if it has none, has to meet."""
    if operator == "pr":
        return lambda held: held not in (None, "")
    if operator == "ne":
        is_equal = _test(name, kind, "eq", text)
        return lambda held: not is_equal(held)
    if text is None and operator == "eq":
        return lambda held: held is None
    if text is None or (kind is Kind.BOOLEAN and operator != "eq"):
        _refuse(f"{name} can't be compared by {operator} with this value.")
    wanted = _parse_value(name, kind, text)
    compare = _COMPARES[operator]
    if kind is Kind.FOLDED_TEXT:
        return lambda held: held is not None and compare(held.lower(), wanted)
    if kind is Kind.INSTANT and operator in ("co", "sw", "ew"):
        _refuse(f"{name} can't be compared by {operator}.")
    return lambda held: held is not None and compare(held, wanted)


_COMPARES: Mapping[str, Callable[[Any, Any], bool]] = {
    "eq": lambda held, wanted: bool(held == wanted),
    "co": lambda held, wanted: wanted in held,
    "sw": lambda held, wanted: bool(held.startswith(wanted)),
    "ew": lambda held, wanted: bool(held.endswith(wanted)),
    "gt": lambda held, wanted: bool(held > wanted),
    "ge": lambda held, wanted: bool(held >= wanted),
    "lt": lambda held, wanted: bool(held < wanted),
    "le": lambda held, wanted: bool(held <= wanted),
}


def _parse_value(name: str, kind: Kind, text: str) -> str | bool | datetime:
    match kind:
        case Kind.TEXT:
            return text
        case Kind.FOLDED_TEXT:
            return text.lower()
        case Kind.BOOLEAN:
            if text.lower() not in ("true", "false"):
                _refuse(f"{name} is true or false.")
            return text.lower() == "true"
        case Kind.INSTANT:
            try:
                instant = datetime.fromisoformat(text)
            except ValueError:
                _refuse(f"{name} is a time, such as 2026-01-31T12:00:00Z.")
            return instant if instant.tzinfo else _refuse(f"{name} needs a time with its zone.")


def _refuse(detail: str) -> NoReturn:
    raise invalid("invalidFilter", detail)
