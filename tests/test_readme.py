"""The README is short, each party of the threat model has a test, and every link resolves."""

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from docs.generate import pages
from tests.docs.named_tests import assert_tests_exist, table_rows

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
PAGES = [*sorted(ROOT.glob("*.md")), *pages.committed()]
_README_WORDS_MAX = 700
_FENCED = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"\]\(([^)\s]+)\)")
_NOT_OURS = ("http://", "https://", "mailto:")


def text_of(page: Path) -> str:
    return pages.built().get(page) or page.read_text(encoding="utf-8")


@cache
def anchors(page: Path) -> set[str]:
    """Of the page's headings, as the site makes them, and GitHub too if it has the page."""
    headings = re.findall(r"^#+ (.+)$", _FENCED.sub("", text_of(page)), re.MULTILINE)
    words = [re.sub(r"[^\w\- ]", "", heading.lower()) for heading in headings]
    of_the_site = {re.sub("[- ]+", "-", each.strip()) for each in words}
    if page in pages.built():
        return of_the_site
    return of_the_site & {each.replace(" ", "-") for each in words}


def test_the_readme_is_short() -> None:
    assert len(text_of(ROOT / "README.md").split()) <= _README_WORDS_MAX


def links(page: Path) -> Iterator[tuple[Path, str]]:
    """The file and the anchor of each link to a page of ours."""
    for link in _LINK.findall(_FENCED.sub("", text_of(page))):
        if not link.startswith(_NOT_OURS):
            name, _, anchor = link.partition("#")
            yield (page.parent / name).resolve() if name else page, anchor


def assert_links_lead_somewhere(page: Path) -> None:
    for target, anchor in links(page):
        assert target in pages.built() or target.exists(), (page, target)
        assert not anchor or anchor in anchors(target), (page, target, anchor)


@pytest.mark.slow
def test_links_lead_somewhere() -> None:
    for page in (*PAGES, *pages.built()):
        assert_links_lead_somewhere(page)


def test_the_readme_links_to_no_page_that_is_not_there_before_the_site_is_built() -> None:
    assert not {target for target, _ in links(ROOT / "README.md")} & pages.built().keys()


def test_each_party_of_the_threat_model_has_a_test_that_exists() -> None:
    rows = table_rows(DOCS / "security.md")

    assert len(rows) > 15
    for row in rows:
        assert_tests_exist(row[-1])
