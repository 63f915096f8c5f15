"""Sitemaps, and what only looks like one."""

import gzip

import pytest

from gateway.extensions._web.errors import Unfetchable
from gateway.extensions.sources_web import sitemaps
from gateway.extensions.sources_web.sitemaps import Sitemap

HEAD = b'<?xml version="1.0" encoding="UTF-8"?>\n'
SPACE = b' xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"'
PAGES = (
    HEAD + b"<urlset" + SPACE + b"><url><loc> http://h/a?x=1&amp;y=2 </loc>"
    b"<lastmod>2026-01-01</lastmod></url><url><loc>http://h/b</loc></url></urlset>"
)
INDEX = (
    HEAD
    + b"<sitemapindex"
    + SPACE
    + b"><sitemap><loc>http://h/1.xml</loc></sitemap></sitemapindex>"
)


def test_pages_and_sitemaps_are_listed_in_their_order() -> None:
    assert sitemaps.parse(PAGES) == Sitemap(False, ("http://h/a?x=1&y=2", "http://h/b"))
    assert sitemaps.parse(INDEX) == Sitemap(is_index=True, locations=("http://h/1.xml",))


def test_it_may_be_packed_with_gzip() -> None:
    assert sitemaps.parse(gzip.compress(PAGES)) == sitemaps.parse(PAGES)


def test_images_in_it_are_no_pages() -> None:
    image = PAGES.replace(
        b"</url>", b'<i:image xmlns:i="i"><i:loc>http://h/i.png</i:loc></i:image></url>', 1
    )

    assert sitemaps.parse(image) == sitemaps.parse(PAGES)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"plain text",
        b"<!doctype html><html><body><a href=/a>A</a></body></html>",
        b"<html><body>no doctype",
        b"<rss><channel/></rss>",
        b'<!DOCTYPE urlset [<!ENTITY a "aaaa">]><urlset><url><loc>&a;</loc></url></urlset>',
    ],
)
def test_what_is_no_sitemap_is_none(content: bytes) -> None:
    assert sitemaps.parse(content) is None


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (PAGES[:-20], "well-formed"),
        (gzip.compress(PAGES)[:-9], "gzip"),
        (b"<urlset>" + b"<a>" * 9, "nested too deeply"),
        (b"<urlset>" + b"<url><loc>/</loc></url>" * 50_001 + b"</urlset>", "50,000 locations"),
    ],
)
def test_a_sitemap_with_errors_is_refused(content: bytes, reason: str) -> None:
    with pytest.raises(Unfetchable, match=reason):
        sitemaps.parse(content)


def test_a_sitemap_that_unpacks_to_too_much_is_refused() -> None:
    content = gzip.compress(b"<urlset>" + bytes(17 * 2**20))

    with pytest.raises(Unfetchable, match="unpacks to more than"):
        sitemaps.parse(content)
