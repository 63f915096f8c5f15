"""The reference has every call, with the bodies that it links to."""

import re

from docs.generate import http
from tests.gateway.support.routes import ROUTES


def test_each_call_has_a_place_on_a_page_of_the_http_api() -> None:
    overview, *groups = http.pages().values()

    calls = [f"{call.method} {http.path(call)}" for call in ROUTES]
    headings = [line for text in groups for line in text.splitlines()]
    assert all(f"## {call}" in headings and f"`{call}`" in overview for call in calls)


def test_each_page_of_the_http_api_has_the_bodies_that_it_links_to() -> None:
    for text in http.pages().values():
        headings = {heading.lower() for heading in re.findall(r"^### (\w+)$", text, re.MULTILINE)}

        assert set(re.findall(r"\]\(#(\w+)\)", text)) <= headings
