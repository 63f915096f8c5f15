"""The web as a source: real requests to a host on loopback, which the tests allow."""

import gzip
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from threading import Event, Thread
from typing import TypeVar

import pytest

from gateway.extensions._files.extract import Extractor
from gateway.extensions._sources.source import (
    Defaults,
    Item,
    ItemWarning,
    RefusedItem,
    UnchangedItem,
)
from gateway.extensions._web.addresses import AddressPolicy, parse_networks
from gateway.extensions._web.client import WebClient
from gateway.extensions._web.host_rates import HostRates
from gateway.extensions._web.resolver import Resolver
from gateway.extensions.sources_web.web_page_reader import WEB_PAGES
from gateway.extensions.sources_web.web_page_store import PageState
from gateway.extensions.sources_web.web_source import WebSource
from index.model.document import Document
from index.model.provenance import Provenance
from tests.ingest.support.web_server import HTML, Answer, WebHost, web_host

T = TypeVar("T")

LOOPBACK = AddressPolicy(parse_networks(["127.0.0.0/8"]))

pytestmark = pytest.mark.slow  # each page is asked of a server, and read in a process


@pytest.fixture
def host() -> Iterator[WebHost]:
    with web_host() as started:
        yield started


class OwnPageWork:
    """Works in a process of its own at each call."""

    def run(self, function: Callable[[Extractor], T]) -> T:
        with closing(Extractor(WEB_PAGES)) as extractor:
            return function(extractor)

    def stop(self) -> None:
        """Nothing waits."""


def source(
    host: WebHost,
    start: str = "/sitemap.xml",
    *,
    known: Mapping[str, PageState] | None = None,
    policy: AddressPolicy = LOOPBACK,
    within: str = "/",
    pages_max: int = 100,
    interval_s: float = 0.0,
    rates: HostRates | None = None,
    defaults: Defaults | None = None,
) -> WebSource:
    if rates is None:  # an empty one is false
        rates = HostRates(time.monotonic)
    return WebSource(
        host.url + start,
        defaults or Defaults(readers=("tenant",)),
        WebClient(Resolver(policy), rates, interval_s=interval_s),
        name="help",
        within=within,
        pages_max=pages_max,
        known=known or {},
        work=OwnPageWork(),
    )


def read(host: WebHost, start: str = "/sitemap.xml", **options: object) -> list[Item]:
    return list(source(host, start, **options).documents())  # type: ignore[arg-type]  # as above


def ids(items: list[Item]) -> list[str]:
    return [item.document_id for item in items if isinstance(item, Document)]


def refusal(items: list[Item]) -> RefusedItem:
    (refused,) = (item for item in items if isinstance(item, RefusedItem))
    return refused


def test_the_pages_of_a_sitemap_are_documents_without_what_surrounds_them(host: WebHost) -> None:
    host.page("/leave", "Annual leave", "/travel")
    host.page("/travel?lang=en", "Travel")
    host.sitemap("/sitemap.xml", "/leave", "/travel?lang=en")

    leave, travel = read(host)

    assert isinstance(leave, Document)
    assert isinstance(travel, Document)
    assert (leave.document_id, leave.uri) == ("help/leave", f"{host.url}/leave")
    assert (leave.title, leave.language, leave.readers) == ("/leave", "en", ("tenant",))
    assert leave.text == "# Annual leave\n\nAnnual leave, as told.\n"
    assert travel.document_id == "help/travel?lang=en"
    assert travel.provenance == Provenance("web")
    assert {agent.partition("/")[0] for agent in host.agents} == {"nearhit"}


ENCODED = {
    "text/html; charset=Shift_JIS": ("①髙島屋の営業時間", "cp932"),
    'Text/HTML;Charset="windows-1251"': ("Часы работы", "cp1251"),
    "text/html; charset=iso-8859-1": ("Café “offen”", "cp1252"),
    "application/xhtml+xml; charset=utf-8": ("Café", "utf-8"),
    "text/html": ("Café", "utf-8"),
}


@pytest.mark.thorough
def test_a_page_is_read_in_the_encoding_of_its_header(host: WebHost) -> None:
    for number, (content_type, (text, codec)) in enumerate(ENCODED.items()):
        host.answers[f"/{number}"] = Answer(
            f"<main><p>{text}</p></main>".encode(codec), headers={"Content-Type": content_type}
        )
    host.sitemap("/sitemap.xml", *host.answers)

    pages = [item for item in read(host) if isinstance(item, Document)]

    texts = dict(zip(ENCODED, [page.text for page in pages], strict=True))
    assert texts == {content_type: f"{text}\n" for content_type, (text, _) in ENCODED.items()}


@pytest.mark.thorough
def test_what_is_left_out_of_a_page_is_said_and_a_page_without_text_refused(host: WebHost) -> None:
    rest = "<p>Rest of the page.</p><p hidden>12345</p>"
    host.answers["/leave"] = Answer(f"<main>{'Words. ' * 9}</main>{rest}".encode())
    host.answers["/blank"] = Answer(b"<main></main><p hidden>12345</p>")
    host.sitemap("/sitemap.xml", "/leave", "/blank")

    items = read(host)

    assert ids(items) == ["help/leave"]
    assert [item.detail for item in items if isinstance(item, ItemWarning)] == [
        "its main part is kept, 78% of the page's text",
        "5 characters that readers don't see are left out",
    ]
    assert refusal(items).reason == "has no text that readers see"
    assert [item.provenance for item in items if isinstance(item, Document)] == [
        Provenance("web", hidden_text=True)
    ]


@pytest.mark.thorough
def test_a_page_that_does_not_mark_its_content_is_read_without_menus(host: WebHost) -> None:
    words = "Everybody gets twenty-five days of annual leave a year, and asks for them in time. "
    menu = "".join(f"<li><a href='/{n}'>Entry {n} of the menu</a></li>" for n in range(30))
    body = f"<html><body><div><ul>{menu}</ul></div><div><h1>Leave</h1><p>{words * 5}</p></div>"
    host.answers["/leave"] = Answer(body.encode())
    host.sitemap("/sitemap.xml", "/leave")

    (leave,) = read(host)

    assert isinstance(leave, Document)
    assert words.strip() in leave.text
    assert "Entry 7" not in leave.text


@pytest.mark.thorough
def test_an_index_of_sitemaps_is_read_also_packed(host: WebHost) -> None:
    for path in ("/a", "/b"):
        host.page(path, path)
        host.sitemap(f"{path}.xml", path, "/a")
    host.answers["/b.xml"].body = gzip.compress(host.answers["/b.xml"].body)
    host.sitemap("/sitemap.xml", "/a.xml", "/b.xml", kind="sitemap")

    assert ids(read(host)) == ["help/a", "help/b"]


@pytest.mark.thorough
def test_links_are_followed_from_a_start_page_within_the_host_and_the_path(host: WebHost) -> None:
    host.page("/help/", "Start", "leave#part", "http://127.0.0.1:9/help/no", "/other", "mailto:a@b")
    host.page("/help/leave", "Leave", "/help/", "/help/travel", "/help/gone")
    host.page("/help/travel", "Travel")
    host.page("/other", "Other")
    host.answers["/help/leave.pdf"] = Answer(b"%PDF", headers={"Content-Type": "application/pdf"})

    assert ids(read(host, "/help/", within="/help/")) == [
        *("help/help/", "help/help/leave", "help/help/travel")
    ]
    assert "/other" not in host.pages_asked()


def test_a_page_that_has_not_changed_is_not_sent_again(host: WebHost) -> None:
    host.page("/etag", "One", ETag='"v1"')
    host.page("/date", "Two", Last_Modified="Mon, 02 Nov 2026 08:00:00 GMT")
    host.page("/neither", "Three")
    host.sitemap("/sitemap.xml", "/etag", "/date", "/neither")
    first = source(host)
    list(first.documents())
    host.asked.clear()

    again = read(host, known=first.read)
    host.page("/etag", "One, changed", ETag='"v2"')
    changed = read(host, known=first.read)

    assert again[:2] == [UnchangedItem("help/etag"), UnchangedItem("help/date")]
    assert ids(again) == ["help/neither"]
    assert [status for path, status in host.asked if path == "/etag"] == [304, 200]
    assert ids(changed) == ["help/etag", "help/neither"]


@pytest.mark.thorough
def test_with_other_settings_every_page_is_sent_again(host: WebHost) -> None:
    host.page("/etag", "One", ETag='"v1"')
    host.sitemap("/sitemap.xml", "/etag")
    first = source(host)
    list(first.documents())

    (again,) = read(host, known=first.read, defaults=Defaults(readers=("public",)))

    assert isinstance(again, Document)
    assert again.readers == ("public",)


@pytest.mark.thorough
def test_pages_behind_unchanged_links_are_still_found(host: WebHost) -> None:
    host.page("/", "Start", "/a")
    host.page("/a", "A", "/b", ETag='"a"')
    host.page("/b", "B", ETag='"b"')
    first = source(host, "/")
    list(first.documents())

    again = read(host, "/", known=first.read)

    assert [item for item in again if isinstance(item, UnchangedItem)] == [
        *(UnchangedItem("help/a"), UnchangedItem("help/b"))
    ]


def test_robots_txt_is_kept_to(host: WebHost) -> None:
    host.answers["/robots.txt"] = Answer(
        b"User-agent: *\nDisallow: /\n\nUser-agent: Nearhit\nDisallow: /private\nCrawl-delay: 0.5\n"
    )
    host.page("/leave", "Leave")
    host.sitemap("/sitemap.xml", "/leave", "/private/pay")

    rates = RecordedRates()

    items = read(host, rates=rates)

    assert ids(items) == ["help/leave"]
    assert "robots.txt" in refusal(items).reason
    assert refusal(items).holds is None
    assert "/private/pay" not in host.pages_asked()
    assert rates.intervals_s == [0.0, 0.5, 0.5]  # unknown at first, when robots.txt is asked for


@pytest.mark.parametrize("status", [500, 503, 429])
def test_while_robots_txt_cannot_be_read_nothing_is(host: WebHost, status: int) -> None:
    host.answers["/robots.txt"] = Answer(status=status, headers={"Retry-After": "0"})
    host.page("/leave", "Leave")
    host.sitemap("/sitemap.xml", "/leave")

    (refused,) = read(host)

    assert isinstance(refused, RefusedItem)
    assert refused.holds == ""
    assert {path for path, _ in host.asked} == {"/robots.txt"}


def test_requests_begin_no_faster_than_the_rate(host: WebHost) -> None:
    for number in range(4):
        host.page(f"/{number}", "Page")
    host.sitemap("/sitemap.xml", *(f"/{number}" for number in range(4)))

    begun_s = time.monotonic()
    read(host, interval_s=0.1)

    assert time.monotonic() - begun_s > 0.5  # of six requests


@pytest.mark.thorough
def test_two_sources_of_one_host_keep_to_one_rate(host: WebHost) -> None:
    for number in range(3):
        host.page(f"/{number}", "Page")
    host.sitemap("/sitemap.xml", *(f"/{number}" for number in range(3)))
    rates = HostRates(time.monotonic)
    begun_s = time.monotonic()

    with ThreadPoolExecutor() as pool:
        readings = [pool.submit(read, host, interval_s=0.1, rates=rates) for _ in range(2)]
        for reading in readings:
            assert len(ids(reading.result())) == 3

    assert len(host.started_s) == 10
    assert max(host.started_s) - begun_s > 0.85  # of ten requests; five alone would take 0.4


def test_a_busy_host_is_asked_once_more(host: WebHost) -> None:
    host.page("/leave", "Leave")
    host.sitemap("/sitemap.xml", "/leave")
    host.busy_once.add("/leave")

    assert ids(read(host)) == ["help/leave"]
    assert host.asked[-2:] == [("/leave", 429), ("/leave", 200)]


def test_a_page_that_is_gone_is_left_out_and_one_that_fails_is_kept(host: WebHost) -> None:
    host.page("/leave", "Leave")
    host.answers["/fails"] = Answer(status=500)
    host.sitemap("/sitemap.xml", "/gone", "/fails", "/leave")

    items = read(host)

    assert ids(items) == ["help/leave"]
    assert refusal(items) == RefusedItem("fails", "is answered with 500")


@pytest.mark.parametrize(
    "sitemap",
    [
        Answer(status=404),
        Answer(status=500),
        Answer(b"<urlset></urlset>"),
        Answer(b"<urlset><url><loc>http://other.example/a</loc></url></urlset>"),
        Answer(b"<urlset><url><loc>"),
    ],
)
def test_without_a_sitemap_that_lists_pages_all_are_kept(host: WebHost, sitemap: Answer) -> None:
    host.answers["/sitemap.xml"] = sitemap

    assert refusal(read(host)).holds == ""


def test_if_a_part_of_an_index_is_missing_all_pages_are_kept(host: WebHost) -> None:
    host.page("/a", "A")
    host.sitemap("/a.xml", "/a")
    host.sitemap("/sitemap.xml", "/a.xml", "/b.xml", kind="sitemap")

    assert refusal(read(host)).holds == ""


@pytest.mark.thorough
def test_no_more_pages_are_read_than_may_be(host: WebHost) -> None:
    for number in range(4):
        host.page(f"/{number}", "Page")
    host.sitemap("/sitemap.xml", *(f"/{number}" for number in range(4)))

    items = read(host, pages_max=3)

    assert len(ids(items)) == 3
    assert refusal(items) == RefusedItem(
        f"{host.url}/sitemap.xml", "has more than 3 pages", holds=""
    )


def redirected(host: WebHost, path: str, target: str) -> None:
    host.answers[path] = Answer(status=302, headers={"Location": target})


def test_a_redirect_within_the_host_leads_to_the_document_of_its_target(host: WebHost) -> None:
    redirected(host, "/old", "/leave")
    host.page("/leave", "Leave")
    host.sitemap("/sitemap.xml", "/old", "/leave")

    assert ids(read(host)) == ["help/leave"]


def test_a_redirect_to_another_host_is_not_followed(host: WebHost) -> None:
    with web_host() as other:
        other.page("/leave", "Leave")
        redirected(host, "/away", f"{other.url}/leave")
        redirected(host, "/metadata", "http://169.254.169.254/latest/meta-data/")
        redirected(host, "/file", "file:///etc/passwd")
        redirected(host, "/loop", "/loop")
        host.sitemap("/sitemap.xml", "/away", "/metadata", "/file", "/loop")

        items = read(host)

    assert [item.reason.partition(":")[0] for item in items if isinstance(item, RefusedItem)] == [
        "is redirected to another host or protocol",
        "is redirected to another host or protocol",
        "is redirected to what is no URL of a page",
        "has more than 5 redirects",
    ]
    assert other.asked == []


def test_a_redirect_to_what_robots_txt_forbids_is_not_followed(host: WebHost) -> None:
    host.answers["/robots.txt"] = Answer(b"User-agent: *\nDisallow: /private\n")
    redirected(host, "/old", "/private/pay")
    host.page("/private/pay", "Pay")
    host.sitemap("/sitemap.xml", "/old")

    assert "robots.txt" in refusal(read(host)).reason
    assert "/private/pay" not in host.pages_asked()


@pytest.mark.parametrize("name", ["127.0.0.1", "localhost"])
def test_without_an_allowance_no_private_address_is_asked(host: WebHost, name: str) -> None:
    host.sitemap("/sitemap.xml", "/leave")
    host.url = host.url.replace("127.0.0.1", name)

    (refused,) = read(host, policy=AddressPolicy())

    assert isinstance(refused, RefusedItem)
    assert "not public" in refused.reason
    assert host.asked == []


@pytest.mark.thorough
def test_a_page_beyond_a_limit_is_refused(host: WebHost) -> None:
    packed = gzip.compress(bytes(8 * 2**20 + 1))
    beyond = {
        "large": (Answer(bytes(8 * 2**20 + 1)), "is longer than 8,388,608 bytes"),
        "packed": (encoded(packed, "gzip"), "unpacks to more than 8,388,608 bytes"),
        "brotli": (encoded(b"x", "br"), "has the encoding br, which was not asked for"),
        "nested": (Answer(b"<div>" * 2_000), "is nested too deeply"),
    }
    for name, (answer, _) in beyond.items():
        host.answers[f"/{name}"] = answer
    host.sitemap("/sitemap.xml", *host.answers)

    assert read(host) == [RefusedItem(name, reason) for name, (_, reason) in beyond.items()]


def encoded(body: bytes, coding: str) -> Answer:
    return Answer(body, headers={"Content-Type": HTML, "Content-Encoding": coding})


@pytest.mark.thorough
def test_a_packed_page_is_read(host: WebHost) -> None:
    host.page("/leave", "Leave", Content_Encoding="gzip")
    host.answers["/leave"].body = gzip.compress(host.answers["/leave"].body)
    host.sitemap("/sitemap.xml", "/leave")

    assert ids(read(host)) == ["help/leave"]


HEADERS = {  # whether the page is indexed
    "noindex": False,
    "nofollow, NOINDEX": False,
    "none": False,
    "nearhit: noindex": False,
    "otherbot: noindex": True,
    "nofollow": True,
}


@pytest.mark.thorough
def test_a_page_whose_header_says_noindex_is_no_document(host: WebHost) -> None:
    for number, header in enumerate(HEADERS):
        host.page(f"/{number}", "Leave", X_Robots_Tag=header)
    host.sitemap("/sitemap.xml", *host.answers)

    found = ids(read(host))

    indexed = {header: f"help/{number}" in found for number, header in enumerate(HEADERS)}
    assert indexed == HEADERS


ELEMENTS = {  # whether the page is indexed
    '<meta name="robots" content="noindex">': False,
    '<META NAME=Robots CONTENT="nofollow,NOINDEX">': False,
    '<meta name="nearhit" content="none">': False,
    '<meta name="robots" content="nofollow"><meta name="robots" content="noindex">': False,
    '<meta name="otherbot" content="noindex">': True,
    '<meta name="robots" content="index, follow">': True,
    '<meta name="robots"><meta content="noindex">': True,
}


def test_a_page_that_says_noindex_is_no_document_and_its_links_are_followed(host: WebHost) -> None:
    last = len(ELEMENTS)
    for number, element in enumerate(ELEMENTS):  # each is found by the link of the one before
        host.page(f"/{number}", "Leave", f"/{number + 1}")
        page = host.answers[f"/{number}"]
        page.body = page.body.replace(b"<head>", f"<head>{element}".encode())
    host.page(f"/{last}", "The last one")

    found = ids(read(host, "/0"))

    indexed = {element: f"help/{number}" in found for number, element in enumerate(ELEMENTS)}
    assert indexed == ELEMENTS
    assert found[-1] == f"help/{last}"


@pytest.mark.thorough
def test_a_stored_page_whose_header_now_says_noindex_is_removed_although_it_is_unchanged(
    host: WebHost,
) -> None:
    host.page("/leave", "Leave", ETag='"1"')
    host.sitemap("/sitemap.xml", "/leave")
    first = source(host)
    assert ids(list(first.documents())) == ["help/leave"]
    host.answers["/leave"].headers["X-Robots-Tag"] = "noindex"

    assert read(host, known=first.read) == []
    assert host.asked[-1] == ("/leave", 304)


@pytest.mark.thorough
def test_a_reading_that_is_stopped_asks_for_no_further_page(host: WebHost) -> None:
    host.page("/start", "Start", "/next")
    host.page("/next", "Next")
    crawl = source(host, "/start", interval_s=0.1)
    items = crawl.documents()
    first = next(items)

    crawl.stop()

    assert isinstance(first, Document)
    assert list(items) == []
    assert "/next" not in host.pages_asked()


class RecordedRates(HostRates):
    """No request waits. intervals_s: what each one was to keep to the next."""

    def __init__(self) -> None:
        super().__init__(time.monotonic)
        self.intervals_s: list[float] = []

    def claim(self, host: str, tenant: str, interval_s: float) -> float:
        self.intervals_s.append(interval_s)
        return super().claim(host, tenant, 0.0)


class NoticedRates(HostRates):
    """waits: set once a request has to wait."""

    def __init__(self) -> None:
        super().__init__(time.monotonic)
        self.waits = Event()

    def claim(self, host: str, tenant: str, interval_s: float) -> float:
        wait_s = super().claim(host, tenant, interval_s)
        if wait_s > 0:
            self.waits.set()
        return wait_s


def test_a_reading_that_is_stopped_does_not_wait_for_its_turn_at_the_host(host: WebHost) -> None:
    host.page("/start", "Start")
    rates = NoticedRates()
    crawl = source(host, "/start", interval_s=3_600.0, rates=rates)
    items: list[Item] = []
    reading = Thread(target=lambda: items.extend(crawl.documents()))
    reading.start()
    assert rates.waits.wait(30)

    crawl.stop()

    reading.join(30)
    assert not reading.is_alive()
    assert [item.holds for item in items if isinstance(item, RefusedItem)] == [""]
