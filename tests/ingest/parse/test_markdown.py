import tracemalloc

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from ingest.parse import markdown
from ingest.parse.markdown import (
    BLOCK_PARSER,
    HEADING_CHARACTERS_MAX,
    HEADING_MARKUP_MAX,
    blocks,
    title,
)

markup = st.text(
    st.sampled_from("ab é\t\n#>-*+=|`~[]():.1<!&\\\r\0") | st.characters(exclude_categories=["Cs"])
)


def kinds(text: str) -> list[tuple[str, str]]:
    return [(block.kind, text[block.start : block.end].strip()) for block in blocks(text)]


def test_the_title_is_the_first_heading_with_words() -> None:
    assert title("Intro.\n\n#\n\n## Time *off*\n\n# Leave\n") == "Time off"
    assert title("Intro.\n") is None
    assert title("Intro.\n\n" * 1_000 + "# Leave\n") is None


@pytest.mark.parametrize("heading", ["# Leave\n", "Leave\n=====\n", "```\n# No\n```\n# Leave\n"])
def test_the_title_is_the_same_wherever_near_the_beginning_it_stands(heading: str) -> None:
    for before in range(410):
        assert title(f"{'x' * before}\n\n{heading}\nThe text.\n\n# Later\n") == "Leave"


@given(markup)
def test_blocks_end_to_end_are_the_text(text: str) -> None:
    spans = "".join(text[block.start : block.end] for block in blocks(text))

    assert spans == (text if blocks(text) else "")
    assert blocks(text) or not text.strip()


def test_list_items_and_table_rows_and_paragraphs_are_blocks_of_their_own() -> None:
    text = "One.\n\n- two\n  - three\n\n    four\n\n| a |\n|---|\n| b |\n\n> five\n>\n> six\n"

    assert kinds(text) == [
        ("prose", "One."),
        ("prose", "- two"),
        ("prose", "- three"),
        ("prose", "four"),
        ("prose", "| a |\n|---|"),
        ("prose", "| b |"),
        ("prose", "> five\n>"),
        ("prose", "> six"),
    ]


def test_code_and_raw_html_are_blocks_of_lines() -> None:
    text = "- one\n  ```\n  two\n  ```\n\n<div>\n</div>\n\n~~~\nthree"

    assert kinds(text) == [
        ("prose", "- one"),
        ("code", "```\n  two\n  ```"),
        ("code", "<div>\n</div>"),
        ("code", "~~~\nthree"),
    ]


def test_a_heading_says_its_level_and_its_words_without_markup() -> None:
    (atx,) = blocks('## The `nearhit` [command](x "y") <a id="c"></a> &amp; \\*friends\\* ##\n')
    (setext,) = blocks("Two\n*lines*\n===\n")

    assert (atx.level, atx.heading) == (2, "The nearhit command & *friends*")
    assert (setext.level, setext.heading) == (1, "Two lines")


def test_headings_in_lists_quotes_and_code_are_not_headings() -> None:
    text = "- # one\n\n> # two\n\n```\n# three\n```\n"

    assert not any(block.level for block in blocks(text))


def test_an_endless_heading_is_cut_short() -> None:
    (heading,) = blocks("# " + "word " * 100_000)

    assert len(heading.heading) <= HEADING_CHARACTERS_MAX


@given(markup, st.lists(st.text("a |:-\\\n> ", max_size=12), max_size=8))
@example("", ["|a|b|\n|-|-|\n|c\n- d\n"])
def test_a_table_has_the_rows_that_markdown_it_gives_it(before: str, lines: list[str]) -> None:
    text = before + "\n|a|b|\n|-|-|\n" + "\n".join(lines)
    theirs = MarkdownIt("commonmark").enable("table").disable(["normalize", "reference", "inline"])

    rows = [token.map for token in theirs.parse(text) if token.type == "tr_open"]

    ours = ("table_header", "table_row")
    assert [token.map for token in BLOCK_PARSER.parse(text) if token.type in ours] == rows


def test_a_table_takes_memory_for_its_rows_and_not_for_its_cells() -> None:
    columns, rows = 50, 1_000
    text = "|a" * columns + "\n" + "|-" * columns + "\n" + ("|" * columns + "\n") * rows

    tracemalloc.start()
    found = blocks(text)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()

    assert len(found) == 1 + rows
    assert peak < 50 * len(text)


def test_after_many_lines_there_are_paragraphs_and_nothing_is_lost(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(markdown, "LINES_MAX", 1_000)
    text = "a\n" * 998 + "\n# Read\n# Not read\n- nor\n- these\n\nLast.\n"

    found = blocks(text)

    assert "".join(text[block.start : block.end] for block in found) == text
    assert [block.heading for block in found if block.level] == ["Read"]
    assert [text[block.start : block.end].partition("\n")[0] for block in found[-2:]] == [
        "# Not read",
        "Last.",
    ]


def test_a_heading_of_much_markup_is_taken_as_it_is_written() -> None:
    (heading,) = blocks("# " + "[" * (HEADING_MARKUP_MAX + 1))

    assert heading.heading == "[" * (HEADING_MARKUP_MAX + 1)
