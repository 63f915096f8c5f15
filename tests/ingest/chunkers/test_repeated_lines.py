"""A part of a table, a list or code says in its chunk what it is a part of."""

import pytest

from ingest.chunkers.chunk import Chunk
from ingest.chunkers.structure import WORDS_MAX, chunks
from ingest.chunkers.word_count import count_words

NUMBERS = range(150)


def table(header: str, delimiters: str, indentation: str = "") -> str:
    rows = [f"| {number} | lamp {number} of the harbour |" for number in NUMBERS]
    return "\n".join(f"{indentation}{line}" for line in (header, delimiters, *rows))


def items(marker: str, indentation: str = "") -> str:
    return "\n".join(f"{indentation}{marker} Trim lamp {number} at dusk." for number in NUMBERS)


def code(indentation: str = "") -> str:
    return "\n".join(f"{indentation}    lamps[{number}].trim(at=dusk)" for number in NUMBERS)


def repeated(text: str) -> list[str]:
    """What precedes the own text of each chunk but the first."""
    return [before_own_text(text, chunk) for chunk in chunks(text)[1:]]


def before_own_text(text: str, chunk: Chunk) -> str:
    return chunk.text.removesuffix(text[chunk.start : chunk.end])


HEADER = "| no | what |\n|---|---|\n"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (table("| no | what |", "|---|---|"), HEADER),
        (table("| no | what |", "|---|---|", "  "), "| no | what |\n  |---|---|\n  "),
        (table("| no    |       what |", "|-------|-----------:|"), "| no | what |\n|---|---:|\n"),
        ("# Lamps\n\nAll of them.\n\n" + table("| no | what |", "|---|---|"), HEADER),
        (
            table("> | no | what |", "> |---|---|", "").replace("\n| ", "\n> | "),
            "> | no | what |\n> |---|---|\n",
        ),
        (table("|  |  |", "|---|---|"), ""),
        (
            "- The lamps:\n\n" + table("| no | what |", "|---|---|", "  "),
            "- The lamps:\n  | no | what |\n  |---|---|\n  ",
        ),
        ("- Lamps\n" + items("-", "  "), "- Lamps\n  "),
        ("1. Lamps\n   1. Large\n" + items("*", "      "), "1. Lamps\n   1. Large\n      "),
        ("- Lamps\n\n  Of oil.\n\n" + items("+", "  "), "- Lamps\n  "),
        ("Do this each day:\n\n" + items("-"), "Do this each day:\n"),
        ("毎日すること\N{FULLWIDTH COLON}\n\n" + items("-"), "毎日すること\N{FULLWIDTH COLON}\n"),
        ("We do a lot.\n\n" + items("-"), ""),
        (f"```python\n{code()}\n```", "```python\n    "),
        (f"~~~ {{.python}}\n{code()}\n~~~", "~~~ {.python}\n    "),
        (f"1. Run\n\n   ```sh\n{code('   ')}\n   ```", "1. Run\n   ```sh\n       "),
        (f"Some code.\n\n{code()}", ""),
        (f"<pre>\n{code()}\n</pre>", ""),
    ],
)
def test_a_chunk_repeats_what_its_text_is_a_part_of(text: str, expected: str) -> None:
    found = repeated(text)

    assert len(found) > 1
    assert set(found) == {expected}


def test_the_lines_end_with_the_table() -> None:
    text = table("| no | what |", "|---|---|") + "\n\n" + "All of them burn oil at night. " * 60

    found = repeated(text)

    assert found[0] == HEADER
    assert found[-1] == ""


@pytest.mark.parametrize(
    "header",
    [
        "| no | what " + "of the lamps " * 500,
        "| " + "no" * 5_000 + " | what |",
        "| no | " + "燈" * 500 + " |",
    ],
)
def test_a_long_header_is_shortened(header: str) -> None:
    found = chunks(table(header, "|---|---|"))

    assert len(found) > 4
    assert all(count_words(chunk.text) <= WORDS_MAX for chunk in found)
    assert found[-1].text.startswith("| no")


def test_of_many_items_around_the_outermost_are_left_out() -> None:
    around = "\n".join(f"{' ' * 2 * at}- Lamp {at} {'of oil ' * 15}" for at in range(8))

    (*_, found) = repeated(f"{around}\n{items('-', ' ' * 16)}")

    assert found.startswith("- Lamp 6")
    assert "- Lamp 7" in found


@pytest.mark.parametrize("number", NUMBERS[::10])
@pytest.mark.parametrize(
    "text",
    [
        table("| no | what |", "|---|---|"),
        f"Each day:\n\n{items('-')}",
        f"```python\n{code()}\n```",
    ],
    ids=["table", "list", "code"],
)
def test_an_edit_of_one_line_embeds_that_chunk_or_its_neighbours(text: str, number: int) -> None:
    lines = text.split("\n")
    lines[number + 2] = lines[number + 2].replace("lamp", "candle")
    old, new = ({chunk.digest for chunk in chunks(each)} for each in (text, "\n".join(lines)))

    assert len(old) > 2
    assert 1 <= len(new - old) <= 3
