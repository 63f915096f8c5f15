"""The process that extracts texts: what its readers may not do, and what it loads."""

import pickle
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing

import pytest

from gateway.extensions._files import extract
from gateway.extensions._files.extract import Extractor
from gateway.extensions._files.extracted import Unreadable
from gateway.extensions._files.formats import Format
from tests.ingest.support.odd_readers import FORMATS


@pytest.fixture
def extractor() -> Iterator[Extractor]:
    with closing(Extractor(FORMATS)) as extractor:
        yield extractor


def test_its_process_begins_without_what_one_of_its_readers_may_need() -> None:
    """The models of a document take longer to load than all that it needs."""
    heavy = ("asyncio", "email", "lxml", "pydantic")
    program = f"import sys, gateway.extensions._files.extract; print(*{heavy} & sys.modules.keys())"

    done = subprocess.run([sys.executable, "-c", program], check=True, stdout=subprocess.PIPE)  # noqa: S603  our own

    assert done.stdout == b"\n"


def test_what_a_reader_finds_gets_one_form(extractor: Extractor) -> None:
    found = extractor.extract(".said", b"Hello")

    assert (found.text, found.title, found.language) == ("Hello\n\nEnd\n", "A title", "pt-BR")


@pytest.mark.parametrize(
    ("suffix", "reason"),
    [
        (".large", "takes more memory to read than the limit"),
        (".nest", "is nested too deeply"),
        (".fail", "is not a FAIL that can be read: KeyError: 'x'"),
        (".lack", "needs what is not here"),
    ],
)
def test_a_file_that_can_not_be_read_is_refused_and_the_next_one_read(
    extractor: Extractor, suffix: str, reason: str
) -> None:
    with pytest.raises(Unreadable) as refused:
        extractor.extract(suffix, b"x")

    assert str(refused.value) == reason
    assert extractor.extract(".said", b"Still here.").text == "Still here.\n\nEnd\n"


def test_what_takes_too_long_for_its_size_is_ended_and_the_next_one_read(
    extractor: Extractor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(extract, "SECONDS_MIN", 0.1)

    with pytest.raises(Unreadable, match=r"^takes longer to read than the limit of 0 s"):
        extractor.extract(".long", b"x")

    monkeypatch.undo()
    assert extractor.extract(".said", b"Still here.").text == "Still here.\n\nEnd\n"


def test_a_format_that_the_process_could_not_load_is_none() -> None:
    with pytest.raises((AttributeError, pickle.PicklingError)):
        Format("a LAMBDA", (".x",), lambda _content, _options: None)  # type: ignore[arg-type, return-value]


@pytest.mark.parametrize("suffix", ["pdf", ".PDF", ".tar.gz", "."])
def test_a_suffix_that_no_name_of_a_file_has_is_none(suffix: str) -> None:
    with pytest.raises(AssertionError):
        Format("an X", (suffix,))
