"""The bodies of requests and answers about sources, as they travel."""

import re
from datetime import datetime
from pathlib import PurePosixPath
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit

import orjson
from pydantic import AfterValidator, Field, RootModel

from gateway.schemas import Body
from index.documents.source_store import Source, SourceState
from index.model.document import (
    NO_SUMMARIES,
    Cut,
    Language,
    Line,
    Owner,
    Readers,
    Summaries,
    Tags,
    Uri,
)
from ingest.sources import schedule

_HOST = re.compile(r"[a-z0-9]([a-z0-9.-]*[a-z0-9])?(:[0-9]{1,5})?")
_BRANCH = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_./-]{0,199}")


def _inside(path: str) -> str:
    parts = PurePosixPath(path).parts
    if path.startswith("/") or ".." in parts or "\\" in path:
        raise ValueError("must be a path within the tenant's folder of sources")
    return path


def _public_git(url: str) -> str:
    """No key may lie in a source's settings, and no other protocol reads what is not meant."""
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not _HOST.fullmatch(parts.netloc):
        raise ValueError("must be an http or https URL without a user")
    if parts.query or parts.fragment:
        raise ValueError("must be a URL without ? and #")
    return url


def _branch(name: str) -> str:
    if not _BRANCH.fullmatch(name) or ".." in name:
        raise ValueError("is no name of a branch")
    return name


_Schedule = Annotated[Line, AfterValidator(schedule.checked)]


class _Documents(Body):
    """What holds for documents that say nothing else."""

    owner: Owner | None = None
    readers: Readers = ("tenant",)
    tags: Tags = ()
    language: Language | None = None
    cut: Cut | None = Field(None, description="how texts are cut; as its kind is, if absent")
    summaries: Summaries = Field(NO_SUMMARIES, description="who sums up what is long")


class PathSettings(_Documents):
    path: Annotated[Line, AfterValidator(_inside)] = Field(
        description="of a folder, or of a file by its kind, within NEARHIT_SOURCES_DIR/TENANT"
    )
    columns: dict[Line, Line] = Field(
        {}, description="of a table: by field of a document, the column that holds it"
    )


class GitSettings(_Documents):
    url: Annotated[Uri, AfterValidator(_public_git)] = Field(
        description="of a host of NEARHIT_SOURCES_GIT_HOSTS"
    )
    branch: Annotated[Line, AfterValidator(_branch)] | None = None
    path: Annotated[Line, AfterValidator(_inside)] = Field(
        ".", description="of the folder to read, within the repository"
    )


class _SourceBody(Body):
    schedule: _Schedule | None = Field(
        None, description="when to read it, as cron has it, in UTC; only when asked if absent"
    )
    paused: bool = False


class PathSourceBody(_SourceBody):
    kind: Literal["folder", "csv", "parquet", "faqs", "conversations"]
    settings: PathSettings


class GitSourceBody(_SourceBody):
    kind: Literal["git"]
    settings: GitSettings


class SourceBody(RootModel[Annotated[PathSourceBody | GitSourceBody, Field(discriminator="kind")]]):
    """How to read a source, by its kind."""

    @classmethod
    def of(cls, source: Source) -> "SourceBody | None":
        """None if others bring its documents."""
        if source.kind is None:
            return None
        return cls.model_validate_json(
            orjson.dumps({"kind": source.kind, "settings": dict(source.settings)})
        )


class SourceAnswer(Body):
    source: str
    kind: str | None = Field(description="null: others bring its documents")
    settings: dict[str, Any]
    schedule: str | None
    state: SourceState
    next_run_at: datetime | None
    last_run_at: datetime | None
    last_error: str | None
    counts: dict[str, int] = Field(description="what the last reading came to")

    @classmethod
    def of(cls, source: Source) -> "SourceAnswer":
        return cls(
            source=source.source,
            kind=source.kind,
            settings=dict(source.settings),
            schedule=source.schedule,
            state=source.state,
            next_run_at=source.next_run_at,
            last_run_at=source.last_run_at,
            last_error=source.last_error,
            counts=dict(source.counts),
        )


class SourcesAnswer(Body):
    sources: tuple[SourceAnswer, ...]
