"""The scripts of a page as one file: a browser asks for it once, and not once for each module.

A gateway joins them when it starts, so that developers build nothing. Each module becomes a block,
after those that it imports from; the lines keep their text and their order.
"""

import re
from collections.abc import Mapping
from graphlib import TopologicalSorter

_IMPORT = re.compile(r'^import (\{[^}]*\}|\* as \w+) from "\./([\w-]+\.js)";$', re.MULTILINE)
_EXPORT = re.compile(r"^export ((?:(?:async )?function|class|const) (\w+))", re.MULTILINE)
_OTHER_FORM = re.compile(r"""^(?:import .*["']\./.*|export .*)""", re.MULTILINE)


def join(modules: Mapping[str, str], entry: str) -> str:
    """The module `entry` with all that it imports, directly or by way of each other.

    modules: text by name; one imports another by `import { … }` or `import * as …` from "./NAME".
    Raises `ValueError` for another form of import or export, or for modules that import each other,
    and `KeyError` for an import of no module.
    """
    imported: dict[str, list[str]] = {}
    pending = [entry]
    while pending:
        name = pending.pop()
        if name not in imported:
            imported[name] = [found[2] for found in _IMPORT.finditer(modules[name])]
            pending += imported[name]
    order = TopologicalSorter(imported).static_order()
    return "\n".join(["const modules = {};", *(_block(name, modules[name]) for name in order)])


def _block(name: str, text: str) -> str:
    exports = ", ".join(found[2] for found in _EXPORT.finditer(text))
    body = _EXPORT.sub(r"\1", _IMPORT.sub(_as_constants, text))
    if other := _OTHER_FORM.search(body):
        raise ValueError(f"{name}: can't join `{other[0]}`")
    return f'{{ // {name}\n{body}\nmodules["{name}"] = {{ {exports} }};\n}}'


def _as_constants(found: re.Match[str]) -> str:
    """The names of an import, as constants of the block; `a as b` is `a: b` there."""
    names = found[1].removeprefix("* as ").replace(" as ", ": ")
    return f'const {names} = modules["{found[2]}"];'
