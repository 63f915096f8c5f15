"""The tests that a table of the documentation names, as `path::Class::name`."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
_TEST = re.compile(r"`(tests/[\w/]+\.py)((?:::\w+)+)`")


def table_rows(page: Path) -> list[list[str]]:
    """The cells of each row of the page's tables, without the tables' heads."""
    return rows_in(page.read_text(encoding="utf-8"))


def rows_in(text: str) -> list[list[str]]:
    lines = text.splitlines()
    heads = {number - 1 for number, line in enumerate(lines) if line.startswith("|---")}
    return [
        line.removeprefix("| ").removesuffix(" |").split(" | ")
        for number, line in enumerate(lines)
        if line.startswith("| ") and number not in heads
    ]


def assert_tests_exist(cell: str) -> None:
    tests = _TEST.findall(cell)
    assert tests, cell
    for path, names in tests:
        *classes, name = names.removeprefix("::").split("::")
        text = (ROOT / path).read_text(encoding="utf-8")
        assert re.search(rf"def {name}\(", text), f"{path} has no {name}"
        for each in classes:
            assert re.search(rf"^class {each}\b", text, re.MULTILINE), f"{path} has no {each}"
