"""The reference pages are what the code says."""

import re
from collections.abc import Callable

import pytest

from docs.generate import http
from docs.generate.pages import REFERENCE, WRITERS, committed
from gateway.api.routes.table import ROUTES


@pytest.mark.parametrize("name", WRITERS)
def test_a_reference_page_equals_what_the_code_says(name: str) -> None:
    write: Callable[[], str] = WRITERS[name]

    assert (REFERENCE / name).read_text(encoding="utf-8") == write(), "run `make docs`"


def test_every_reference_page_is_written_from_the_code() -> None:
    assert {page.name for page in committed() if page.parent == REFERENCE} == set(WRITERS)


def test_each_call_has_a_place_on_a_page_of_the_http_api() -> None:
    overview, *groups = http.pages().values()

    calls = [f"{call.method} {http.path(call)}" for call in ROUTES]
    headings = [line for text in groups for line in text.splitlines()]
    assert all(f"## {call}" in headings and f"`{call}`" in overview for call in calls)


def test_each_page_of_the_http_api_has_the_bodies_that_it_links_to() -> None:
    for text in http.pages().values():
        headings = {heading.lower() for heading in re.findall(r"^### (\w+)$", text, re.MULTILINE)}

        assert set(re.findall(r"\]\(#(\w+)\)", text)) <= headings
