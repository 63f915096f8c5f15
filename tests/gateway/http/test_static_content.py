"""What is the same for all callers is sent packed to those that take it; answers are not."""

import gzip

import pytest
from starlette.requests import Request

from gateway.http.static_content import StaticContent
from tests.gateway.support.gateways import Caller, Gateway

pytestmark = pytest.mark.anyio

TEXT = b"The same for all. " * 100
CONTENT = StaticContent.of(TEXT, "text/plain")


def sent(content: StaticContent = CONTENT, **headers: str) -> tuple[int, str | None, bytes]:
    """Status, coding and body of the response to a request with these headers."""
    raw = [(name.replace("_", "-").encode(), text.encode()) for name, text in headers.items()]
    answer = content.response(Request({"type": "http", "headers": raw}), {})
    assert answer.headers["vary"] == "Accept-Encoding"
    return answer.status_code, answer.headers.get("content-encoding"), bytes(answer.body)


@pytest.mark.parametrize(
    ("accepted", "coding"),
    [
        ("gzip", "gzip"), ("br, GZIP;q=0.5", "gzip"), ("gzip ; q=1.000", "gzip"),
        ("gzip;q=0.001", "gzip"), ("", None), ("br", None), ("gzip;q=0", None),
        ("gzip; q=0.000", None), ("identity", None), ("gzipped", None), ("gzip;q=x", None),
    ],
)  # fmt: skip
def test_it_is_packed_for_those_that_take_gzip(accepted: str, coding: str | None) -> None:
    status, told, body = sent(accept_encoding=accepted)

    assert (status, told) == (200, coding)
    assert (gzip.decompress(body) if coding else body) == TEXT
    assert len(body) < len(TEXT) or not coding


def test_what_would_be_longer_is_not_packed() -> None:
    assert sent(StaticContent.of(b"x", "text/plain"), accept_encoding="gzip") == (200, None, b"x")


def test_each_coding_has_a_tag_of_its_own_and_is_not_sent_again() -> None:
    plain, packed = CONTENT.etag, CONTENT.etag.removesuffix('"') + '-gzip"'

    for tag, coding in ((plain, ""), (packed, "gzip")):
        for tags in (tag, f"W/{tag}", f'"other", {tag}', "*"):
            assert sent(accept_encoding=coding, if_none_match=tags) == (304, None, b"")
    assert sent(accept_encoding="gzip", if_none_match=plain)[0] == 200
    assert sent(if_none_match=packed)[0] == 200


async def test_the_description_and_the_console_are_packed_and_an_answer_is_not(
    gateway: Gateway, ana: Caller
) -> None:
    for path in ("/openapi.json", "/console", "/docs"):
        answers = [
            await gateway.client.get(path, headers={"Accept-Encoding": coding})
            for coding in ("identity", "gzip")
        ]

        plain, packed = answers
        assert "content-encoding" not in plain.headers
        assert packed.headers["content-encoding"] == "gzip"
        assert packed.content == plain.content
        assert packed.headers["etag"] != plain.headers["etag"]
        assert int(packed.headers["content-length"]) < len(plain.content)
    await ana.put("leave", "Annual leave is 25 days. " * 100)
    answer = await ana.call(
        "POST",
        "/v1/search",
        json={"query": "annual leave"},
        headers={"Accept-Encoding": "gzip"},
    )
    assert "content-encoding" not in answer.headers
