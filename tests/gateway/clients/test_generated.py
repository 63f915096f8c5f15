"""The committed files of the Python client are those that the API's description gives."""

import json
import tomllib
from pathlib import Path

from clients.generate import python, typescript
from clients.generate.operation import described

ROOT = Path(__file__).parents[3]


def test_types_and_methods_are_those_of_the_api() -> None:
    for path, text in python.files(*described()).items():
        assert path.read_text(encoding="utf-8") == text, "run: python -m clients.generate"


def test_both_clients_have_a_method_for_each_call() -> None:
    _, operations = described()
    client = python.files(*described())
    texts = ["".join(client.values()), "".join(typescript.files(*described()).values())]

    assert {"search", "put_document", "why_not"} <= {each.name for each in operations}
    for each in operations:
        assert texts[0].count(f" def {each.name}(") == 2, each.name
        assert each.path.partition("{")[0] in texts[1], each.name


def test_a_release_has_one_version() -> None:
    projects = (ROOT, ROOT / "clients" / "python")
    texts = [(folder / "pyproject.toml").read_text(encoding="utf-8") for folder in projects]
    package = json.loads((ROOT / "clients" / "typescript" / "package.json").read_bytes())

    versions = {tomllib.loads(text)["project"]["version"] for text in texts}

    assert versions == {package["version"]}
