"""Filters and paths of SCIM: RFC 7644, sections 3.4.2.2 and 3.5.2.

Beside the grammar, two forms that providers send are understood: values without quotes, and
`emails[type eq "work"].value eq "ana@acme.example"`, as Entra ID asks for a user's address.

The libraries for this grammar refuse the first, and the best kept one takes a second to import.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal, NoReturn, TypeAlias

import orjson

from gateway.extensions.scim.errors import ScimType, invalid
from index.model.document import UNSTORABLE

FILTER_CHARACTERS_MAX = 2_000  # 40 identifiers joined by `or`
_DEPTH_MAX = 10  # of parentheses and brackets
_TOKEN = re.compile(r'\s*("(?:[^"\\]|\\.)*"|[()\[\]]|[^\s()\[\]"]+)')
_ATTRIBUTE = re.compile(
    r"(?:(urn:[\w:.-]+):)?([a-z$][\w$-]*)(?:\.([a-z$][\w$-]*))?", re.ASCII | re.IGNORECASE
)
_PART = re.compile(r"\.([a-z$][\w$-]*)", re.ASCII | re.IGNORECASE)
_OPERATORS = frozenset({"eq", "ne", "co", "sw", "ew", "gt", "ge", "lt", "le"})
_FORM = 'A filter must have a form such as: userName eq "ana" and active eq true.'


@dataclass(frozen=True, slots=True)
class AttributeExpression:
    """operator: of the grammar, or `pr`. value: as text; None for `null`, and with `pr`."""

    schema: str | None
    attribute: str
    operator: str
    value: str | None = None


@dataclass(frozen=True, slots=True)
class AnyValue:
    """Whether one of the values of an attribute meets the condition."""

    schema: str | None
    attribute: str
    condition: "Filter"


@dataclass(frozen=True, slots=True)
class Not:
    term: "Filter"


@dataclass(frozen=True, slots=True)
class Joined:
    operator: Literal["and", "or"]
    terms: tuple["Filter", ...]


Filter: TypeAlias = AttributeExpression | AnyValue | Not | Joined


@dataclass(frozen=True, slots=True)
class Path:
    """The attribute that a `PATCH` changes, or one part of the values that meet a condition."""

    schema: str | None
    attribute: str
    condition: Filter | None
    part: str | None


def parse_filter(text: str) -> Filter:
    """Raises a 400 `Problem`."""
    parser = _Parser(text, "invalidFilter")
    parsed = parser.disjunction()
    parser.require_end()
    return parsed


def parse_path(text: str) -> Path:
    """Raises a 400 `Problem`."""
    parser = _Parser(text, "invalidPath")
    schema, attribute, part = parser.attribute()
    condition = None
    if part is None and parser.accept("["):
        condition = parser.inside("]")
        part = parser.accept_part()
    parser.require_end()
    return Path(schema, attribute, condition, part)


def conjunction(parsed: Filter) -> Iterator[Filter]:
    """The terms that all have to hold."""
    if isinstance(parsed, Joined) and parsed.operator == "and":
        for term in parsed.terms:
            yield from conjunction(term)
    else:
        yield parsed


def leaves(parsed: Filter) -> Iterator[AttributeExpression | AnyValue]:
    """The conditions on single attributes of the resource."""
    match parsed:
        case AttributeExpression() | AnyValue():
            yield parsed
        case Not(term):
            yield from leaves(term)
        case Joined(_, terms):
            for term in terms:
                yield from leaves(term)


class _Parser:
    """A recursive descent. error: the reason of the 400 `Problem`."""

    def __init__(self, text: str, error: ScimType) -> None:
        self._error = error
        self._tokens: list[str] = []
        self._position = 0
        self._depth = 0
        end = 0
        while len(text) <= FILTER_CHARACTERS_MAX and (match := _TOKEN.match(text, end)):
            self._tokens.append(match[1])
            end = match.end()
        if text[end:].strip():
            self._refuse()

    def disjunction(self) -> Filter:
        return self._joined("or", lambda: self._joined("and", self._term))

    def inside(self, end: str) -> Filter:
        """The filter up to the closing parenthesis or bracket."""
        self._depth += 1
        if self._depth > _DEPTH_MAX:
            self._refuse("The filter has too many parentheses within each other.")
        parsed = self.disjunction()
        self._depth -= 1
        if not self.accept(end):
            self._refuse()
        return parsed

    def attribute(self) -> tuple[str | None, str, str | None]:
        """The schema, the name and the part of an attribute, in lower case."""
        name = _ATTRIBUTE.fullmatch(self._next().lower())
        if name is None:
            self._refuse()
        return name[1], name[2], name[3]

    def accept(self, word: str) -> bool:
        is_next = self._position < len(self._tokens) and self._peek() == word
        self._position += is_next
        return is_next

    def accept_part(self) -> str | None:
        part = _PART.fullmatch(self._peek()) if self._position < len(self._tokens) else None
        self._position += part is not None
        return part[1] if part else None

    def require_end(self) -> None:
        if self._position < len(self._tokens):
            self._refuse()

    def _joined(self, operator: Literal["and", "or"], parse: Callable[[], Filter]) -> Filter:
        terms = [parse()]
        while self.accept(operator):
            terms.append(parse())
        return terms[0] if len(terms) == 1 else Joined(operator, tuple(terms))

    def _term(self) -> Filter:
        if self.accept("not"):
            if not self.accept("("):
                self._refuse()
            return Not(self.inside(")"))
        if self.accept("("):
            return self.inside(")")
        schema, attribute, part = self.attribute()
        if part is None and self.accept("["):
            condition = self.inside("]")
            if (part := self.accept_part()) is not None:
                condition = Joined("and", (condition, self._comparison(None, part)))
            return AnyValue(schema, attribute, condition)
        if part is not None:
            return AnyValue(schema, attribute, self._comparison(None, part))
        return self._comparison(schema, attribute)

    def _comparison(self, schema: str | None, attribute: str) -> AttributeExpression:
        operator = self._next().lower()
        if operator == "pr":
            return AttributeExpression(schema, attribute, operator)
        if operator not in _OPERATORS:
            self._refuse()
        return AttributeExpression(schema, attribute, operator, self._value())

    def _value(self) -> str | None:
        token = self._next()
        if not token.startswith('"'):
            if token in ("(", ")", "[", "]"):
                self._refuse()
            return None if token.lower() == "null" else token
        try:
            value: str = orjson.loads(token)
        except orjson.JSONDecodeError:
            self._refuse("The value of the filter is no JSON string.")
        if UNSTORABLE.search(value):
            self._refuse("The value of the filter must not hold the character U+0000.")
        return value

    def _peek(self) -> str:
        return self._tokens[self._position].lower()

    def _next(self) -> str:
        if self._position == len(self._tokens):
            self._refuse()
        self._position += 1
        return self._tokens[self._position - 1]

    def _refuse(self, detail: str = _FORM) -> NoReturn:
        raise invalid(self._error, detail)
