"""What pages name of the code exists, and what the code names of the design."""

import re
from pathlib import Path

import pytest

from docs.generate.pages import DOCS, committed

ROOT = DOCS.parent
PAGES = [
    ROOT / "CONTRIBUTING.md",
    ROOT / "README.md",
    *committed(),
]
_FILE = re.compile(
    r"`((?:gateway|cache|index|ingest|loadtests|tests|docs|examples)/[\w./-]+\.(?:py|sql|md))`"
)

_SECTION = re.compile(r"\bdocs/design/([\w-]+\.md)(?:#([\w-]+))?")


def _places(page: Path) -> set[str]:
    """The names of the page's headings in links."""
    headings = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading).lower().replace(" ", "-") for heading in headings}


def test_the_files_that_a_page_names_are_there() -> None:
    for page in PAGES:
        for name in _FILE.findall(page.read_text(encoding="utf-8")):
            assert (ROOT / name).exists(), (page, name)


@pytest.mark.parametrize("package", ["cache", "gateway", "index", "ingest", "loadtests"])
def test_the_sections_of_the_design_that_code_names_are_there(package: str) -> None:
    for module in (ROOT / package).rglob("*.py"):
        for page, place in _SECTION.findall(module.read_text(encoding="utf-8")):
            assert place in {"", *_places(DOCS / "design" / page)}, (module, page, place)


def test_the_walks_of_changes_give_names_that_their_files_hold() -> None:
    text = (DOCS / "how-to" / "change-nearhit.md").read_text(encoding="utf-8")
    steps = re.findall(r"^\| (`.+?`) \| `(\w+)` \|", text, re.MULTILINE)

    assert len(steps) > 20
    for files, name in steps:
        for file in re.findall(r"`(.+?)`", files):
            assert name in (ROOT / file).read_text(encoding="utf-8"), (file, name)
