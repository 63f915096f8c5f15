"""A stored word list says the same as the one that was read, and nothing else is believed."""

import os
import shutil
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from index.text import tokens
from index.text.word_lists import analysed_languages, digit_shares, stored_lists, word_list
from index.text.word_lists.building import RAREST
from index.text.word_lists.stemming import stem_spelling
from index.text.word_lists.word_list import WordList

pytestmark = pytest.mark.slow

SHARES = {"gato": 1e-3, "cão": 2e-4, "": 1e-7, "\ud800": 5e-7}
SPELLINGS = {"cao": "cão", "maca": "maçã"}
WITHOUT_IMPORT = """
import sys
from index.text import lexical
from index.text.word_lists import analysed_languages
analysed_languages.load({"it"})
lexical.query("12 gatti nel 2024", {"it"})
print("wordfreq" in sys.modules)
"""


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the list of Italian."""
    folder = tmp_path_factory.mktemp("word-lists")
    stored_lists.make("it", folder)
    return folder


@pytest.mark.thorough
def test_each_word_of_a_list_has_the_share_and_the_spelling_that_wordfreq_gives(
    stored: Path,
) -> None:
    import wordfreq  # takes long

    words = [
        (token, wordfreq.cB_to_freq(-centibels))
        for centibels, listed in enumerate(
            wordfreq.read_cBpack(wordfreq.available_languages("large")["it"])
        )
        for word in listed
        for token in tokens.split(word)
    ]
    spellings: dict[str, str] = {}
    shares: defaultdict[str, float] = defaultdict(float)
    for word, share in words:
        spelling = spellings.setdefault(tokens.plain(word).casefold(), word)
        if share >= RAREST:
            shares[stem_spelling(spelling, "it")] += share

    found = stored_lists.find("it", stored)

    assert found is not None
    assert {stem: found.share(stem) for stem in shares} == shares
    assert {plain: found.spelling(plain) for plain in spellings} == spellings


@given(st.text(max_size=12))
def test_a_word_of_no_list_has_no_share_and_is_its_own_spelling(word: str) -> None:
    words = WordList.of(memoryview(word_list.encode(SHARES, SPELLINGS)))

    assert words.share(word) == SHARES.get(word)
    assert words.spelling(word) == SPELLINGS.get(word, word)


def test_an_empty_list_has_no_word() -> None:
    words = WordList.of(memoryview(word_list.encode({}, {})))

    assert words.share("gato") is None
    assert words.spelling("gato") == "gato"


@given(st.from_regex(r"[a-z]{0,3}[0-9.,\u0660-\u0669]{0,9}[a-z]?[0-9.,]{0,9}", fullmatch=True))
def test_the_share_of_a_number_is_that_of_wordfreq(word: str) -> None:
    from wordfreq.numbers import digit_freq, smash_numbers  # takes long

    assert digit_shares.shape(word) == smash_numbers(word)
    assert digit_shares.share_of_shape(word) == digit_freq(word)


def test_a_stored_list_is_used_without_importing_wordfreq() -> None:
    analysed_languages.load({"it"})

    printed = subprocess.run(  # noqa: S603  our own
        [sys.executable, "-c", WITHOUT_IMPORT], capture_output=True, check=True, text=True
    )

    assert printed.stdout == "False\n"


@pytest.mark.parametrize("damage", ["cut", "altered", "emptied", "too long", "writable", "a link"])
def test_a_file_that_is_damaged_or_that_others_can_write_is_not_used(
    stored: Path, tmp_path: Path, damage: str
) -> None:
    (file,) = (Path(shutil.copy(file, tmp_path)) for file in stored.iterdir())
    assert stored_lists.find("it", tmp_path) is not None
    content = file.read_bytes()
    match damage:
        case "cut":
            file.write_bytes(content[:-1])
        case "altered":
            file.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
        case "emptied":
            file.write_bytes(b"")
        case "too long":
            os.truncate(file, stored_lists.FILE_BYTES_MAX + 1)
        case "writable":
            file.chmod(0o666)
        case _:
            file.symlink_to(file.rename(tmp_path / "elsewhere"))

    assert stored_lists.find("it", tmp_path) is None


@pytest.mark.thorough
def test_without_a_usable_folder_a_list_is_made_in_memory(tmp_path: Path) -> None:
    (tmp_path / "file").touch()

    words = stored_lists.make("it", tmp_path / "file")

    assert words.share("gatt") is not None
    assert stored_lists.find("it", tmp_path / "file") is None
