"""The files of the project that a page names exist, and hold the names that it gives."""

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


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_the_files_that_a_page_names_are_there(page: Path) -> None:
    for name in _FILE.findall(page.read_text(encoding="utf-8")):
        assert (ROOT / name).exists(), name


def test_the_walks_of_changes_give_names_that_their_files_hold() -> None:
    text = (DOCS / "how-to" / "change-nearhit.md").read_text(encoding="utf-8")
    steps = re.findall(r"^\| (`.+?`) \| `(\w+)` \|", text, re.MULTILINE)

    assert len(steps) > 20
    for files, name in steps:
        for file in re.findall(r"`(.+?)`", files):
            assert name in (ROOT / file).read_text(encoding="utf-8"), (file, name)
