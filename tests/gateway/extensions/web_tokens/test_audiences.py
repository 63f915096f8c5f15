"""Audiences of web tokens: forms of one URL are equal, and nothing else is."""

import pytest

from gateway.extensions.web_tokens.audiences import normal_form, normal_forms

RESOURCE = "https://search.example/mcp"


@pytest.mark.parametrize(
    "audience",
    [
        RESOURCE,
        "https://search.example/mcp/",
        "HTTPS://SEARCH.example/mcp",
        "https://search.example:443/mcp",
        "hTTps://Search.Example:443/mcp/",
        "https://search.example:/mcp",
        "https://search.example/%6Dcp",
        "https://search.example/x/../mcp",
        "https://search.example/%2e/mcp",
        "https://search.example/./mcp/",
    ],
)
def test_forms_of_one_url_are_equal(audience: str) -> None:
    assert normal_form(audience) == normal_form(RESOURCE)


@pytest.mark.parametrize(
    "audience",
    [
        "http://search.example/mcp",
        "https://search.example/",
        "https://search.example",
        "https://search.example/MCP",
        "https://search.example/mcpx",
        "https://search.example/mcp//",
        "https://search.example/mcp%2F",
        "https://search.example/mcp?",
        "https://search.example/mcp/?x=1",
        "https://search.example/mcp#x",
        "https://search.example:8443/mcp",
        "https://search.example:80/mcp",
        "https://search.example./mcp",
        "https://search.example.evil.example/mcp",
        "https://evil.example/https://search.example/mcp",
        "https://search.example@evil.example/mcp",
        "https://user@search.example/mcp",
        "https://search.example\\@evil.example/mcp",
        " https://search.example/mcp",
        "https:/search.example/mcp",
        "//search.example/mcp",
        "search.example/mcp",
        "https://[/mcp",
        "https://search.example\x00/mcp",
        "",
    ],
)
def test_another_url_is_another_audience(audience: str) -> None:
    assert normal_form(audience) != normal_form(RESOURCE)


@pytest.mark.parametrize("audience", ["nearhit", "Nearhit/", "api://0A", "urn:Example:API", "a b"])
def test_what_is_no_url_of_http_is_compared_as_it_is(audience: str) -> None:
    assert normal_form(audience) == audience


@pytest.mark.parametrize(
    ("host", "same"),
    [
        ("https://süche.example", "https://xn--sche-0ra.example/"),
        ("http://[::1]:80/mcp", "http://[::1]/mcp"),
        ("https://search.example/caf%c3%a9", "https://search.example/café"),
    ],
)
def test_other_alphabets_and_addresses_have_a_normal_form_too(host: str, same: str) -> None:
    assert normal_form(host) == normal_form(same)


@pytest.mark.parametrize(
    ("claim", "audiences"),
    [
        ("a", {"a"}),
        (["a", "HTTPS://B.example/"], {"a", "https://b.example"}),
        (["a", 1, None], {"a"}),
        ([], set()),
        (None, set()),
        ({"a": 1}, set()),
        (7, set()),
    ],
)
def test_a_claim_is_one_string_or_a_list(claim: object, audiences: set[str]) -> None:
    assert normal_forms(claim) == audiences
