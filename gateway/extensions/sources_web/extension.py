"""Sources of web pages: a worker reads the pages of a host, from a sitemap or along its links."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from gateway.extension import Extension, Services, SourceKind
from gateway.extensions.sources_web import web_reader
from gateway.extensions.sources_web.crawler_settings import CrawlerSettings
from gateway.extensions.sources_web.web_schemas import WebSourceBody


@asynccontextmanager
async def _open(_services: Services, _settings: CrawlerSettings) -> AsyncIterator[None]:
    """It has no routes: its kind of source does the work."""
    yield


EXTENSION = Extension(
    summary="a worker reads the web pages of a host as a source",
    routes=(),
    open=_open,
    settings=CrawlerSettings,
    source_kinds=(SourceKind(WebSourceBody, web_reader.build),),
)
