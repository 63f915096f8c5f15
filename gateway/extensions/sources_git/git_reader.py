"""Reads the sources of repositories, on hosts that the operator has listed."""

from contextlib import AbstractAsyncContextManager, nullcontext
from urllib.parse import urlsplit

from gateway.extension import Services, listed
from gateway.extensions._sources.source import Defaults
from gateway.extensions._sources.sync.report import Report
from gateway.extensions.sources_git.git_schemas import GitHosts, GitSettings
from gateway.extensions.sources_git.git_source import GitHostSource


def open_reader(_: Services, own: GitHosts) -> AbstractAsyncContextManager["GitReader"]:
    return nullcontext(GitReader(own))


class GitReader:
    needs_slot = True

    def __init__(self, own: GitHosts) -> None:
        self._hosts = listed(own.hosts)

    def denial_reason(self, config: GitSettings) -> str | None:
        if urlsplit(config.url).netloc in self._hosts:
            return None
        return "This host may not be read: ask the operator to add it to NEARHIT_SOURCES_GIT_HOSTS."

    async def open(
        self, _tenant: str, name: str, config: GitSettings, defaults: Defaults
    ) -> GitHostSource:
        return GitHostSource(config.url, config.branch, config.path, defaults, name=name)

    async def record(self, _tenant: str, _name: str, _source: GitHostSource, _: Report) -> None:
        """The next reading clones the repository again."""
