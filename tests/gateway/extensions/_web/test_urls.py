"""URLs in one spelling."""

import pytest

from gateway.extensions._web import urls
from index.model.document import DOCUMENT_ID_CHARACTERS_MAX


@pytest.mark.parametrize(
    ("url", "normalised"),
    [
        ("HTTP://Help.Example:80/A b#part", "http://help.example/A%20b"),
        ("https://help.example:443", "https://help.example/"),
        ("https://help.example:8443/a?q=ü", "https://help.example:8443/a?q=%C3%BC"),
        ("HTTP://[2606:4700:0:0::1111]:80/a", "http://[2606:4700::1111]/a"),
        ("https://[::1]:8443", "https://[::1]:8443/"),
        ("https://help.example/a%20b?x=1&y=%26", "https://help.example/a%20b?x=1&y=%26"),
    ],
)
def test_equal_urls_have_one_spelling(url: str, normalised: str) -> None:
    assert urls.normalise(url) == normalised
    assert urls.normalise(normalised) == normalised


def test_a_relative_url_is_resolved() -> None:
    assert urls.normalise("../c?d#e", "https://h.example/a/b/") == "https://h.example/a/c?d"


@pytest.mark.parametrize(
    "url",
    [
        *("ftp://h/a", "file:///etc/passwd", "javascript:x", "http://u:p@h/a", ""),
        *("http://[::1::2]/", "http://[fe80::1%25eth0]/", "http://u:p@[::1]/"),
    ],
)
def test_what_is_no_url_of_a_page_is_refused(url: str) -> None:
    with pytest.raises(ValueError, match=r"must be|must have"):
        urls.normalise(url)


@pytest.mark.parametrize(
    ("url", "is_within"),
    [
        ("https://h.example/b", True),
        ("http://h.example/b", False),
        ("https://www.h.example/b", False),
        ("https://h.example.evil/b", False),
        ("https://h.example:8443/b", False),
    ],
)
def test_a_page_is_of_the_same_host_and_as_safe(url: str, *, is_within: bool) -> None:
    assert urls.is_within(url, "https://h.example/a") is is_within


def test_identifiers_do_not_depend_on_the_protocol_and_are_bounded() -> None:
    long = "http://h.example/" + "a" * 1_000

    assert urls.document_path("http://h.example/a?b=c") == "a?b=c"
    assert urls.document_path("https://h.example/") == "index"
    assert len(urls.document_path(long)) == DOCUMENT_ID_CHARACTERS_MAX - 129
    assert urls.document_path(long) != urls.document_path(long + "b")
