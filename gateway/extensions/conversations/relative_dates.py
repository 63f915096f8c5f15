"""Resolves what a turn calls yesterday, last week or two days ago, in English and in Portuguese.

A day is a date, a week or a weekend its first and its last day, a month and a year as ISO 8601
writes them. Weeks begin on Monday; `last Friday` is the latest Friday before the day.

Pure.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from datetime import date, timedelta
from typing import TypeAlias

RESOLVED_MAX = 8  # of one turn; a starting value

_Resolve: TypeAlias = Callable[[date, re.Match[str]], str]

_ONE_DAY = timedelta(days=1)
_WEEK = timedelta(days=7)
_NUMBERS = {
    **dict.fromkeys(("a", "an", "one", "um", "uma"), 1),
    **dict.fromkeys(("two", "a couple of", "dois", "duas"), 2),
    **dict.fromkeys(("three", "três", "tres"), 3),
    **dict.fromkeys(("four", "quatro"), 4),
    **dict.fromkeys(("five", "cinco"), 5),
    **dict.fromkeys(("six", "seis"), 6),
    **dict.fromkeys(("seven", "sete"), 7),
    **dict.fromkeys(("eight", "oito"), 8),
    **dict.fromkeys(("nine", "nove"), 9),
    **dict.fromkeys(("ten", "dez"), 10),
}
_WEEKDAYS = (
    "monday mon segunda",
    "tuesday tues tue terça terca",
    "wednesday wed quarta",
    "thursday thurs thur thu quinta",
    "friday fri sexta",
    "saturday sat sábado sabado",
    "sunday sun domingo",
)
_WEEKDAY = {name: day for day, names in enumerate(_WEEKDAYS) for name in names.split()}
_UNITS = {
    **dict.fromkeys(("day", "days", "dia", "dias"), "day"),
    **dict.fromkeys(("week", "weeks", "semana", "semanas"), "week"),
    **dict.fromkeys(("weekend", "weekends", "fim de semana"), "weekend"),
    **dict.fromkeys(("month", "months", "mês", "mes", "meses"), "month"),
    **dict.fromkeys(("year", "years", "ano", "anos"), "year"),
}
_SPANS = {name: unit for name, unit in _UNITS.items() if unit != "day"}  # the next day is no date


def with_dates(text: str, day: date) -> str:
    """The text, with what each relative time means in brackets after it.

    Of more than RESOLVED_MAX the first ones.
    """
    parts, end = [], 0
    for at, meaning in sorted(_meanings(text, day))[:RESOLVED_MAX]:
        parts.append(f"{text[end:at]} [{meaning}]")
        end = at
    return "".join((*parts, text[end:]))


def _meanings(text: str, day: date) -> Iterator[tuple[int, str]]:
    """Where each relative time ends, and what it means."""
    taken: list[tuple[int, int]] = []
    for pattern, resolve in _FORMS:
        for match in pattern.finditer(text):
            start, end = match.span()
            if any(start < last and first < end for first, last in taken):
                continue  # the day before yesterday is not yesterday
            taken.append((start, end))
            with suppress(ValueError, OverflowError):  # before the year 1, or after 9999
                yield end, resolve(day, match)


def _alternatives(names: Iterable[str]) -> str:
    return "|".join(sorted(map(re.escape, names), key=len, reverse=True))


def _number(text: str) -> int:
    return int(text) if text.isdigit() else _NUMBERS[text.casefold()]


def _days_on(days: int) -> _Resolve:
    return lambda day, _: (day + days * _ONE_DAY).isoformat()


def _counted(direction: int) -> _Resolve:
    return lambda day, match: _shifted(
        day, direction * _number(match["number"]), _UNITS[match["unit"].casefold()]
    )


def _span_on(steps: int) -> _Resolve:
    return lambda day, match: _shifted(day, steps, _UNITS[match["unit"].casefold()])


def _shifted(day: date, steps: int, unit: str) -> str:
    """The day, week, weekend, month or year so many steps on."""
    if unit == "day":
        return (day + steps * _ONE_DAY).isoformat()
    if unit == "year":
        return f"{day.replace(year=day.year + steps, month=1, day=1).year:04}"
    if unit == "month":
        months = day.year * 12 + day.month - 1 + steps
        return date(months // 12, months % 12 + 1, 1).isoformat()[:7]
    monday = day - day.weekday() * _ONE_DAY + steps * _WEEK
    first = monday if unit == "week" else monday + 5 * _ONE_DAY
    return f"{first.isoformat()} to {(monday + 6 * _ONE_DAY).isoformat()}"


def _latest_weekday(day: date, match: re.Match[str]) -> str:
    days = (day.weekday() - _WEEKDAY[match["weekday"].casefold()] - 1) % 7 + 1
    return (day - days * _ONE_DAY).isoformat()


def _next_weekday(day: date, match: re.Match[str]) -> str:
    days = (_WEEKDAY[match["weekday"].casefold()] - day.weekday() - 1) % 7 + 1
    return (day + days * _ONE_DAY).isoformat()


_COUNT = rf"(?P<number>\d{{1,3}}|{_alternatives(_NUMBERS)})\s(?P<unit>{_alternatives(_UNITS)})"
_SPAN = rf"(?P<unit>{_alternatives(_SPANS)})"
_DAY_NAME = rf"(?P<weekday>{_alternatives(_WEEKDAY)})"
_FORMS: tuple[tuple[re.Pattern[str], _Resolve], ...] = tuple(
    (re.compile(rf"(?<!\w)(?:{pattern})(?!\w)", re.IGNORECASE), resolve)
    for pattern, resolve in (
        (r"the day before yesterday|anteontem", _days_on(-2)),
        (r"the day after tomorrow|depois de amanhã", _days_on(2)),
        (r"yesterday|last night|ontem", _days_on(-1)),
        (r"tomorrow|amanhã", _days_on(1)),
        (r"today|tonight|this (?:morning|afternoon|evening)|hoje", _days_on(0)),
        (rf"{_COUNT} (?:ago|atrás)", _counted(-1)),
        (rf"há {_COUNT}", _counted(-1)),
        (rf"(?:in|daqui a) {_COUNT}", _counted(1)),
        (rf"(?:last|(?:this )?past) {_SPAN}", _span_on(-1)),
        (rf"{_SPAN} passad[oa]", _span_on(-1)),
        (rf"(?:next|próxim[oa]) {_SPAN}", _span_on(1)),
        (rf"{_SPAN} que vem", _span_on(1)),
        (rf"(?:this|est[ea]) {_SPAN}", _span_on(0)),
        (rf"(?:last|this past) {_DAY_NAME}", _latest_weekday),
        (rf"{_DAY_NAME}(?:-feira)? passad[oa]", _latest_weekday),
        (rf"(?:next|próxim[oa]) {_DAY_NAME}(?:-feira)?", _next_weekday),
    )
)
