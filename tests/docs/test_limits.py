"""docs/limits.md lists every limit, with the default of the code and a test that exists."""

import importlib
import re
from typing import Any, get_args

from pydantic.fields import FieldInfo

from gateway import extension_settings
from gateway.problem_catalog import BY_KIND
from tests.docs.named_tests import ROOT, assert_tests_exist, table_rows

ROWS = table_rows(ROOT / "docs" / "limits.md")
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


def listed(kind: str) -> dict[str, str]:
    """The default by the name of the setting or constant."""
    named = {}
    for _, default, where, *_ in ROWS:
        if found := re.match(kind, where):
            named[": ".join(filter(None, found.groups()))] = re.match(r"none|[\d,.]*\d", default)[0]  # type: ignore[index]  # else the row has no default
    return named


SETTINGS = listed(r"`NEARHIT_(\w+)`(?:: `(\w+)`)?")  # a table has a row for each name
CONSTANTS = listed(r"`(\w+(?:\.\w+)+)`")


def test_every_row_has_what_is_bounded_default_setting_response_and_test() -> None:
    assert len(ROWS) > 100
    for row in ROWS:
        assert len(row) == 5, row
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
    for row in ROWS:
        if not row[4].startswith("no test: "):
            assert_tests_exist(row[4])


def test_every_response_beyond_a_limit_is_a_status_of_a_problem_type() -> None:
    for row in ROWS:
        for status, kind in re.findall(r"`(\d{3}) ([\w-]+)`", row[3]):
            assert int(status) in BY_KIND[kind].statuses, row
