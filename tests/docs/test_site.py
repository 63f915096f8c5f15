"""The documentation site holds every page, and tells language models of each."""

from docs.generate import site
from docs.generate.pages import DOCS, built, committed


def test_every_page_has_a_place_in_the_navigation() -> None:
    named = {DOCS / page.path for page in site.pages()}

    assert named >= set(committed())
    assert named <= {*committed(), *built()}


def test_every_page_has_a_description() -> None:
    described = set(site.config()["extra"]["descriptions"])

    assert described == {page.path for page in site.pages()}


def test_llms_txt_has_a_title_a_summary_and_a_line_for_each_page() -> None:
    lines = site.llms_txt().splitlines()

    assert lines[0] == "# Nearhit"
    assert lines[2].startswith("> Nearhit is")
    assert sum(line.startswith("- [") for line in lines) == len(site.pages())
