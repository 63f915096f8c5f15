"""Sources of web pages: a worker reads the pages of a host, from a sitemap or along its links."""

from gateway.extension import Extension
from gateway.extensions._sources.source_kind import SourceKind
from gateway.extensions.sources_web.crawler_settings import CrawlerSettings
from gateway.extensions.sources_web.web_reader import open_reader
from gateway.extensions.sources_web.web_schemas import WebSourceBody

EXTENSION: Extension[None] = Extension(
    summary="a worker reads the web pages of a host as a source",
    settings=CrawlerSettings,
    contributes=(SourceKind(WebSourceBody, open_reader),),
)
