"""Every call of a statement passes as many arguments as the statement has."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from index.postgres import statements

STATEMENTS = statements.load()
ROOT = Path(__file__).parents[3]
FOLDERS = ("cache", "gateway", "index", "ingest", "loadtests", "tests")
METHODS = {"batches", "row", "rows", "value"}
CALL = re.compile(rf"\.(?:{'|'.join(METHODS)})\(\s*[\"']")  # to parse takes longer


def arguments_of(statement: str) -> int:
    numbers = re.findall(r"\$(\d+)", re.sub(r"--.*$", "", statement, flags=re.MULTILINE))
    return max(map(int, numbers), default=0)


def calls() -> Iterator[tuple[str, str, int]]:
    """Where the call is, the statement's name and the number of arguments."""
    for path in sorted(path for folder in FOLDERS for path in (ROOT / folder).rglob("*.py")):
        text = path.read_text()
        for node in ast.walk(ast.parse(text)) if CALL.search(text) else ():
            match node:
                case ast.Call(ast.Attribute(attr=method), [ast.Constant(str(name)), *rest]) if (
                    method in METHODS
                    and name in STATEMENTS
                    and not any(isinstance(argument, ast.Starred) for argument in rest)
                ):
                    yield f"{path.relative_to(ROOT)}:{node.lineno}", name, len(rest)


@pytest.mark.slow
def test_every_call_passes_what_its_statement_takes() -> None:
    found = list(calls())
    wrong = [
        f"{place}: {name} takes {arguments_of(STATEMENTS[name])}, not {passed}"
        for place, name, passed in found
        if passed != arguments_of(STATEMENTS[name])
    ]

    assert len({name for _, name, _ in found}) > len(STATEMENTS) / 2
    assert wrong == []
