"""The generated files of the Python client."""

import json
import keyword
import re
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from graphlib import TopologicalSorter
from pathlib import Path
from typing import Any

from clients.generate.operation import GENERATED, REF, TEXT, Operation

_FOLDER = Path(__file__).parents[1] / "python" / "nearhit_client"


def files(description: Mapping[str, Any], operations: Sequence[Operation]) -> dict[Path, str]:
    texts = {
        "client.py": _client(operations),
        "types.py": _types(description["components"]["schemas"], operations),
    }
    return {_FOLDER / name: _formatted("".join(lines)) for name, lines in texts.items()}


def _types(schemas: Mapping[str, Any], operations: Sequence[Operation]) -> Iterator[str]:
    """Each type before those that use it."""
    yield f'"""The bodies of requests and answers. {GENERATED}"""\n\n'
    yield "from typing import Any, Literal, NotRequired, TypeAlias, TypedDict\n\n"
    pending = {name for each in operations for name in (each.body_type, *each.answers)} - {"", TEXT}
    uses: dict[str, set[str]] = {}
    while pending:
        name = pending.pop()
        uses[name] = {*re.findall(rf'"{REF}(\w+)"', json.dumps(schemas[name]))}
        pending |= uses[name] - uses.keys()
    ordered = {name: sorted(uses[name]) for name in sorted(uses)}
    for name in TopologicalSorter(ordered).static_order():
        yield _definition(name, schemas[name])


def _definition(name: str, schema: Mapping[str, Any]) -> str:
    if "properties" not in schema:
        return f"{name}: TypeAlias = {_kind(schema)}\n\n"
    fields = {
        field: _kind(each) if field in schema.get("required", ()) else f"NotRequired[{_kind(each)}]"
        for field, each in schema["properties"].items()
    }
    if any(map(keyword.iskeyword, fields)):
        items = ", ".join(f"{field!r}: {kind}" for field, kind in fields.items())
        return f"{name} = TypedDict({name!r}, {{{items}}})\n\n"
    lines = "".join(f"    {field}: {kind}\n" for field, kind in fields.items())
    return f"class {name}(TypedDict):\n{lines or '    pass'}\n\n"


def _kind(schema: Mapping[str, Any]) -> str:
    """The type that the schema describes. Raises `KeyError` for a form that is new."""
    if "$ref" in schema:
        name: str = schema["$ref"]
        return name.removeprefix(REF)
    for members in ("anyOf", "oneOf"):
        if members in schema:
            return _union(map(_kind, schema[members]))
    if "const" in schema or "enum" in schema:
        values = schema["enum"] if "enum" in schema else [schema["const"]]
        return f"Literal[{', '.join(map(repr, values))}]"
    if not schema.keys() - {"title", "description", "default", "examples"}:
        return "Any"
    of_type: dict[str, Callable[[], str]] = {
        "array": lambda: f"list[{_kind(schema['items'])}]",
        "boolean": lambda: "bool",
        "integer": lambda: "int",
        "null": lambda: "None",
        "number": lambda: "float",
        "object": lambda: f"dict[str, {_kind(_value_schema(schema))}]",
        "string": lambda: "str",
    }
    return of_type[schema["type"]]()


def _union(kinds: Iterable[str]) -> str:
    """With one `Literal`, and without texts that `str` includes."""
    members = list(dict.fromkeys(kinds))
    if "str" in members:
        members = [each for each in members if not each.startswith("Literal['")]
    return " | ".join(members).replace("] | Literal[", ", ")


def _value_schema(schema: Mapping[str, Any]) -> Mapping[str, Any]:
    """Of the values of an object whose names are free."""
    (pattern,) = schema.get("patternProperties", {"": {}}).values()
    values = schema.get("additionalProperties")
    return values if isinstance(values, dict) else pattern


def _client(operations: Sequence[Operation]) -> Iterator[str]:
    yield f'"""A method for each call of the API. {GENERATED}"""\n\n'
    yield "from collections.abc import Iterable\nfrom typing import Literal, Unpack\n\n"
    yield "from nearhit_client import types\n"
    yield "from nearhit_client.async_transport import AsyncTransport\n"
    yield "from nearhit_client.transport import Transport\n"
    yield "from nearhit_client.wire import Headers, in_path\n\n"
    yield '# mypy: disable-error-code="no-any-return"\n\n'
    for prefix, define, wait in (("", "def", ""), ("Async", "async def", "await ")):
        yield f"class {prefix}Client({prefix}Transport):\n"
        yield f"    __doc__ = {prefix}Transport.__doc__\n\n"
        for each in operations:
            yield f"    {define} {each.name}({_parameters(each)}) -> {_answer(each)}:\n"
            yield f'        """{each.summary}."""\n'
            returns = "return " if each.answers else ""
            yield f"        {returns}{wait}self.call({_arguments(each)})\n\n"


def _parameters(operation: Operation) -> str:
    positional = [
        f"{name}: {_kind(parameter['schema'])}" for name, parameter in operation.in_path.items()
    ]
    positional += {
        "body": [f"body: types.{operation.body_type}"],
        "lines": [f"lines: Iterable[types.{operation.body_type}]"],
        "text": ["text: str"],
    }.get(operation.body, [])
    query = [
        f"{_python_name(name)}: {_kind(parameter['schema'])}"
        + ("" if parameter["required"] else " | None = None")
        for name, parameter in operation.query.items()
    ]
    has_fields = operation.body == "fields"
    fields = [f"**fields: Unpack[types.{operation.body_type}]"] if has_fields else []
    slash = ["/"] if positional else []
    return ", ".join(["self", *positional, *slash, "*", *query, "headers: Headers = None", *fields])


def _arguments(operation: Operation) -> str:
    path = re.sub(r"{(\w+)}", r"{in_path(\1)}", operation.path)
    query = ", ".join(f"{name!r}: {_python_name(name)}" for name in operation.query)
    keyword_of = {"": "", "fields": "body=fields"}
    return ", ".join(
        [
            repr(operation.method),
            f"f{path!r}" if operation.in_path else repr(path),
            *([f"query={{{query}}}"] if query else []),
            *filter(None, [keyword_of.get(operation.body, f"{operation.body}={operation.body}")]),
            "headers=headers",
            *(["repeats=True"] if operation.repeats else []),
        ]
    )


def _python_name(name: str) -> str:
    return f"{name}_" if keyword.iskeyword(name) else name


def _answer(operation: Operation) -> str:
    kinds = [name if name == TEXT else f"types.{name}" for name in operation.answers]
    union = " | ".join(kinds) or "None"
    return f"list[{union}]" if operation.answers_lines else union


def _formatted(text: str) -> str:
    ruff = str(Path(sys.executable).parent / "ruff")
    command = [ruff, "format", "--stdin-filename", "generated.py", "-"]
    return subprocess.run(command, input=text, stdout=subprocess.PIPE, check=True, text=True).stdout  # noqa: S603
