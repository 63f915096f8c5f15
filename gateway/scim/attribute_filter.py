"""Filters of SCIM that compare attributes with values: `userName eq "ana" and active eq true`.

Source: RFC 7644, section 3.4.2.2. Of its operators `eq` is known, with `and`, `or` and parentheses.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import orjson

from gateway.scim.errors import invalid
from index.model.document import UNSTORABLE

FILTER_CHARACTERS_MAX = 600  # the longest name of a user, and what stands around it
_ALTERNATIVES_MAX = 64
_DEPTH_MAX = 10  # of parentheses
_TOKEN = re.compile(r'\s*("(?:[^"\\]|\\.)*"|[()]|[^\s()"]+)')
_ATTRIBUTE = re.compile(r"(?:urn:[\w:.-]+:)?([A-Za-z]\w*)(\.value)?", re.IGNORECASE | re.ASCII)
_FORM = 'A filter must have the form: ATTRIBUTE eq "VALUE", joined by and.'

# By attribute, in lower case because names of attributes have no case, the value that it has.
Equalities: TypeAlias = Mapping[str, str]


def parse_filter(text: str) -> Sequence[Equalities]:
    """The alternatives, of which one has to hold as a whole. Raises a 400 `Problem`."""
    tokens: list[str] = []
    end = 0
    while len(text) <= FILTER_CHARACTERS_MAX and (match := _TOKEN.match(text, end)):
        tokens.append(match[1])
        end = match.end()
    if not tokens or text[end:].strip():
        raise _no_filter()
    parser = _Parser(tokens)
    alternatives = parser.disjunction()
    if parser.position < len(tokens):
        raise _no_filter()
    return alternatives


@dataclass(slots=True)
class _Parser:
    """A recursive descent; each rule returns alternatives."""

    tokens: Sequence[str]
    position: int = 0
    depth: int = 0

    def disjunction(self) -> list[Equalities]:
        alternatives = self._conjunction()
        while self._accept("or"):
            alternatives = [*alternatives, *self._conjunction()]
        return alternatives

    def _conjunction(self) -> list[Equalities]:
        alternatives = self._factor()
        while self._accept("and"):
            alternatives = [
                {**left, **right}
                for right in self._factor()
                for left in alternatives
                if all(left.get(name, value) == value for name, value in right.items())
            ]
            if len(alternatives) > _ALTERNATIVES_MAX:
                raise _no_filter("The filter has too many alternatives.")
        return alternatives

    def _factor(self) -> list[Equalities]:
        if not self._accept("("):
            return [self._comparison()]
        self.depth += 1
        if self.depth > _DEPTH_MAX:
            raise _no_filter("The filter has too many parentheses within each other.")
        alternatives = self.disjunction()
        self.depth -= 1
        if not self._accept(")"):
            raise _no_filter()
        return alternatives

    def _comparison(self) -> Equalities:
        attribute, operator, value = (self._next(), self._next(), self._next())
        name = _ATTRIBUTE.fullmatch(attribute)
        if name is None or operator.lower() != "eq" or value in ("(", ")"):
            raise _no_filter()
        return {name[1].lower(): _value(value)}

    def _accept(self, word: str) -> bool:
        is_next = self.position < len(self.tokens) and self.tokens[self.position].lower() == word
        self.position += is_next
        return is_next

    def _next(self) -> str:
        if self.position == len(self.tokens):
            raise _no_filter()
        self.position += 1
        return self.tokens[self.position - 1]


def _value(token: str) -> str:
    """The text of a JSON string; Entra ID and others also send values without quotes."""
    if not token.startswith('"'):
        return token
    try:
        value: str = orjson.loads(token)
    except orjson.JSONDecodeError:
        raise _no_filter("The value of the filter is no JSON string.") from None
    if UNSTORABLE.search(value):
        raise _no_filter("The value of the filter must not hold the character U+0000.")
    return value


def _no_filter(detail: str = _FORM) -> Exception:
    return invalid("invalidFilter", detail)
