"""The wheel's layout: everything stands below the one package `nearhit`.

In the repository the packages stand at the top (`gateway`, `index`, ...), and their modules import
each other by these names. In site-packages such names may belong to another distribution, so a
wheel holds `nearhit/gateway`, `nearhit/index`, ..., whose imports name `nearhit.gateway` and so on.
An editable install puts the repository on the path, and beside it a package `nearhit` by whose
names extensions import the same modules: `hatch_editable.py`.
"""

import ast
import shutil
import tempfile
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

NAME = "nearhit"
WHOLE = ("gateway", "ingest", "cache", "index", "common")
IN_PART = "loadtests"  # of which the wheel holds what `nearhit loadtest` imports
PACKAGES = (*WHOLE, IN_PART)
_INIT = '"""Nearhit: a low-latency retrieval gateway for AI agents."""\n'


class NearhitBuildHook(BuildHookInterface[Any]):
    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        self._folder = Path(tempfile.mkdtemp(prefix="nearhit-wheel-"))
        package = self._folder / NAME
        if version == "editable":
            write_launcher(Path(self.root), package)
            shutil.copyfile(Path(self.root) / "hatch_editable.py", package / "__init__.py")
            build_data["force_include_editable"][str(package)] = NAME
        else:
            write_package(Path(self.root), package)
            build_data["force_include"][str(package)] = NAME

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        del version, build_data, artifact_path
        shutil.rmtree(self._folder)


def write_launcher(root: Path, package: Path) -> None:
    """Write the package with its command alone."""
    package.mkdir()
    (package / "__init__.py").write_text(_INIT, encoding="utf-8")
    shutil.copyfile(root / "gateway" / "__main__.py", package / "__main__.py")


def write_package(root: Path, package: Path) -> None:
    """Write the package of a wheel."""
    write_launcher(root, package)
    for source in shipped_files(root):
        target = package / source.relative_to(root)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, target)
    (package / "py.typed").touch()
    for module in package.rglob("*.py"):
        text = module.read_text(encoding="utf-8")
        module.write_text(qualify_imports(text), encoding="utf-8")


def shipped_files(root: Path) -> list[Path]:
    files = [
        path
        for name in WHOLE
        for path in sorted((root / name).rglob("*"))
        if path.is_file() and "__pycache__" not in path.parts
    ]
    modules = [path for path in files if path.suffix == ".py"]
    return [*files, *sorted(_imported_in_part(root, modules))]


def qualify_imports(text: str) -> str:
    """The module's text with `nearhit.` before each of our packages that it imports from.

    No line is added or removed, so tracebacks name the repository's line numbers. Raises
    `ValueError` at `import gateway`, whose name the rest of the module would go on using.
    """
    lines = text.encode().split(b"\n")  # the AST counts bytes
    for node in sorted(_imports(text), key=lambda node: node.col_offset, reverse=True):
        line, start = node.lineno - 1, node.col_offset + len("from ")
        assert lines[line][start:].startswith(str(node.module).encode())
        lines[line] = lines[line][:start] + f"{NAME}.".encode() + lines[line][start:]
    return b"\n".join(lines).decode()


def _imported_in_part(root: Path, modules: Collection[Path]) -> set[Path]:
    """The modules of `IN_PART` that these import, directly or by way of each other."""
    found: set[Path] = set()
    pending = list(modules)
    while pending:
        text = pending.pop().read_text(encoding="utf-8")
        if IN_PART not in text:  # parsing all modules takes four seconds
            continue
        new = set(_modules_named_in(root, text)) - found
        found |= new
        pending += new
    return found


def _modules_named_in(root: Path, text: str) -> Iterator[Path]:
    """The files of `IN_PART` that run when the module's imports do."""
    for node in _imports(text):
        for name in (node.module, *(f"{node.module}.{alias.name}" for alias in node.names)):
            path = root.joinpath(*str(name).split("."))
            packages = [path, *path.parents]
            files = (path.with_suffix(".py"), *(folder / "__init__.py" for folder in packages))
            yield from (
                file for file in files if file.is_relative_to(root / IN_PART) and file.is_file()
            )


def _imports(text: str) -> Iterator[ast.ImportFrom]:
    """Imports from our packages. Raises `ValueError` at `import` of a whole one."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.ImportFrom) and node.level == 0:
            if str(node.module).partition(".")[0] in PACKAGES:
                yield node
        elif isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name.partition(".")[0] in PACKAGES:
                    raise ValueError(
                        f"line {node.lineno}: write `from … import …` instead of "
                        f"`import {alias.name}`, which can't be renamed for the wheel"
                    )
