"""Reads the sources of web pages, on hosts that the operator has listed."""

import asyncio
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from functools import partial
from urllib.parse import urlsplit

from gateway.extension import Services, listed
from gateway.extensions._files import read_options
from gateway.extensions._files.extract import Extractor
from gateway.extensions._sources.source import Defaults
from gateway.extensions._sources.sync.report import Report
from gateway.extensions._web import urls
from gateway.extensions._web.addresses import AddressPolicy, parse_networks
from gateway.extensions._web.client import WebClient
from gateway.extensions._web.host_rates import HostRates
from gateway.extensions._web.resolver import Resolver
from gateway.extensions.sources_web.crawler_settings import CrawlerSettings
from gateway.extensions.sources_web.page_work import PagePool, SharedPageWork, page_pool
from gateway.extensions.sources_web.web_page_reader import WEB_PAGES
from gateway.extensions.sources_web.web_page_store import PageState, WebPageStore
from gateway.extensions.sources_web.web_schemas import WebSettings
from gateway.extensions.sources_web.web_source import WebSource


@asynccontextmanager
async def open_reader(services: Services, own: CrawlerSettings) -> AsyncIterator["WebReader"]:
    options = read_options.of(services.settings)
    async with page_pool(partial(Extractor, WEB_PAGES, options)) as pool:
        yield WebReader(services, own, pool)


class WebReader:
    """Of a process, which asks each host no faster than one of its sources may.

    pool: does the work that pages take.
    """

    needs_slot = False

    def __init__(self, services: Services, own: CrawlerSettings, pool: PagePool) -> None:
        self._hosts = listed(own.hosts)
        self._policy = AddressPolicy(parse_networks(listed(own.networks)))
        self._pages = WebPageStore(services.stores.database)
        self._rates = HostRates(time.monotonic)
        self._pool = pool

    def denial_reason(self, config: WebSettings) -> str | None:
        host = urls.host_of(config.url)
        is_usual_port = urlsplit(config.url).port is None
        if host in self._hosts or ("*" in self._hosts and is_usual_port):
            return None
        return "This host may not be read: ask the operator to add it to NEARHIT_SOURCES_WEB_HOSTS."

    async def open(
        self, tenant: str, name: str, config: WebSettings, defaults: Defaults
    ) -> WebSource:
        known = await self._pages.of_source(tenant, name)
        work = SharedPageWork(self._pool, tenant, asyncio.get_running_loop())
        return await asyncio.to_thread(self._source, tenant, name, config, defaults, known, work)

    async def record(self, tenant: str, name: str, source: WebSource, report: Report) -> None:
        """Store what hosts said of the pages that were read, and not refused."""
        refused = {f"{name}/{item.path}" for item in report.refused}
        stored = {key: state for key, state in source.read.items() if key not in refused}
        await self._pages.put(tenant, name, stored)

    def _source(
        self,
        tenant: str,
        name: str,
        config: WebSettings,
        defaults: Defaults,
        known: Mapping[str, PageState],
        work: SharedPageWork,
    ) -> WebSource:
        resolver = Resolver(self._policy, tenant=tenant)
        return WebSource(
            config.url,
            defaults,
            WebClient(resolver, self._rates, interval_s=1 / config.pages_per_s),
            name=name,
            within=config.within,
            pages_max=config.pages_max,
            known=known,
            work=work,
        )
