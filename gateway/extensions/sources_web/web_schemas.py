"""The configuration of a source of web pages."""

from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from gateway.extensions._sources.source_schemas import SourceConfiguration, SourceDocuments
from gateway.extensions._web import urls
from index.model.document import Line, Uri

PAGES_MAX = 20_000  # at one a second, a reading takes half a day


def _web_page(url: str) -> str:
    """Check the URL: no credentials in a source's settings, and no protocol but HTTP."""
    return urls.normalise(url)


def _absolute(path: str) -> str:
    if not path.startswith("/"):
        raise ValueError("must begin with /")
    return path


class WebSettings(SourceDocuments):
    url: Annotated[Uri, AfterValidator(_web_page)] = Field(
        description="URL of a sitemap, of an index of sitemaps, or of a page whose links are "
        "followed; all pages are on its host, one of NEARHIT_SOURCES_WEB_HOSTS"
    )
    within: Annotated[Line, AfterValidator(_absolute)] = Field(
        "/", description="beginning of the paths of pages to read, such as `/help/`"
    )
    pages_max: int = Field(1_000, ge=1, le=PAGES_MAX)
    pages_per_s: float = Field(
        1.0, ge=0.02, le=10, description="requests per second; robots.txt may lower it"
    )


class WebSourceBody(SourceConfiguration):
    kind: Literal["web"] = Field(description="`web`: pages of one host")
    settings: WebSettings
