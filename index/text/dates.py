"""Dates that a query names in words, as documents write them in digits.

"5 March 2025", "March 5th, 2025" and "5 de março de 2025" are 2025-03-05.

Pure.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date

from index.text import tokens

_NAMES = (  # without accents, as `tokens.plain` spells them
    "january february march april may june july august september october november december",
    "jan feb mar apr may jun jul aug sep oct nov dec",
    "januar februar marz april mai juni juli august september oktober november dezember",
    "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre",
    "janvier fevrier mars avril mai juin juillet aout septembre octobre novembre decembre",
    "gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre dicembre",
    "janeiro fevereiro marco abril maio junho julho agosto setembro outubro novembro dezembro",
)
_MONTHS = {name: month for names in _NAMES for month, name in enumerate(names.split(), start=1)}
_BETWEEN = frozenset({"of", "the", "de", "del", "do"})
_DAY = re.compile(r"([1-9]|[0-2]\d|3[01])(?:st|nd|rd|th|er|o)?")  # 1º is 1o in plain spelling
_YEAR = re.compile(r"[12]\d{3}")
DIGITS_MIN = 5  # of a named date: those of its year and of its day


@dataclass(frozen=True, slots=True)
class NamedDate:
    """A date in the words of a text.

    digits: as 2025-03-05. day, month: the text's tokens; the third is the year as in the digits.
    """

    digits: str
    day: str
    month: str


def named(words: Sequence[str]) -> Iterator[NamedDate]:
    """The dates among the tokens of a text, as `tokens.read` returns them."""
    spelled = [(word, tokens.plain(word).casefold()) for word in words]
    parts = [pair for pair in spelled if pair[1] not in _BETWEEN]
    for first, second, (_, year) in zip(parts, parts[1:], parts[2:], strict=False):
        day, month = (second, first) if first[1] in _MONTHS else (first, second)
        matched = _DAY.fullmatch(day[1])
        if matched and month[1] in _MONTHS and _YEAR.fullmatch(year):
            try:
                named_date = date(int(year), _MONTHS[month[1]], int(matched[1]))
            except ValueError:  # 30 February
                continue
            yield NamedDate(named_date.isoformat(), day[0], month[0])
