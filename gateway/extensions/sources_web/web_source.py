"""The source of web pages of one host, from a sitemap or along the links from a start page.

Pages that the host says are unchanged since the last reading are not sent again.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from hashlib import blake2b
from importlib.util import find_spec

import orjson

from gateway.extensions._files.extract import Extractor
from gateway.extensions._files.extracted import Extracted, Unreadable
from gateway.extensions._files.inline_data import without_inline_data
from gateway.extensions._sources.source import (
    Defaults,
    Item,
    ItemWarning,
    RefusedItem,
    UnchangedItem,
    document,
    reason,
)
from gateway.extensions._web import urls
from gateway.extensions._web.client import AGENT, Fetched, WebClient
from gateway.extensions._web.errors import Unfetchable
from gateway.extensions.sources_web import robots, sitemaps
from gateway.extensions.sources_web.page_work import PageWork
from gateway.extensions.sources_web.robots import Robots
from gateway.extensions.sources_web.url_queue import UrlQueue
from gateway.extensions.sources_web.web_page_store import HEADER_CHARACTERS_MAX, PageState
from index.model.document import normalise
from index.model.document_limits import TITLE_CHARACTERS_MAX
from index.model.provenance import Provenance

PAGE_BYTES_MAX = 8 * 2**20  # a starting value, not measured
_TYPES = ("text/html", "application/xhtml+xml")
_GONE = (404, 410)
_VERSION = 2  # of the conversion; a higher one reads every page again


class WebSource:
    """Documents NAME/PATH, with the query of the URL if it has one; `uri` is the whole URL.

    start: a sitemap, an index of sitemaps, or a page whose links are followed.
    within: the beginning of the paths of pages; others are left out.
    known: by document, the state after the last reading.
    read: after the reading, by document, the state of each page that was sent.
    work: what takes more time of a processor than some milliseconds.
    """

    def __init__(
        self,
        start: str,
        defaults: Defaults,
        client: WebClient,
        *,
        name: str,
        within: str = "/",
        pages_max: int,
        known: Mapping[str, PageState],
        work: PageWork,
    ) -> None:
        self.name = name
        self.read: dict[str, PageState] = {}
        self._start = urls.normalise(start)
        self._defaults = defaults
        self._client = client
        self._within = within
        self._pages_max = pages_max
        self._known = known
        self._work = work
        self._settings = _digest(defaults)
        self._seen: set[str] = set()
        self._is_stopped = False

    def documents(self) -> Iterator[Item]:
        """The pages in their order in the sitemap, or by their distance from the start page.

        Does blocking I/O; raises nothing.
        """
        if find_spec("trafilatura") is None or find_spec("protego") is None:
            yield self._refused_whole("needs the extra `web`: pip install '.[web]' in a checkout")
            return
        try:
            rules = robots.read(self._client, self._start)
            self._client.interval_s = max(self._client.interval_s, rules.delay_s)
            first = self._get(self._start, rules, sitemaps.SITEMAP_BYTES_MAX)
            sitemap = self._sitemap(first)
            if first.status != 200:
                raise Unfetchable(f"is answered with {first.status}")
            listed = None if sitemap is None else self._listed(sitemap, rules)
        except ValueError as error:
            yield self._refused_whole(reason(error))
            return
        yield from self._pages(first, listed, rules)

    def stop(self) -> None:
        """End `documents`, which may wait for its turn at the host, before the next page."""
        self._is_stopped = True
        self._client.stop()
        self._work.stop()

    def _pages(self, first: Fetched, listed: UrlQueue | None, rules: Robots) -> Iterator[Item]:
        """listed: the pages of the sitemap; None: links are followed."""
        follows = listed is None
        waiting = UrlQueue(self._pages_max) if listed is None else listed

        def found(url: str) -> None:
            if follows and self._is_included(url):
                waiting.add(url)

        if follows:  # pages that are unchanged are not sent, so their links are unknown
            waiting.add(first.url)
            for state in self._known.values():
                found(state.url)
        for url in waiting:
            if self._is_stopped:
                return
            try:
                fetched = first if follows and url == first.url else self._get_page(url, rules)
                yield from self._items(url, fetched, found)
            except ValueError as error:
                yield RefusedItem(urls.document_path(url), reason(error))
        if waiting.left_out is not None:
            yield self._refused_whole(waiting.left_out)

    def _items(self, url: str, fetched: Fetched, found: Callable[[str], None]) -> list[Item]:
        """The document, and warnings of what it lacks.

        Empty for a page that is gone or says noindex, for what is no page, and for a repeat.
        """
        if fetched.status in _GONE:
            return []
        document_id = f"{self.name}/{urls.document_path(fetched.url)}"
        tag = fetched.headers.get("x-robots-tag", "")
        if fetched.status == 304:
            if _is_noindex(tag):
                return []
            self._seen.add(document_id)
            return [UnchangedItem(f"{self.name}/{urls.document_path(url)}")]
        if fetched.status != 200:
            raise Unfetchable(f"is answered with {fetched.status}")
        content_type = fetched.headers.get("content-type", "")
        if content_type.partition(";")[0].strip().lower() not in _TYPES:
            return []
        if document_id in self._seen:
            return []
        self._seen.add(document_id)
        return self._work.run(partial(self._read, document_id, fetched, found))

    def _read(
        self,
        document_id: str,
        fetched: Fetched,
        found: Callable[[str], None],
        extractor: Extractor,
    ) -> list[Item]:
        extracted = extractor.extract(
            ".html", fetched.body, fetched.headers.get("content-type", "")
        )
        tag = fetched.headers.get("x-robots-tag", "")
        _follow(extracted.links, fetched.url, found)
        is_included = self._is_included(fetched.url)  # a start page may not be
        if not is_included or _is_noindex(f"{tag},{extracted.robots}"):
            return []
        if not extracted.text.strip():
            raise Unreadable("has no text that readers see")
        made = self._document(document_id, fetched.url, extracted)
        self.read[document_id] = PageState(
            fetched.url,
            _validator(fetched, "etag"),
            _validator(fetched, "last-modified"),
            self._settings,
        )
        path = urls.document_path(fetched.url)
        return [made, *(ItemWarning(path, loss) for loss in extracted.losses)]

    def _document(self, document_id: str, url: str, extracted: Extracted) -> Item:
        fields = {
            "document_id": document_id,
            "source": self.name,
            "uri": url,
            "title": (extracted.title or urls.document_path(url))[:TITLE_CHARACTERS_MAX],
            "text": without_inline_data(normalise(extracted.text)),
            "provenance": Provenance("web", hidden_text=extracted.has_hidden_text),
        }
        if extracted.language:
            fields["language"] = extracted.language
        return document(self._defaults.fields() | fields)

    def _listed(self, sitemap: sitemaps.Sitemap, rules: Robots) -> UrlQueue:
        """The pages of a sitemap, or of all sitemaps of an index. Raises `ValueError`.

        An index of which one part can't be read is refused: the pages in it would seem to be gone.
        """
        listed, is_on_host = UrlQueue(self._pages_max), False
        for part in self._parts(sitemap, rules):
            for url in self._on_host(part.locations):
                is_on_host = True
                if self._is_included(url):
                    listed.add(url)
            if listed.left_out is not None:  # the source is refused, whatever else it lists
                break
        if not is_on_host:
            raise Unfetchable("lists no page of its host")
        return listed

    def _parts(self, sitemap: sitemaps.Sitemap, rules: Robots) -> Iterator[sitemaps.Sitemap]:
        if not sitemap.is_index:
            yield sitemap
            return
        locations = self._on_host(sitemap.locations)
        if len(locations) > sitemaps.SITEMAPS_MAX:
            raise Unfetchable(f"lists more than {sitemaps.SITEMAPS_MAX} sitemaps")
        for location in locations:
            part = self._get(location, rules, sitemaps.SITEMAP_BYTES_MAX)
            parsed = self._sitemap(part)
            if parsed is None or parsed.is_index:
                raise Unfetchable(f"lists {location}, which is no sitemap of pages")
            yield parsed

    def _sitemap(self, fetched: Fetched) -> sitemaps.Sitemap | None:
        """None if it is none. Raises `Unfetchable`."""
        if fetched.status != 200:
            return None
        return self._work.run(lambda _: sitemaps.parse(fetched.body))

    def _on_host(self, locations: tuple[str, ...]) -> list[str]:
        kept = []
        for location in locations:
            try:
                url = urls.normalise(location)
            except ValueError:
                continue
            if urls.is_within(url, self._start):
                kept.append(url)
        return kept

    def _get(self, url: str, rules: Robots, bytes_max: int) -> Fetched:
        return self._client.get(url, body_bytes_max=bytes_max, permit=rules.require)

    def _get_page(self, url: str, rules: Robots) -> Fetched:
        """Conditional, if the page is stored as it would be now."""
        state = self._known.get(f"{self.name}/{urls.document_path(url)}")
        headers = {}
        if state is not None and state.settings == self._settings:
            if state.etag:
                headers["If-None-Match"] = state.etag
            elif state.last_modified:
                headers["If-Modified-Since"] = state.last_modified
        return self._client.get(
            url, body_bytes_max=PAGE_BYTES_MAX, headers=headers, permit=rules.require
        )

    def _is_included(self, url: str) -> bool:
        path = url.partition("://")[2].partition("/")[2]
        return urls.is_within(url, self._start) and f"/{path}".startswith(self._within)

    def _refused_whole(self, why: str) -> RefusedItem:
        """All stored pages are kept."""
        return RefusedItem(self._start, why, holds="")


def _follow(links: Sequence[str], base: str, found: Callable[[str], None]) -> None:
    for link in links:
        try:
            found(urls.normalise(link, base))
        except ValueError:
            continue


def _validator(fetched: Fetched, name: str) -> str | None:
    value = fetched.headers.get(name)
    return value if value is not None and len(value) <= HEADER_CHARACTERS_MAX else None


def _is_noindex(directives: str) -> bool:
    """Whether they ask all crawlers, or this one, not to index the page.

    A name before a rule holds for that rule alone: in `other: nofollow, noindex` the second one
    counts for all, because headers that are sent apart are joined in this way.
    """
    for directive in directives.lower().split(","):
        agent, _, rule = directive.rpartition(":")
        if rule.strip() in ("noindex", "none") and agent.strip() in ("", AGENT):
            return True
    return False


def _digest(defaults: Defaults) -> bytes:
    fields = orjson.dumps(
        [_VERSION, defaults.options, defaults.fields()], option=orjson.OPT_SORT_KEYS
    )
    return blake2b(fields, digest_size=16).digest()
