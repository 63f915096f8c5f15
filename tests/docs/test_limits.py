"""docs/limits.md lists every limit with its default; limits.toml names what shows each."""

import importlib
import re
import tomllib
from collections.abc import Iterator
from typing import Any, get_args

from pydantic.fields import FieldInfo

from gateway.configured import extension_settings
from gateway.problems.problem_catalog import BY_KIND
from tests.docs.named_tests import ROOT, assert_tests_exist, rows_in

# Numbers that bound nothing: an address, a choice of how much to start, prices, and a share.
NO_LIMITS = {
    "cache_audit_per_mille",
    "confidence_min",
    "openai_dimensions",
    "port",
    "prices",
    "trace_share",
    "worker_metrics_port",
    "workers",
}


def is_number(annotation: Any) -> bool:
    return annotation in (int, float) or any(map(is_number, get_args(annotation)))


def number_of(value: float | None) -> str:
    """As the page writes it."""
    if value is None:
        return "none"
    return f"{int(value) if value == int(value) else value:,}"


def values_in(cell: str, constants: list[str]) -> Iterator[tuple[str, str]]:
    """Each constant with the cell's number, or after the names of several its own."""
    numbers = re.findall(r"none|\d[\d,.]*\d|\d", re.sub(r"\(.*?\)", "", cell))
    if re.match(r"none|\d", cell):
        numbers = numbers[:1] * len(constants)
    return zip(constants, numbers, strict=bool(constants))


def sections() -> dict[str, list[list[str]]]:
    """The rows of each section's table."""
    _, *parts = (ROOT / "docs" / "limits.md").read_text(encoding="utf-8").split("\n## ")
    return {part.partition("\n")[0]: rows_in(part) for part in parts}


# The text of a row by its section and what is bounded.
ROWS = {
    (section, row[0].replace("`", "")): row for section, rows in sections().items() for row in rows
}
SHOWN_BY = {
    (section, limit): shown_by
    for section, limits in tomllib.loads(
        (ROOT / "tests" / "docs" / "limits.toml").read_text(encoding="utf-8")
    ).items()
    for limit, shown_by in limits.items()
}
# A table of settings has a row for each name.
SETTINGS = {
    ": ".join(filter(None, found.group(2, 3))): found[1]
    for row in ROWS.values()
    if (found := re.match(r"(none|[\d,.]*\d)[^(]*\(`NEARHIT_(\w+)`(?:: `(\w+)`)?\)", row[1]))
}
CONSTANTS = {
    constant: number
    for row, shown_by in SHOWN_BY.items()
    for constant, number in values_in(ROWS[row][1], shown_by.get("constants", []))
    if constant
}


def test_every_row_has_what_is_bounded_its_value_the_response_and_what_shows_it() -> None:
    assert len(ROWS) > 100
    assert ROWS.keys() == SHOWN_BY.keys()
    for row in ROWS.values():
        assert len(row) in (3, 4), row
        assert all(row), row


def test_every_setting_that_is_a_number_is_listed_with_its_default() -> None:
    fields = extension_settings.fields()
    limits = {name for name, field in fields.items() if is_number(field.annotation)} - NO_LIMITS

    assert fields.keys() >= NO_LIMITS
    assert {name.lower(): default for name, default in SETTINGS.items()} == {
        row: default for name in limits for row, default in rows_of(name, fields[name]).items()
    }


def rows_of(name: str, field: FieldInfo) -> dict[str, str]:
    """The default of the setting by its row; a table has one for each of its names."""
    if not isinstance(field.default, dict):
        return {name: number_of(field.default)}
    names = get_args(get_args(field.annotation)[0])
    return {f"{name}: {each}": number_of(field.default.get(each)) for each in names}


def test_a_fixed_limit_is_listed_with_the_value_of_the_code() -> None:
    assert {constant: number_of(value_of(constant)) for constant in CONSTANTS} == CONSTANTS


def value_of(constant: str) -> float | None:
    module, _, name = constant.rpartition(".")
    value: float | None = getattr(importlib.import_module(module), name)
    return value


def test_a_limit_has_a_test_that_exists_or_a_reason_why_not() -> None:
    for row, shown_by in SHOWN_BY.items():
        assert ("tests" in shown_by) != bool(shown_by.get("untested")), row
        for test in shown_by.get("tests", []):
            assert_tests_exist(f"`{test}`")


def test_every_response_beyond_a_limit_is_a_status_of_a_problem_type() -> None:
    page = (ROOT / "docs" / "limits.md").read_text(encoding="utf-8")
    usual = {kind[:3]: kind[4:] for kind in re.findall(r"is `(\d{3} [\w-]+)`", page)}

    assert len(usual) == 4
    for row in ROWS.values():
        for status, kind in re.findall(r"`(\d{3})(?: ([\w-]+))?`", row[-1]):
            assert int(status) in BY_KIND[kind or usual[status]].statuses, row
