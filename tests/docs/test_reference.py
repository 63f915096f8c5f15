"""The reference pages are what the code says."""

from collections.abc import Callable

import pytest

from docs.generate.pages import REFERENCE, WRITERS


@pytest.mark.parametrize("name", WRITERS)
def test_a_reference_page_equals_what_the_code_says(name: str) -> None:
    write: Callable[[], str] = WRITERS[name]

    assert (REFERENCE / name).read_text(encoding="utf-8") == write(), "run `make docs`"


def test_every_reference_page_is_written_from_the_code() -> None:
    assert {page.name for page in REFERENCE.iterdir()} == set(WRITERS)
