"""Each line that a page tells a reader to paste is run as it stands; the rest is listed, and why.

One gateway serves all pages, started as the README says, with the example handbook. Only its port,
its folders and the placeholder `…` differ from the pages. A call that is refused and a search
without a hit fail the test, as does a line that this file lists and no page has.
"""

import json
import re
import shutil
import sys
import tomllib
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest
import yaml
from typer.testing import CliRunner, Result

from docs.generate.pages import committed
from gateway import extension_settings
from gateway.cli.main import app
from gateway.settings.setting_sources import unknown_variables
from loadtests.servers.ports import free_port
from tests.docs import pasted
from tests.docs.named_tests import ROOT

# This page makes the tenant `acme`, of which others tell.
ACCESS = ROOT / "docs" / "how-to" / "access.md"
PAGES = [
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md")),
    ACCESS,
    # The tutorial has a gateway of its own.
    *sorted(page for page in committed() if page.name not in (ACCESS.name, "tutorial.md")),
]
READ = [*PAGES, ROOT / "docs" / "tutorial.md"]
_CI = "CI runs it by itself"
_TESTS = "it runs the tests, of which this is one"
_CLUSTER = "it needs a registry and a cluster; tests/deploy renders and checks the chart"
_DOCKER = "it needs a Docker daemon; tests/deploy checks the file and the image"
_RELEASE = "it publishes a release; tests/deploy/test_release.py tells what it runs"
_FOREVER = "it runs until it is stopped; tests/gateway/cli runs it"
_SERVERS = "its servers are the operator's; tests/gateway/cli/start/test_config_command.py runs it"
_STORES = "it needs another store; tests/gateway/extensions/import_ runs such lines"
_PENDING = "no removal waits; tests/gateway/sources confirms one"
_RECOVERY = "it needs a server of its own; tests/gateway/faults/test_backup.py does these steps"
_GENERATORS = "it needs an index of packages; `make examples` generates and runs these clients"
_RECEIPTS = "it needs a gateway with a key; tests/gateway/extensions/receipts does these steps"
# By the line's beginning.
NOT_RUN = {
    "make demo": _CI,
    "make docs": _CI,
    "make test": _TESTS,
    "make run": "the gateway of this test is started with it",
    "make setup": "it makes the environment of this test",
    "source .venv/bin/activate": "this test's environment is active",
    "pre-commit install": "it changes the checkout, and its package is optional",
    "make  ": _TESTS,
    "make quick": _TESTS,
    "make thorough": _TESTS,
    "pytest -x --last-failed": _TESTS,
    "nearhit ingest ~/wiki --watch": _FOREVER,
    "nearhit import": _STORES,
    "export NEARHIT_IMPORT_SECRET": _STORES,
    'curl -s -X POST "$NEARHIT_URL/v1/sources/handbook/confirm-removals"': _PENDING,
    "nearhit serve --workers 4": _FOREVER,
    "curl -sN": "it listens until it is stopped; tests/gateway/extensions/subscriptions does so",
    "nearhit worker": _FOREVER,
    "nearhit config check --connect": _SERVERS,
    "export NEARHIT_DATABASE_URL": _SERVERS,
    "export NEARHIT_REDIS_URL": _SERVERS,
    "export NEARHIT_ADMIN_KEY": "this test's gateway has a key of its own",
    "export NEARHIT_HOST": "this test's gateway is on this machine",
    "export NEARHIT_URL": "this test's gateway has a port of its own",
    "nearhit reembed": "it moves what other pages search; tests/ingest/write/test_reembed.py runs",
    "NEARHIT_DATABASE_URL=postgresql://…": _RECOVERY,
    "pg_basebackup": _RECOVERY,
    "pg_verifybackup": _RECOVERY,
    "pip install --no-deps --only-binary": "it needs an index of packages; the image does it",
    "git tag": _RELEASE,
    "make package": "CI runs it without a key",
    "make publish": _RELEASE,
    "git push": _RELEASE,
    "pip install '.[multilingual]'": "its models are 100 MB; tests/index/embedders has them",
    "docker build": _CLUSTER,
    "docker push": _CLUSTER,
    "docker compose": _DOCKER,
    "export DOCUMENTS": _DOCKER,
    'curl -s "$NEARHIT_URL/v1/receipts/keys"': _RECEIPTS,
    "nearhit verify": _RECEIPTS,
    "pip install openapi-python-client": _GENERATORS,
    "openapi-python-client generate": _GENERATORS,
    "npm install": _GENERATORS,
    "npx openapi-typescript": _GENERATORS,
    "sudo": "it changes the machine; tests/deploy/test_units.py reads the units",
    "kubectl": _CLUSTER,
    "helm": _CLUSTER,
}
# `curl` alone succeeds when it is refused. `pip` installs from the checkout. `pytest` is the
# developers', and would run tests within a test. A load test may find the machine too slow for the
# budget.
_PRELUDE = r"""
curl() {
  local body
  body=$(command curl --fail-with-body "$@") || { echo "refused: $body" >&2; return 1; }
  printf '%s\n' "$body"
  case "$* $body" in */v1/search\ *'"hits":[]'*) echo "no hits" >&2; return 1 ;; esac
}
pip() {
  local said
  said=$(cd "$ROOT" && command pip "$1" --quiet --constraint constraints.txt "${@:2}" 2>&1) ||
    { echo "$said" >&2; return 1; }
  case "$said" in *'does not provide the extra'*) echo "$said" >&2; return 1 ;; esac
}
pytest() { cd "$ROOT"; "$DEVELOPERS/pytest" --collect-only -q -p no:cacheprovider "$@" >/dev/null; }
nearhit() { command nearhit "$@" || [[ $?$1 == 1loadtest ]]; }
"""
# A program keeps what it found by one of these names.
_HAS_HITS = """
found = globals()
assert [*found.get("hits", ()), *found.get("results", ()), *([hit] if "hit" in found else ())]
"""
# What the sample searches show: with curl, and from Python.
SHOWN = {
    "README.md": (
        '{"hits":[{"chunk_id":',
        '"document_id":"handbook/people/annual-leave.md"',
        " handbook/people/annual-leave.md: ",
    )
}
# A page that shows what a mistake gives.
MISTAKES = {"run.md": ["NEARHIT_PROT is no setting; did you mean NEARHIT_PORT?"]}


def is_run(line: str) -> bool:
    return not line.startswith(tuple(NOT_RUN))


def commands(text: str) -> list[str]:
    """The commands of a block, each with the lines that continue it."""
    found: list[str] = []
    for line in text.splitlines():
        continues = found and (found[-1].endswith(("\\", "|")) or line.startswith(" "))
        if continues:
            found[-1] += f"\n{line}"
        else:
            found.append(line)
    return found


def script_of(page: Path, folder: Path, replaced: Mapping[str, str]) -> str:
    """All that the page tells to paste into a shell, and its programs in Python."""
    parts = [f"ROOT={ROOT}", f"DEVELOPERS={Path(sys.executable).parent}", _PRELUDE]
    for number, block in enumerate(pasted.blocks_of(page)):
        if block.language == "sh":
            parts += filter(is_run, commands(block.text))
        elif block.language == "toml":
            (folder / "budget.toml").write_text(block.text, encoding="utf-8")
        elif block.language == "python":
            program = folder / f"{page.stem}-{number}.py"
            program.write_text(localized(block.text, replaced) + _HAS_HITS, encoding="utf-8")
            parts.append(f"python {program}")
    return localized("\n".join(parts), replaced)


def localized(text: str, replaced: Mapping[str, str]) -> str:
    for theirs, ours in replaced.items():
        text = text.replace(theirs, ours)
    return text


@cache
def help_of(*words: str) -> Result:
    return CliRunner().invoke(app, [*words, "--help"], terminal_width=200)


@pytest.mark.slow
def test_the_commands_within_sentences_exist() -> None:
    for page in READ:
        text = re.sub(
            r"^ *```.*?^ *```", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL
        )
        for line in re.findall(r"`nearhit ([^`]+)`", text):
            command, _, options = line.partition(" --")
            words = [word for word in command.split() if re.fullmatch(r"[a-z][a-z-]*", word)]

            shown = help_of(*words)

            assert shown.exit_code == 0, (page, line)
            for option in re.findall(r"--[a-z-]+", f"--{options}" if options else ""):
                assert option in shown.output, (page, line)


@pytest.mark.parametrize("target", ["demo", "test", "run", "quick", "setup"])
def test_the_targets_that_pages_name_exist(target: str) -> None:
    assert re.search(rf"^{target}:", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)


def test_every_line_that_is_not_run_is_on_a_page() -> None:
    lines = [
        command
        for page in PAGES
        for block in pasted.blocks_of(page)
        if block.language == "sh"
        for command in commands(block.text)
    ]

    for beginning in NOT_RUN:
        assert any(line.startswith(beginning) for line in lines), beginning


@dataclass(frozen=True, slots=True)
class Terminal:
    """Where a reader pastes: the folder, its variables, and what a page's words are here."""

    folder: Path
    variables: Mapping[str, str]
    replaced: Mapping[str, str]


@pytest.fixture(scope="module")
def data() -> Iterator[Path]:
    with pasted.data_folder() as folder:
        yield folder


@pytest.fixture(scope="module")
def programs(data: Path) -> Path:
    return pasted.install(data / "environment")


@pytest.fixture(scope="module")
async def terminal(
    data: Path, programs: Path, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Terminal]:
    """Beside a gateway with the example handbook, for all pages, with the tenant of one of them."""
    port, folder = free_port(), tmp_path_factory.mktemp("pasted")
    wiki = folder / "home" / "wiki"
    wiki.mkdir(parents=True)
    (wiki / "leave.md").write_text("# Leave\n\nEverybody gets 25 days.\n", encoding="utf-8")
    shutil.copytree(ROOT / "examples" / "handbook", folder / "sources" / "default" / "handbook")
    (folder / "elsewhere").mkdir()
    variables = pasted.environment(
        programs,
        HOME=str(folder / "home"),
        NEARHIT_ADMIN_KEY="the-operators-key-of-this-test",
        NEARHIT_DATA_DIR=str(data / "data"),
        NEARHIT_PORT=str(port),
        NEARHIT_SOURCES_DIR=str(folder / "sources"),
    )
    async with pasted.serving("nearhit serve --example", port, variables):  # as `make run`
        credentials = (data / "data" / "credentials.json").read_text(encoding="utf-8")
        key = json.loads(credentials)["key"]
        variables |= {"NEARHIT_URL": f"http://127.0.0.1:{port}"}
        variables |= dict.fromkeys(("NEARHIT_KEY", "KEY_OF_ADMIN"), key)
        replaced = {
            "8080": str(port),
            "…": key,
            "/elsewhere": str(folder / "elsewhere"),
            "--rate 100 --seconds 60": "--rate 10 --seconds 2",
        }
        ended = await pasted.run(script_of(ACCESS, folder, replaced), variables, folder)
        assert ended.status == 0, (ACCESS.name, ended)
        yield Terminal(folder, variables, replaced)


@pytest.mark.thorough
@pytest.mark.anyio
@pytest.mark.slow
@pytest.mark.parametrize(
    "page",
    [page for page in PAGES if page != ACCESS],  # the fixture runs its lines
    ids=lambda page: str(page.relative_to(ROOT)),
)
async def test_every_line_that_a_page_tells_to_paste_works(terminal: Terminal, page: Path) -> None:
    script = script_of(page, terminal.folder, terminal.replaced)

    ended = await pasted.run(script, terminal.variables, terminal.folder)

    assert ended.status == 0, ended
    assert all(text in ended.out for text in SHOWN.get(page.name, ())), ended.out


def test_data_that_a_page_shows_is_well_formed() -> None:
    parsers: Mapping[str, Callable[[str], object]] = {
        "json": json.loads,
        "toml": tomllib.loads,
        "yaml": yaml.safe_load,
    }
    for page in PAGES:
        for block in pasted.blocks_of(page):
            if parse := parsers.get(block.language):
                try:
                    parse(block.text)
                except (ValueError, yaml.YAMLError) as error:
                    pytest.fail(f"{page}: {error}")


def test_the_settings_that_a_page_names_exist() -> None:
    for page in READ:
        text = page.read_text(encoding="utf-8")
        names = re.findall(r"\bNEARHIT_[A-Z0-9_]*[A-Z0-9]\b", text)

        unknown = unknown_variables(extension_settings.fields(), dict.fromkeys(names, ""))
        assert unknown == MISTAKES.get(page.name, []), page
