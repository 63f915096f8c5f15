"""Filters of SCIM that compare one attribute with one value: `userName eq "ana"`.

Source: RFC 7644, section 3.4.2.2. Identity providers send no others.
"""

import re
from dataclasses import dataclass

import orjson

from gateway.scim.errors import invalid

FILTER_CHARACTERS_MAX = 600  # the longest name of a user, and what stands around it
_EQUALITY = re.compile(
    r'\s*(?:urn:[\w:.-]+:)?([A-Za-z]\w*)\s+eq\s+("(?:[^"\\]|\\.)*")\s*', re.IGNORECASE | re.ASCII
)


@dataclass(frozen=True, slots=True)
class Equality:
    """attribute: in lower case, because names of attributes have no case."""

    attribute: str
    value: str


def parse_filter(text: str) -> Equality:
    """A 400 `Problem` for every other filter."""
    match = _EQUALITY.fullmatch(text) if len(text) <= FILTER_CHARACTERS_MAX else None
    if match is None:
        raise invalid("invalidFilter", 'A filter must have the form: ATTRIBUTE eq "VALUE".')
    try:
        value: str = orjson.loads(match[2])
    except orjson.JSONDecodeError:
        raise invalid("invalidFilter", "The value of the filter is no JSON string.") from None
    return Equality(match[1].lower(), value)
