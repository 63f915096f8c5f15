"""The configuration of a source of a repository, and which hosts may be read."""

import re
from typing import Annotated, Literal
from urllib.parse import urlsplit

from pydantic import AfterValidator, BaseModel, Field

from gateway.extensions._sources.source_schemas import InnerPath, SourceConfiguration, SourceFiles
from gateway.extensions._web import urls
from index.model.document import Line, Uri

_BRANCH = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_./-]{0,199}")


def _public_git(url: str) -> str:
    """Check the URL: no credentials in a source's settings, and no protocol but HTTP."""
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or (urls.canonical_host(parts.netloc) != parts.netloc):
        raise ValueError("must be an http or https URL without a user name")
    if parts.query or parts.fragment:
        raise ValueError("must be a URL without ? and #")
    return url


def _branch(name: str) -> str:
    if not _BRANCH.fullmatch(name) or ".." in name:
        raise ValueError("must be a valid branch name")
    return name


class GitHosts(BaseModel):
    """Sources of repositories."""

    hosts: str | None = Field(
        None,
        description="comma-separated hosts that sources of kind `git` may read; unset: none",
    )


class GitSettings(SourceFiles):
    url: Annotated[Uri, AfterValidator(_public_git)] = Field(
        description="URL of the repository, on a host of NEARHIT_SOURCES_GIT_HOSTS"
    )
    branch: Annotated[Line, AfterValidator(_branch)] | None = Field(
        None, description="branch to read; null: the default one"
    )
    path: InnerPath = Field(
        ".", description="path of the folder to read, relative to the repository"
    )


class GitSourceBody(SourceConfiguration):
    kind: Literal["git"] = Field(description="`git`: a repository")
    settings: GitSettings
