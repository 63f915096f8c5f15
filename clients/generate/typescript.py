"""The generated files of the TypeScript client; openapi-typescript makes its types."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from clients.generate.operation import GENERATED, TEXT, Operation

_FOLDER = Path(__file__).parents[1] / "typescript"


def files(description: Mapping[str, Any], operations: Sequence[Operation]) -> dict[Path, str]:
    for calls in description["paths"].values():
        for call in calls.values():  # all failures are problems, which no types have to repeat
            successes = {each: call["responses"][each] for each in call["responses"] if each < "3"}
            call["responses"] = successes
    return {
        _FOLDER / "openapi.json": json.dumps(description),
        _FOLDER / "src" / "client.ts": "".join(_client(operations)),
    }


def _client(operations: Sequence[Operation]) -> Iterator[str]:
    yield f"// A method for each call of the API. {GENERATED}\n\n"
    yield 'import { Transport } from "./transport.js";\n'
    yield 'import { inPath } from "./wire.js";\n'
    yield 'import type { Answer, Body, Options, Query } from "./wire.js";\n\n'
    yield "export class Client extends Transport {"
    for each in operations:
        yield f"\n  /** {each.summary}. */\n"
        yield f"  {_camel(each.name)}({_parameters(each)}): Promise<{_answer(each)}> {{\n"
        yield f"    return this.call({_arguments(each)});\n  }}\n"
    yield "}\n"


def _parameters(operation: Operation) -> str:
    name = f'"{operation.name}"'
    body = {
        "": [],
        "lines": [f"lines: Iterable<Body<{name}>>"],
        "text": ["text: string"],
    }.get(operation.body, [f"body: Body<{name}>{' = {}' if operation.is_body_optional else ''}"])
    is_required = any(parameter["required"] for parameter in operation.query.values())
    query = [f"query: Query<{name}>{'' if is_required else ' = {}'}"] if operation.query else []
    in_path = [f"{_camel(each)}: string | number" for each in operation.in_path]
    return ", ".join([*in_path, *body, *query, "options?: Options"])


def _arguments(operation: Operation) -> str:
    path = re.sub(r"{(\w+)}", lambda name: f"${{inPath({_camel(name[1])})}}", operation.path)
    body = "body" if operation.body == "fields" else operation.body
    members = [body, "query" if operation.query else "", "repeats: true" * operation.repeats]
    return (
        f'"{operation.method}", `{path}`, {{ {", ".join([*filter(None, members), "...options"])} }}'
    )


def _answer(operation: Operation) -> str:
    if not operation.answers or TEXT in operation.answers:
        return "string" if operation.answers else "void"
    return f'Answer<"{operation.name}">' + ("[]" if operation.answers_lines else "")


def _camel(name: str) -> str:
    return re.sub(r"_(\w)", lambda letter: letter[1].upper(), name)
