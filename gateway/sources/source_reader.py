"""Opens sources that the server reads itself, and limits which paths and hosts it may read."""

import asyncio
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import urlsplit

from pydantic import ValidationError

from gateway import schemas
from gateway.settings.groups.lists import is_network, listed
from gateway.settings.settings import Settings
from gateway.sources import read_options
from gateway.sources.source_schemas import (
    AnySourceBody,
    GitSettings,
    PathSettings,
    PathSourceBody,
    WebSettings,
    WebSourceBody,
)
from index.sources.web_page_store import PageState, WebPageStore
from ingest.errors import JobRefused
from ingest.sources.bounded_source import BoundedSource, ReaderRequest
from ingest.sources.kinds import Kind, open_source
from ingest.sources.readers import confined
from ingest.sources.readers.web import WebSource
from ingest.sources.source import Defaults, Source
from ingest.web import urls
from ingest.web.addresses import AddressPolicy, parse_networks
from ingest.web.client import WebClient
from ingest.web.host_rates import HostRates
from ingest.web.resolver import Resolver


def denial_reason(settings: Settings, body: AnySourceBody) -> str | None:
    """The reason why this server may not read the source; None if it may."""
    if isinstance(body, PathSourceBody):
        if settings.sources_dir is None:
            return "This server may read no folder: ask the operator to set NEARHIT_SOURCES_DIR."
        return None
    if isinstance(body, WebSourceBody):
        if not _is_web_host(settings, urls.host_of(body.settings.url)):
            return (
                "This host may not be read: ask the operator to add it to "
                "NEARHIT_SOURCES_WEB_HOSTS."
            )
        return None
    if urlsplit(body.settings.url).netloc not in _hosts(settings):
        return "This host may not be read: ask the operator to add it to NEARHIT_SOURCES_GIT_HOSTS."
    return None


async def open_for_reading(
    settings: Settings,
    tenant: str,
    name: str,
    body: AnySourceBody,
    rates: HostRates,
    pages: WebPageStore | None = None,
) -> Source:
    """The tenant's source. Raises `JobRefused`.

    rates: of the hosts that this process asks for pages.
    pages: of sources of kind `web`, what is known of them; None: each page is read again.
    """
    if (reason := denial_reason(settings, body)) is not None:
        raise JobRefused(reason)
    if isinstance(body, PathSourceBody):
        return await asyncio.to_thread(
            _path_source, settings, tenant, name, body.kind, body.settings
        )
    if isinstance(body, WebSourceBody):
        known = {} if pages is None else await pages.of_source(tenant, name)
        return await asyncio.to_thread(
            _web_source, settings, tenant, name, body.settings, rates, known
        )
    return _checkout_source(settings, name, body.settings)


def _hosts(settings: Settings) -> set[str]:
    return {host.strip() for host in (settings.sources_git_hosts or "").split(",")} - {""}


def _is_web_host(settings: Settings, host: str) -> bool:
    hosts = listed(settings.sources_web_hosts)
    return host in hosts or ("*" in hosts and ":" not in host)


def _web_source(
    settings: Settings,
    tenant: str,
    name: str,
    config: WebSettings,
    rates: HostRates,
    known: Mapping[str, PageState],
) -> WebSource:
    networks = list(filter(is_network, listed(settings.sources_web_hosts)))
    policy = AddressPolicy(parse_networks(networks))
    return WebSource(
        config.url,
        _defaults(settings, config),
        WebClient(Resolver(policy, tenant=tenant), rates, interval_s=1 / config.pages_per_s),
        name=name,
        within=config.within,
        pages_max=config.pages_max,
        known=known,
    )


def _defaults(settings: Settings, config: PathSettings | GitSettings | WebSettings) -> Defaults:
    return Defaults(
        owner=config.owner,
        readers=config.readers,
        tags=config.tags,
        language=config.language,
        default_language=settings.language,
        chunker=config.chunker,
        summaries=config.summaries,
        base_url="" if isinstance(config, WebSettings) else config.base_url or "",
        options=read_options.of(settings),
    )


def tenant_folder(tenant: str) -> str:
    """The name of the tenant's folder. Raises `JobRefused`.

    Names are lower-case ASCII, so two tenants never share a folder on a case-insensitive disk.
    """
    try:
        return schemas.TENANT.validate_python(tenant)
    except ValidationError:
        raise JobRefused(
            f"The name of the tenant {tenant!r} is not valid for a folder of sources."
        ) from None


def _path_source(
    settings: Settings, tenant: str, name: str, kind: Kind, config: PathSettings
) -> Source:
    assert settings.sources_dir is not None, "denial_reason has checked it"
    base = (settings.sources_dir / tenant_folder(tenant)).resolve()
    label = f"NEARHIT_SOURCES_DIR/{tenant}"
    path = confined.locate(base, config.path, label, is_folder=kind == "folder")
    defaults = _defaults(settings, config)
    return open_source(kind, path, defaults, name=name, columns=config.columns, within=base)


def _checkout_source(settings: Settings, name: str, config: GitSettings) -> Source:
    return BoundedSource(
        ReaderRequest(
            "checkout",
            Path(config.path),
            _defaults(settings, config),
            name,
            url=config.url,
            branch=config.branch,
        )
    )
