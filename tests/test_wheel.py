"""What an installation of the wheel puts into site-packages, and that it runs from there."""

import os
import re
import shlex
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

import hatch_build

ROOT = Path(__file__).parent.parent
MODULE_NAME = re.compile(rf"""(["'])((?:{"|".join(hatch_build.PACKAGES)})(?:\.\w+)+(?::\w+)?)\1""")
# Runs after the .pth files, so that an installed module can't find the repository's.
WITHOUT_REPOSITORY = (
    f"import sys\nsys.path[:] = [path for path in sys.path if path != {str(ROOT)!r}]\n"
)
IMPORT_ALL = """
import importlib, pkgutil, sys, nearhit
for module in pkgutil.walk_packages(nearhit.__path__, "nearhit."):
    importlib.import_module(module.name)
print(*sys.modules)
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> zipfile.ZipFile:
    return built("wheel", tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="module")
def installed(wheel: zipfile.ZipFile, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The environment of a Python that finds the installed package, and not the repository."""
    start, site_packages = (tmp_path_factory.mktemp(name) for name in ("start", "site-packages"))
    wheel.extractall(site_packages)
    (start / "sitecustomize.py").write_text(WITHOUT_REPOSITORY)
    unset = {name: value for name, value in os.environ.items() if not name.startswith("NEARHIT_")}
    return {**unset, "PYTHONPATH": f"{start}{os.pathsep}{site_packages}"}


def built(kind: str, folder: Path, project: Path = ROOT) -> zipfile.ZipFile:
    """kind: wheel or editable."""
    build = f"import sys, hatchling.build as build; print(build.build_{kind}(sys.argv[1]))"
    name = run(dict(os.environ), project, "-c", build, str(folder)).split()[-1]
    return zipfile.ZipFile(folder / name)


def run(environment: dict[str, str], folder: Path, *arguments: str) -> str:
    """What Python prints, started in the folder."""
    done = subprocess.run(  # noqa: S603  our own
        [sys.executable, *arguments],
        env=environment,
        cwd=folder,
        capture_output=True,
        check=False,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.slow
def test_the_wheel_holds_one_package_with_the_load_tests_that_its_command_needs(
    wheel: zipfile.ZipFile,
) -> None:
    paths = [Path(name) for name in wheel.namelist()]
    load_tests = {path.parts[2] for path in paths if path.is_relative_to("nearhit/loadtests")}

    assert {path.parts[0] for path in paths if ".dist-info" not in path.parts[0]} == {"nearhit"}
    assert load_tests == {"__init__.py", "bench", "load", "loadtest", "workload"}
    assert Path("nearhit/loadtests/bench/report.py") not in paths


@pytest.mark.slow
def test_every_installed_module_is_imported_without_the_repository(
    installed: dict[str, str], tmp_path: Path
) -> None:
    names = set(run(installed, tmp_path, "-c", IMPORT_ALL).split())

    assert {"nearhit.gateway.api.app", "nearhit.index.model.scope"} <= names
    assert {"nearhit.loadtests.loadtest.run", "nearhit.cache.keys"} <= names
    assert not names & set(hatch_build.PACKAGES)


@pytest.mark.slow
def test_the_installed_command_runs_without_the_repository(
    installed: dict[str, str], tmp_path: Path
) -> None:
    """test_first_hour.py runs its other commands, where pip has installed it."""
    assert run(installed, tmp_path, "-m", "nearhit", "loadtest", "--help") != ""


@pytest.mark.thorough
@pytest.mark.slow
def test_uvx_runs_the_demo_as_the_readme_says(tmp_path: Path) -> None:
    (line,) = re.findall(r"`(uvx [^`]+)`", (ROOT / "README.md").read_text(encoding="utf-8"))
    uvx, *arguments = shlex.split(line)
    variables = os.environ | {"UV_CACHE_DIR": str(tmp_path), "UV_PYTHON": sys.executable}

    done = subprocess.run(  # noqa: S603  uv's own, beside Python
        [Path(sys.executable).parent / uvx, *arguments],
        env=variables,
        cwd=ROOT,
        capture_output=True,
        check=False,
        text=True,
    )

    assert done.returncode == 0, done.stderr
    (command,) = re.findall(r"(\S+) serve --example", done.stdout)
    assert Path(command).is_file(), "a shell finds no such command"


@pytest.mark.slow
def test_an_editable_install_runs_the_modules_of_the_repository(tmp_path: Path) -> None:
    wheel = built("editable", tmp_path)

    files = {file for file in wheel.namelist() if ".dist-info/" not in file}
    assert files == {"_nearhit.pth", "nearhit/__init__.py", "nearhit/__main__.py"}
    assert wheel.read("_nearhit.pth").decode().strip() == str(ROOT)
    assert b"from gateway.cli.main import app" in wheel.read("nearhit/__main__.py")


@pytest.mark.slow
def test_an_editable_install_loads_extensions_that_are_installed_beside_it(tmp_path: Path) -> None:
    built("editable", tmp_path).extractall(tmp_path)
    built("wheel", tmp_path, ROOT / "examples" / "extension").extractall(tmp_path)
    load = (
        "from gateway.configured.installed_extensions import switched_on; print(*switched_on(''))"
    )

    names = run({**os.environ, "PYTHONPATH": str(tmp_path)}, tmp_path, "-c", load).split()

    assert {"phrase", "sqlite", "suggest"} <= {*names}


def test_imports_are_renamed_where_they_stand_and_nothing_else_is() -> None:
    text = (
        '"""About `from gateway.x import y`, até já."""\n'
        "from gateway.cli import common, main as é; from index import errors\n"
        "from indexes import gateway\n"
        "if True:\n"
        "    from loadtests.loadtest.run import (\n        run,\n    )\n"
    )

    assert hatch_build.qualify_imports(text) == (
        '"""About `from gateway.x import y`, até já."""\n'
        "from nearhit.gateway.cli import common, main as é; from nearhit.index import errors\n"
        "from indexes import gateway\n"
        "if True:\n"
        "    from nearhit.loadtests.loadtest.run import (\n        run,\n    )\n"
    )


@pytest.mark.parametrize("text", ["import gateway", "import os, index.errors as errors"])
def test_an_import_of_a_whole_package_stops_the_build(text: str) -> None:
    with pytest.raises(ValueError, match="line 1: write `from"):
        hatch_build.qualify_imports(text)


def test_no_shipped_module_is_named_by_a_string() -> None:
    modules = [path for path in hatch_build.shipped_files(ROOT) if path.suffix == ".py"]

    named = [
        (str(path.relative_to(ROOT)), text)
        for path in modules
        for _, text in MODULE_NAME.findall(path.read_text(encoding="utf-8"))
        if names_module(text)
    ]

    assert named == []


@pytest.mark.parametrize(
    ("text", "is_name"),
    [
        ("index.model.document", True),
        ("gateway.api.app:create", True),
        ("gateway.problems.problems", True),
        ("index.html", False),
    ],
)
def test_a_file_name_is_no_name_of_a_module(text: str, *, is_name: bool) -> None:
    assert names_module(text) is is_name


def names_module(text: str) -> bool:
    """Whether a module or a package of the repository has the first two parts as its name."""
    path = ROOT.joinpath(*text.partition(":")[0].split(".")[:2])
    return path.is_dir() or path.with_suffix(".py").is_file()
