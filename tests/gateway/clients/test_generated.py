"""The committed files of the Python client are those that the API's description gives."""

import json
import tomllib
from pathlib import Path

from clients.generate import python, typescript
from clients.generate.operation import described
from nearhit_client import AsyncClient, Client

ROOT = Path(__file__).parents[3]


def test_types_and_methods_are_those_of_the_api() -> None:
    for path, text in python.files(*described()).items():
        assert path.read_text(encoding="utf-8") == text, "run: python -m clients.generate"


def test_both_clients_have_a_method_for_each_call() -> None:
    description, operations = described()
    *_, (_, text) = typescript.files(description, operations).items()
    names = {each.name for each in operations}
    classes = (AsyncClient, Client)

    assert {"search", "put_document", "why_not", "post_answer"} <= names
    assert all(names <= {*vars(each)} for each in classes)
    assert text.count("return this.call(") == len(names)


def test_a_release_has_one_version() -> None:
    projects = (ROOT, ROOT / "clients" / "python")
    texts = [(folder / "pyproject.toml").read_text(encoding="utf-8") for folder in projects]
    package = json.loads((ROOT / "clients" / "typescript" / "package.json").read_bytes())

    versions = {tomllib.loads(text)["project"]["version"] for text in texts}

    assert versions == {package["version"]}
