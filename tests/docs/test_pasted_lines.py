"""Each line that a page tells a reader to paste is run as it stands; the rest is listed, and why.

One gateway serves all pages, with the example handbook. Only its port, its folders and the
placeholder `…` differ from the pages. A call that is refused and a search without a hit fail the
test, as does a line that this file lists and no page has. Pages of the first hour have tests of
their own, in test_first_hour.py.
"""

import json
import re
import shutil
import tomllib
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest
import yaml
from typer.testing import CliRunner, Result

from docs.generate.pages import committed
from gateway.cli.main import app
from gateway.configured import extension_settings
from gateway.settings.setting_sources import unknown_variables
from tests.docs import pasted
from tests.docs.checkout import FIRST_HOUR, Checkout, checked_out
from tests.docs.named_tests import ROOT

# This page makes the tenant `acme`, of which others tell.
ACCESS = ROOT / "docs" / "how-to" / "access.md"
PAGES = [ACCESS, *sorted({*committed()} - {ACCESS, *FIRST_HOUR})]
READ = [*PAGES, *FIRST_HOUR]
_CLUSTER = "it needs a registry and a cluster; tests/deploy renders and checks the chart"
_RELEASE = "it publishes a release; tests/deploy/test_release.py tells what it runs"
_FOREVER = "it runs until it is stopped; tests/gateway/cli runs it"
_SERVERS = "its servers are the operator's; tests/gateway/extensions/setup_commands runs it"
_STORES = "it needs another store; tests/gateway/extensions/import_ runs such lines"
_PENDING = "no removal waits; tests/gateway/extensions/sources confirms one"
_RECOVERY = "it needs a server of its own; tests/gateway/faults/test_backup.py does these steps"
_RECEIPTS = "it needs a gateway with a key; tests/gateway/extensions/receipts does these steps"
# By the line's beginning.
NOT_RUN = {
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
    "NEARHIT_DATABASE_URL=postgresql://…": _RECOVERY,
    "pg_basebackup": _RECOVERY,
    "pg_verifybackup": _RECOVERY,
    "pip install --no-deps --only-binary": "it needs an index of packages; the image does it",
    "git tag": _RELEASE,
    "make package": "CI runs it without a key",
    "make publish": _RELEASE,
    "git push": _RELEASE,
    "docker build": _CLUSTER,
    "docker push": _CLUSTER,
    'curl -s "$NEARHIT_URL/v1/receipts/keys"': _RECEIPTS,
    "nearhit verify": _RECEIPTS,
    "nearhit replay": _RECEIPTS,
    "kubectl": _CLUSTER,
    "helm": _CLUSTER,
}
# A program keeps what it found by one of these names.
_HAS_HITS = """
found = globals()
assert [*found.get("hits", ()), *found.get("results", ()), *([hit] if "hit" in found else ())]
"""
# A page that shows what a mistake gives.
MISTAKES = {"run.md": ["NEARHIT_PROT is no setting; did you mean NEARHIT_PORT?"]}


def is_run(line: str) -> bool:
    return not line.startswith(tuple(NOT_RUN))


def lines_of(page: Path, checkout: Checkout) -> list[str]:
    """All that the page tells to paste into a shell, and its programs in Python."""
    lines: list[str] = []
    for number, block in enumerate(pasted.blocks_of(page)):
        if block.language == "sh":
            lines += filter(is_run, pasted.commands(block.text))
        elif block.language == "toml":
            (checkout.folder / "budget.toml").write_text(block.text, encoding="utf-8")
        elif block.language == "python":
            program = checkout.folder / f"{page.stem}-{number}.py"
            program.write_text(checkout.localized(block.text) + _HAS_HITS, encoding="utf-8")
            lines.append(f"python {program.name}")
    return lines


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
        for command in pasted.commands(block.text)
    ]

    for beginning in NOT_RUN:
        assert any(line.startswith(beginning) for line in lines), beginning


@pytest.fixture(scope="module")
async def checkout() -> AsyncIterator[Checkout]:
    """With a gateway of the example handbook, for all pages, and the tenant of one of them."""
    with checked_out() as made:
        machine, port = made.machine, int(made.variables["NEARHIT_PORT"])
        shutil.copytree(
            ROOT / "examples" / "handbook", machine / "sources" / "default" / "handbook"
        )
        (machine / "elsewhere").mkdir()
        variables = dict(made.variables) | {
            "NEARHIT_ADMIN_KEY": "the-operators-key-of-this-test",
            "NEARHIT_SOURCES_DIR": str(machine / "sources"),
            "NEARHIT_URL": f"http://127.0.0.1:{port}",
            "PIP_CONSTRAINT": str(ROOT / "constraints.txt"),
        }
        del variables["PIP_NO_INDEX"]  # pages install extras
        installed = await made.follow(["python3 -m venv .venv", "pip install ."])
        assert installed.status == 0, installed
        async with pasted.serving("nearhit serve --example", port, variables, made.folder):
            credentials = (machine / "data" / "credentials.json").read_text(encoding="utf-8")
            key = json.loads(credentials)["key"]
            variables |= dict.fromkeys(("NEARHIT_KEY", "KEY_OF_ADMIN"), key)
            words = {
                "…": key,
                "/elsewhere": str(machine / "elsewhere"),
                "--rate 100 --seconds 60": "--rate 10 --seconds 2",
            }
            served = replace(made.with_words(words), variables=variables)
            ended = await served.follow(lines_of(ACCESS, served))
            assert ended.status == 0, (ACCESS.name, ended)
            yield served


@pytest.mark.thorough
@pytest.mark.anyio
@pytest.mark.slow
@pytest.mark.parametrize(
    "page",
    [page for page in PAGES if page != ACCESS],  # the fixture runs its lines
    ids=lambda page: str(page.relative_to(ROOT)),
)
async def test_every_line_that_a_page_tells_to_paste_works(checkout: Checkout, page: Path) -> None:
    ended = await checkout.follow(lines_of(page, checkout))

    assert ended.status == 0, ended


def test_data_that_a_page_shows_is_well_formed() -> None:
    parsers: Mapping[str, Callable[[str], object]] = {
        "json": json.loads,
        "toml": tomllib.loads,
        "yaml": yaml.safe_load,
    }
    for page in READ:
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
