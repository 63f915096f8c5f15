"""Load tests see the product from outside; what does not says so at once."""

import ast
from pathlib import Path

LOADTESTS = Path(__file__).parents[2] / "loadtests"
OURS = {"cache", "common", "gateway", "index", "ingest"}


def imported(module: ast.Module) -> set[str]:
    """The packages that it imports from."""
    nodes = [node for node in ast.walk(module) if isinstance(node, ast.ImportFrom)]
    return {(node.module or "").partition(".")[0] for node in nodes}


def test_a_module_that_imports_our_code_says_so_in_its_first_sentence() -> None:
    modules = {file: ast.parse(file.read_text()) for file in LOADTESTS.rglob("*.py")}
    inside = {file for file, module in modules.items() if not OURS.isdisjoint(imported(module))}
    say_so = {
        file
        for file, module in modules.items()
        if "Nearhit's own" in (ast.get_docstring(module) or "").partition(".")[0]
    }

    assert inside
    assert {str(file) for file in inside - say_so} == set()
