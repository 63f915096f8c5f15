"""What a text says in its own sentences: bounded, the same every time, and nothing but the text."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.chunkers.word_count import count_words
from ingest.summaries.extract import WORDS_MAX, extract

HARBOUR = """# The harbour

The lighthouse of the harbour burns whale oil, and its keeper trims the lamp every evening.
Ships enter the harbour when the lighthouse keeper has lit the lamp.
My aunt likes plums.
"""
MORE = """
A lighthouse without a keeper is dark, and no ship enters the harbour at night.
Whale oil gives the lamp of the lighthouse a steady light that ships see from far away.
Buses stop twice an hour.
When fog hides the lamp, the keeper of the lighthouse rings a bell for the ships.
The harbour pays the keeper for the oil that the lamp burns in winter.
Ships pay the harbour a due for the light that the lighthouse gives them.
Once a year the keeper paints the lighthouse white, so that ships see it by day.
"""
LANGUAGES = {
    "en": "The keeper lights the lamp, e.g. at dusk. Ships then enter the harbour in a long line.",
    "pt": "O faroleiro acende a lâmpada às 18h. Os navios entram no porto, um atrás do outro.",
    "de": "Der Wärter zündet am Abend die Lampe an. Die Schiffe laufen dann in den Hafen ein.",
    "fr": "Le gardien allume la lampe le soir. Les navires entrent alors dans le port sans bruit.",
    "ja": "灯台守は夕方に灯をともす。船は長い列をなして港に入る。",
    "ru": "Смотритель зажигает лампу вечером. Корабли входят в гавань длинной вереницей.",
}
MARKS = "# -*>|`\n.!? 。[]()"
texts = st.text() | st.text(alphabet="ab" + MARKS) | st.lists(st.sampled_from(sorted(
    LANGUAGES.values()
)), max_size=30).map("\n\n".join)  # fmt: skip


@given(texts)
def test_it_is_bounded_and_says_nothing_that_is_not_there(text: str) -> None:
    said = extract(text)

    assert count_words(said) <= WORDS_MAX
    assert set(said) <= {*text, " "}
    assert said == extract(text)
    assert bool(said) or not any(map(str.isalnum, text))


def test_what_the_text_is_about_is_said_and_what_is_by_the_way_is_not() -> None:
    said = extract(f"{HARBOUR}\n{MORE}")

    assert said.startswith("The lighthouse of the harbour burns whale oil")
    assert "aunt" not in said
    assert "Buses" not in said


def test_nothing_is_said_twice() -> None:
    said = extract("\n\n".join([HARBOUR] * 20))

    assert said.count("whale oil") == 1


def test_sentences_come_in_the_order_of_the_text() -> None:
    numbered = [
        f"Lamp {number} of the lighthouse is lit by keeper {number}." for number in range(50)
    ]

    said = [each for each in numbered if each in extract(" ".join(numbered))]

    assert len(said) > 2
    assert said == sorted(said, key=numbered.index)


@pytest.mark.parametrize("language", LANGUAGES)
def test_it_is_made_of_whole_sentences_in_any_language(language: str) -> None:
    assert extract(LANGUAGES[language]) == LANGUAGES[language]


def test_marks_of_lists_tables_and_links_are_left_out() -> None:
    text = (
        "- The **lighthouse** burns [whale oil](https://oil.example) every evening.\n"
        "2. > The harbour is closed at night to all ships.\n\n"
        "| lamp | oil |\n|---|---|\n| 1 | whale |\n"
    )

    assert extract(text) == (
        "The lighthouse burns whale oil every evening. The harbour is closed at night to all ships."
    )


def test_what_is_no_prose_is_summed_up_all_the_same() -> None:
    assert extract("```\nlight_the_lamp(keeper, oil)\n```") == "light_the_lamp(keeper, oil)"
    assert extract("# Harbour\n\n## Lamps") == "Harbour Lamps"
    assert extract("x" * 100_000) == "x" * 16
    assert extract(" \n") == ""


@pytest.mark.thorough
def test_another_process_says_the_same() -> None:
    """Whatever order its hashes put things in."""
    text = "\n\n".join([HARBOUR, *LANGUAGES.values()] * 3)
    code = (
        "import sys; from ingest.summaries.extract import extract;"
        "sys.stdout.buffer.write(extract(sys.stdin.buffer.read().decode()).encode())"
    )
    root = str(Path(__file__).parents[3])
    made = subprocess.run(  # noqa: S603  our own interpreter
        [sys.executable, "-c", code],
        input=text.encode(),
        capture_output=True,
        check=True,
        env={**os.environ, "PYTHONHASHSEED": "7", "PYTHONPATH": root},
    )

    assert made.stdout.decode() == extract(text)
