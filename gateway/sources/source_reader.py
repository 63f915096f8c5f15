"""Opens sources that the server reads itself, and limits which paths and hosts it may read."""

import asyncio
import os
import tempfile
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from pydantic import ValidationError

from gateway import schemas
from gateway.settings.groups.lists import listed
from gateway.settings.settings import Settings
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
from ingest.sources.kinds import Kind, open_source
from ingest.sources.readers.web import WebSource
from ingest.sources.source import Defaults, Source
from ingest.web import urls
from ingest.web.addresses import AddressPolicy, parse_networks
from ingest.web.client import WebClient
from ingest.web.host_rates import HostRates
from ingest.web.resolver import Resolver

_CLONE_S_MAX = 600.0  # a starting value, not measured
# git never prompts, follows redirects, runs code of a repository, or reads files of this machine.
_GIT = (
    *("-c", "protocol.allow=never", "-c", "protocol.http.allow=always"),
    *("-c", "protocol.https.allow=always", "-c", "http.followRedirects=false"),
    *("-c", "core.hooksPath=/dev/null", "-c", "core.symlinks=false", "-c", "credential.helper="),
)
_GIT_ENVIRONMENT = {"GIT_TERMINAL_PROMPT": "0", "GIT_CONFIG_NOSYSTEM": "1", "HOME": "/nonexistent"}


_REMEDY = "put it there, or set the source's path to its place in that folder."


@dataclass(frozen=True, slots=True)
class _Root:
    """The folder that no path of a source leaves; `label` names it in error messages."""

    folder: Path
    label: str


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


@asynccontextmanager
async def open_for_reading(
    settings: Settings,
    tenant: str,
    name: str,
    body: AnySourceBody,
    rates: HostRates,
    pages: WebPageStore | None = None,
) -> AsyncIterator[Source]:
    """Open the tenant's source until the end of the block. Raises `JobRefused`.

    rates: of the hosts that this process asks for pages.
    pages: of sources of kind `web`, what is known of them; None: each page is read again.
    """
    if (reason := denial_reason(settings, body)) is not None:
        raise JobRefused(reason)
    if isinstance(body, PathSourceBody):
        assert settings.sources_dir is not None, "denial_reason has checked it"
        root = _Root(settings.sources_dir / tenant_folder(tenant), f"NEARHIT_SOURCES_DIR/{tenant}")
        yield await asyncio.to_thread(_source, settings, name, root, body.kind, body.settings)
        return
    if isinstance(body, WebSourceBody):
        known = {} if pages is None else await pages.of_source(tenant, name)
        yield await asyncio.to_thread(
            _web_source, settings, tenant, name, body.settings, rates, known
        )
        return
    checkout = await asyncio.to_thread(tempfile.TemporaryDirectory, prefix="nearhit-git-")
    try:
        await _clone(body.settings, checkout.name)
        root = _Root(Path(checkout.name), "the repository")
        yield await asyncio.to_thread(_source, settings, name, root, "folder", body.settings)
    finally:
        await asyncio.to_thread(checkout.cleanup)


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
    policy = AddressPolicy(parse_networks(listed(settings.sources_web_networks)))
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


def _source(
    settings: Settings, name: str, root: _Root, kind: Kind, config: PathSettings | GitSettings
) -> Source:
    base = root.folder.resolve()
    path = Path(os.path.realpath(base / config.path))  # a link may lead outside
    if not path.is_relative_to(base):
        raise JobRefused(f"{config.path} leads outside {root.label}.")
    if not (path.is_dir() if kind == "folder" else path.is_file()):
        kind_of_path = "folder" if kind == "folder" else "file"
        raise JobRefused(f"There is no {kind_of_path} {config.path} in {root.label}; {_REMEDY}")
    columns = config.columns if isinstance(config, PathSettings) else {}
    return open_source(
        kind, path, _defaults(settings, config), name=name, columns=columns, within=base
    )


async def _clone(config: GitSettings, checkout: str) -> None:
    """Clone the newest commit of the branch, without history."""
    branch = ["--branch", config.branch] if config.branch else []
    try:
        process = await asyncio.create_subprocess_exec(
            *("git", *_GIT, "clone", "--quiet", "--depth", "1", "--single-branch", "--no-tags"),
            *(*branch, "--", config.url, checkout),
            env={"PATH": os.environ.get("PATH", os.defpath), **_GIT_ENVIRONMENT},
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.DEVNULL,
        )
    except FileNotFoundError:
        raise JobRefused("git is not installed on the worker's machine. Install it.") from None
    try:
        async with asyncio.timeout(_CLONE_S_MAX):
            status = await process.wait()
    except BaseException:
        process.kill()
        await process.wait()
        raise
    if status != 0:
        raise JobRefused("git can't clone the repository. Check its URL and branch.")
