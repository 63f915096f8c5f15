"""The dates of a text, however it spells them.

2025-03-05, 5 March 2025, Mar 5th, 2025, 05.03.2025, 5 de março de 2025, 20250305 and 2025年3月5日
are one day. A chunk has a term for each day that it names, and for the month, quarter and year of
the day; a query asks for what it names: a day, a month or a quarter. 05/03/2025 is two days, since
some write the month first.

Pure.
"""

import re
from collections.abc import Iterator
from datetime import date

from index.text import tokens
from index.text.names import Named

DIGITS_MIN = 4  # of a date: those of its year
_WRITTEN_MAX = 40  # characters on each side of a year, where the rest of the date is looked for

_NAMES = (  # without accents, as `tokens.plain` spells them
    "january february march april may june july august september october november december",
    "jan feb mar apr may jun jul aug sept oct nov dec",
    "januar februar marz april mai juni juli august september oktober november dezember",
    "jan feb mrz apr mai jun jul aug sep okt nov dez",
    "janner feber maerz",
    "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre",
    "ene feb mar abr may jun jul ago sep oct nov dic",
    "janvier fevrier mars avril mai juin juillet aout septembre octobre novembre decembre",
    "janv fevr mars avr mai juin juil aout sept oct nov dec",
    "gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre dicembre",
    "gen feb mar apr mag giu lug ago set ott nov dic",
    "janeiro fevereiro marco abril maio junho julho agosto setembro outubro novembro dezembro",
    "jan fev mar abr mai jun jul ago set out nov dez",
)
_MONTHS = {name: month for names in _NAMES for month, name in enumerate(names.split(), start=1)}
_ORDINALS = (
    "1 2 3 4",
    "first second third fourth",
    "erstes zweites drittes viertes",
    "primer segundo tercer cuarto",
    "premier deuxieme troisieme quatrieme",
    "primo secondo terzo quarto",
    "primeiro segundo terceiro quarto",
)
_QUARTERS = {
    name: quarter for names in _ORDINALS for quarter, name in enumerate(names.split(), start=1)
}

_DAY = r"(?P<day>\d{1,2})(?:st|nd|rd|th|er|[oa.])?"  # 1º is 1o in plain spelling
_ENDING = r"(?:st|nd|rd|th)?"
_OF = r"(?:of|the|de|del|do|di|d'|')"
_JOINT = r"[\s,./-]+"

# Digits alone, the year first or last. A point between month and year would be a decimal point.
# A pattern that begins with a digit, and then looks behind it, passes over letters quickly.
_YEAR_FIRST = re.compile(
    r"(?P<year>[12](?<![\d.,-].)\d{3})(?:"
    r"(?P<mark>[-/.])(?P<month>\d{1,2})(?:(?P=mark)(?P<day>\d{1,2}))?"
    r"|(?P<month_joined>\d\d)(?P<day_joined>\d\d)"
    r"|\.\s(?P<month_spaced>\d{1,2})\.\s(?P<day_spaced>\d{1,2})"
    r"|\s?[年년]\s?(?P<month_signed>\d{1,2})\s?[月월](?:\s?(?P<day_signed>\d{1,2})\s?[日일])?"
    r")(?!\d)"
)
_YEAR_LAST = re.compile(
    r"(?P<first>\d(?<![\d.,/-].)\d?)(?:(?P<mark>[-/]|\.\s?)(?P<second>\d{1,2})(?P=mark)|[-/])"
    r"(?P<year>[12]\d{3})(?![\d/-]|[.,]\d)"
)
# Words beside a year.
_LETTER = re.compile(r"[^\W\d_]")
_YEAR = re.compile(r"[12](?<![\d.,].)\d{3}(?!\d)")
_BEFORE_YEAR = re.compile(
    rf"(?:(?<![\w.,/-]){_DAY}[\s/-]+(?:{_OF}\s*)*)?(?<![^\W_])(?P<month>[^\W\d_]{{3,}})"
    rf"(?:{_JOINT}(?:the\s+)?(?P<day_after>\d{{1,2}}){_ENDING}(?:\s?[-\u2013]\s?\d{{1,2}}{_ENDING})?)?"
    rf"{_JOINT}(?:{_OF}\s+)?$"
)
_AFTER_YEAR = re.compile(r"[\s,./-]+(?P<month>[^\W\d_]{3,})(?:[\s./-]+(?P<day>\d{1,2})(?!\w))?")
_QUARTER_BEFORE_YEAR = re.compile(
    r"(?<!\w)(?:[qt](?P<number>[1-4])|(?P<first>[1-4])q|(?:(?P<digit>[1-4])\w{0,2}\.?|(?P<ordinal>[^\W\d_]+))\s+"
    rf"(?:quarter|quartal|trimestre)),?[\s/-]*(?:{_OF}\s+)?$"
)
_QUARTER_AFTER_YEAR = re.compile(r"[\s/-]?[qt](?P<number>[1-4])(?!\w)")


def named(text: str) -> list[Named]:
    """The days, months and quarters that a text names, in the order of their forms."""
    folded = tokens.plain(text).casefold()
    return [Named(terms, written) for form in _FORMS for terms, written in form(folded) if terms]


def around(named: Named) -> Iterator[str]:
    """The terms of a day, month or quarter, and those of the month, quarter and year around it."""
    for term in named.terms:
        year, month = term[:4], term[5:7]
        yield from (term, year)
        if "q" not in term:
            yield from (f"{year}-{month}", f"{year}q{(int(month) + 2) // 3}")


def _year_first(text: str) -> Iterator[tuple[tuple[str, ...], str]]:
    for match in _YEAR_FIRST.finditer(text):
        month, day = (
            match[part]
            or match[f"{part}_joined"]
            or match[f"{part}_spaced"]
            or match[f"{part}_signed"]
            for part in ("month", "day")
        )
        written = match[0] if match["day_joined"] else match[0][len(match["year"]) :]
        yield _terms(match["year"], month, day), written


def _year_last(text: str) -> Iterator[tuple[tuple[str, ...], str]]:
    for match in _YEAR_LAST.finditer(text):
        year, first, second = match["year"], match["first"], match["second"]
        terms = _terms(year, second, first) if second else _terms(year, first)
        if second and not match["mark"].startswith("."):  # with points the day is first everywhere
            terms = tuple(dict.fromkeys(terms + _terms(year, first, second)))
        yield terms, match[0].removesuffix(year)


def _beside_year(text: str) -> Iterator[tuple[tuple[str, ...], str]]:
    for match in _YEAR.finditer(text):
        start, end = match.span()
        start_before, end_after = max(0, start - _WRITTEN_MAX), end + _WRITTEN_MAX
        if not _LETTER.search(text, start_before, end_after):
            continue
        before = _BEFORE_YEAR.search(text, start_before, start)
        after = _AFTER_YEAR.match(text, end)
        if before and before["month"] in _MONTHS:
            day = before["day_after"] or before["day"]
            yield _terms(match[0], _MONTHS[before["month"]], day), before[0]
        elif after and after["month"] in _MONTHS:
            yield _terms(match[0], _MONTHS[after["month"]], after["day"]), after[0]
        elif found := (
            _QUARTER_BEFORE_YEAR.search(text, start_before, start)
            or _QUARTER_AFTER_YEAR.match(text, end)
        ):
            quarter = _QUARTERS.get(next(filter(None, found.groups())))
            yield (f"{match[0]}q{quarter}",) if quarter else (), found[0]


_FORMS = (_year_first, _year_last, _beside_year)


def _terms(year: str, month: str | int, day: str | None = None) -> tuple[str, ...]:
    """The term of the day, or of the month without a day; none if there is no such date."""
    try:
        found = date(int(year), int(month), int(day or 1)).isoformat()
    except ValueError:  # 30 February
        return ()
    return (found if day else found[:7],)
