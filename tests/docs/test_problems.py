"""The catalogue of problems names each type that the gateway makes, and no other."""

import ast
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest

from docs.generate.problems import problems_made
from gateway.problems import problem_catalog

ROOT = Path(problem_catalog.__file__).parents[2]


def constructions() -> Iterator[tuple[Path, ast.Call]]:
    """Each place where the product constructs a problem."""
    for package in ("gateway", "ingest", "index", "cache"):
        for path in (ROOT / package).rglob("*.py"):
            code = path.read_text(encoding="utf-8")
            for node in ast.walk(ast.parse(code)) if "Problem(" in code else ():
                if isinstance(node, ast.Call) and ast.unparse(node.func) in (
                    "Problem",
                    "problems.Problem",
                ):
                    yield path, node


def test_the_catalogue_has_each_problem_that_is_made_and_none_that_is_not() -> None:
    statuses, titles = defaultdict(set), defaultdict(set)
    for made in problems_made():
        statuses[made.kind].add(made.status)
        titles[made.kind].add(made.title)

    listed = {each.kind: set(each.statuses) for each in problem_catalog.TYPES}
    assert listed == statuses
    assert len(problem_catalog.BY_KIND) == len(problem_catalog.TYPES)
    for each in problem_catalog.TYPES:
        assert each.title in titles[each.kind], each


@pytest.mark.slow
def test_problems_are_made_in_one_file_and_their_kinds_are_in_the_catalogue() -> None:
    # SCIM has errors of its own form, whose kinds no caller sees.
    found = [each for each in constructions() if each[0].parent.name != "scim"]

    assert {path.name for path, _ in found} == {"problems.py"}
    literal = {
        node.args[1].value
        for _, node in found
        if len(node.args) > 1 and isinstance(node.args[1], ast.Constant)
    }
    assert len(literal) > 20
    assert literal <= problem_catalog.BY_KIND.keys()
