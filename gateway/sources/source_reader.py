"""Sources that a server reads by itself: what it may reach, and how each kind is opened."""

import asyncio
import os
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from pydantic import ValidationError

from gateway import schemas
from gateway.settings import Settings
from gateway.sources.source_schemas import GitSettings, GitSourceBody, PathSettings, PathSourceBody
from ingest.errors import JobRefused
from ingest.sources.kinds import Kind, open_source
from ingest.sources.source import Defaults, Source

_CLONE_S_MAX = 600.0  # a starting value, not measured
# Nothing asks a person, follows a host elsewhere, runs what a repository brings, or reads a file of
# this machine.
_GIT = (
    *("-c", "protocol.allow=never", "-c", "protocol.http.allow=always"),
    *("-c", "protocol.https.allow=always", "-c", "http.followRedirects=false"),
    *("-c", "core.hooksPath=/dev/null", "-c", "core.symlinks=false", "-c", "credential.helper="),
)
_GIT_ENVIRONMENT = {"GIT_TERMINAL_PROMPT": "0", "GIT_CONFIG_NOSYSTEM": "1", "HOME": "/nonexistent"}


_REMEDY = "put it there, or set the source's path to where it lies in that folder."


@dataclass(frozen=True, slots=True)
class _Root:
    """What no path of a source leaves; `shown` names it to a person."""

    folder: Path
    shown: str


def unreachable(settings: Settings, body: PathSourceBody | GitSourceBody) -> str | None:
    """Why this server may not read the source; None if it may."""
    if isinstance(body, PathSourceBody):
        if settings.sources_dir is None:
            return "No folder may be read: NEARHIT_SOURCES_DIR is not set."
        return None
    if urlsplit(body.settings.url).netloc not in _hosts(settings):
        return "No repository of this host may be read: NEARHIT_SOURCES_GIT_HOSTS lists others."
    return None


@asynccontextmanager
async def opened(
    settings: Settings, tenant: str, name: str, body: PathSourceBody | GitSourceBody
) -> AsyncIterator[Source]:
    """The tenant's source, as long as it is read. Raises `JobRefused`."""
    if (reason := unreachable(settings, body)) is not None:
        raise JobRefused(reason)
    if isinstance(body, PathSourceBody):
        assert settings.sources_dir is not None, "else it is unreachable"
        root = _Root(settings.sources_dir / checked_tenant(tenant), f"NEARHIT_SOURCES_DIR/{tenant}")
        yield await asyncio.to_thread(_source, settings, name, root, body.kind, body.settings)
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


def checked_tenant(tenant: str) -> str:
    """The name of the tenant's folder. Raises `JobRefused`.

    Names are lower-case ASCII, so two tenants share no folder where case does not count either.
    """
    try:
        return schemas.TENANT.validate_python(tenant)
    except ValidationError:
        raise JobRefused(f"The tenant {tenant!r} can have no folder of sources.") from None


def _source(
    settings: Settings, name: str, root: _Root, kind: Kind, wanted: PathSettings | GitSettings
) -> Source:
    base = root.folder.resolve()
    path = Path(os.path.realpath(base / wanted.path))  # links on the way may lead anywhere
    if not path.is_relative_to(base):
        raise JobRefused(f"{wanted.path} leads out of {root.shown}.")
    if not (path.is_dir() if kind == "folder" else path.is_file()):
        what = "folder" if kind == "folder" else "file"
        raise JobRefused(f"There is no {what} {wanted.path} in {root.shown}; {_REMEDY}")
    defaults = Defaults(
        owner=wanted.owner,
        readers=wanted.readers,
        tags=wanted.tags,
        language=wanted.language or settings.language,
        cut=wanted.cut,
        summaries=wanted.summaries,
    )
    columns = wanted.columns if isinstance(wanted, PathSettings) else {}
    return open_source(kind, path, defaults, name=name, columns=columns, within=base)


async def _clone(wanted: GitSettings, checkout: str) -> None:
    """The newest version alone."""
    branch = ["--branch", wanted.branch] if wanted.branch else []
    try:
        process = await asyncio.create_subprocess_exec(
            *("git", *_GIT, "clone", "--quiet", "--depth", "1", "--single-branch", "--no-tags"),
            *(*branch, "--", wanted.url, checkout),
            env={"PATH": os.environ.get("PATH", os.defpath), **_GIT_ENVIRONMENT},
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.DEVNULL,
        )
    except FileNotFoundError:
        raise JobRefused("git is not installed where the worker runs.") from None
    try:
        async with asyncio.timeout(_CLONE_S_MAX):
            status = await process.wait()
    except BaseException:
        process.kill()
        await process.wait()
        raise
    if status != 0:
        raise JobRefused("The repository, or the branch, can't be read.")
