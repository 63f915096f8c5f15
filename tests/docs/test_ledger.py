"""tests/README.md says what proves which promise, and forgets no test of a guarantee."""

import ast
import re

import pytest

from tests.docs.named_tests import ROOT

LEDGER = (ROOT / "tests/README.md").read_text(encoding="utf-8")
FILE = re.compile(r"`((?:tests|loadtests)/[\w/.]+)`")
NAMED = set(FILE.findall(LEDGER))
# A promise, its guards in `make test` (a model, a play, single cases), and what is run at night.
PROMISES = {
    cells[0].strip(): cells[1:4]
    for line in LEDGER.splitlines()
    if line.startswith("|") and len(cells := line.strip("|").split("|")) == 5
    if cells[0].strip() not in ("promise", "---")
}


def is_thorough(node: ast.AST) -> bool:
    """Whether it is marked as a test of `make thorough` alone."""
    return any(
        isinstance(part, ast.Attribute) and part.attr == "thorough" for part in ast.walk(node)
    )


def run_by_make_test(name: str) -> list[str]:
    module = ast.parse((ROOT / name).read_text(encoding="utf-8"))
    if any(isinstance(node, ast.Assign) and is_thorough(node) for node in module.body):
        return []
    return [
        node.name
        for node in ast.walk(module)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        if node.name.startswith("test_") and not any(map(is_thorough, node.decorator_list))
    ]


def test_what_the_ledger_names_exists() -> None:
    assert len(NAMED) > 20
    assert [name for name in sorted(NAMED) if not (ROOT / name).exists()] == []


def test_every_test_of_a_guarantee_is_in_the_ledger() -> None:
    guarantees = {
        path.relative_to(ROOT).as_posix()
        for path in (ROOT / "tests/gateway/guarantees").glob("test_*.py")
    }

    assert guarantees - NAMED == set()


@pytest.mark.parametrize("promise", PROMISES)
def test_each_guard_of_a_promise_is_run_by_make_test(promise: str) -> None:
    guards = FILE.findall(" ".join(PROMISES[promise]))

    assert guards
    assert [name for name in guards if not run_by_make_test(name)] == []
