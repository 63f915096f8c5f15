"""The files of the project that a page names are there."""

import re
from pathlib import Path

import pytest

from docs.generate.pages import DOCS

ROOT = DOCS.parent
PAGES = [
    ROOT / "CONTRIBUTING.md",
    ROOT / "README.md",
    *(page for page in DOCS.rglob("*.md") if page.parent.name != "decisions"),
]
_FILE = re.compile(
    r"`((?:gateway|cache|index|ingest|loadtests|tests|docs|examples)/[\w./-]+\.(?:py|sql|md))`"
)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_the_files_that_a_page_names_are_there(page: Path) -> None:
    for name in _FILE.findall(page.read_text(encoding="utf-8")):
        assert (ROOT / name).exists(), name
