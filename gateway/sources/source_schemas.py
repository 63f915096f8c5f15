"""The request and response bodies of sources."""

from datetime import datetime
from functools import cache
from pathlib import PurePosixPath
from typing import Annotated, Any, Literal, TypeAlias, Union, get_args

from pydantic import AfterValidator, Field, RootModel, create_model

from gateway.schemas import Body
from index.model.document import (
    NO_SUMMARIES,
    ChunkerName,
    Language,
    Line,
    Summaries,
    Tags,
    Uri,
)
from index.model.identifiers import Readers, SubjectId
from index.sources.source_store import SourceState, StoredSource
from ingest.sources import schedule
from ingest.sources.base_url import checked as checked_base_url
from ingest.sources.kinds import FOLDER


def _inside(path: str) -> str:
    parts = PurePosixPath(path).parts
    if path.startswith("/") or ".." in parts or "\\" in path:
        raise ValueError("must be a path within the tenant's folder of sources")
    return path


InnerPath: TypeAlias = Annotated[Line, AfterValidator(_inside)]
_Schedule = Annotated[Line, AfterValidator(schedule.checked)]


class SourceDocuments(Body):
    """Defaults for documents that do not set these fields."""

    owner: SubjectId | None = None
    readers: Readers = ("tenant",)
    tags: Tags = ()
    language: Language | None = None
    chunker: ChunkerName | None = Field(
        None, description="how texts are split into chunks; absent: the default of the kind"
    )
    summaries: Summaries = Field(
        NO_SUMMARIES, description="how long documents are summarized: none, extract or model"
    )


class SourceFiles(SourceDocuments):
    base_url: Annotated[Uri, AfterValidator(checked_base_url)] | None = Field(
        None,
        description="URL below which the documents open in a browser; their `uri` is this and the "
        "path, unless a document has an absolute one",
    )


class PathSettings(SourceFiles):
    path: InnerPath = Field(
        description="path of the folder or file, relative to NEARHIT_SOURCES_DIR/TENANT"
    )
    columns: dict[Line, Line] = Field(
        {}, description="for tables: by document field, the name of its column"
    )


class SourceConfiguration(Body):
    """What the bodies of all kinds have; `kind` is a `Literal` with the kind's name."""

    schedule: _Schedule | None = Field(
        None, description="when to read it, as a cron expression in UTC; absent: only on request"
    )
    paused: bool = False
    kind: str
    settings: SourceDocuments


class PathSourceBody(SourceConfiguration):
    kind: str = Field(description="`folder`, or what the file at the path is")
    settings: PathSettings


def kinds_of(body: type[SourceConfiguration]) -> tuple[str, ...]:
    """The names of the kinds whose configuration this is."""
    return get_args(body.model_fields["kind"].annotation)


@cache
def body_of(
    *further: type[SourceConfiguration], path_kinds: tuple[str, ...] = ()
) -> type[RootModel[Any]]:
    """The body of `PUT /v1/sources`: of a folder, of a path of these kinds, or a further one."""
    names: Any = Literal[(FOLDER, *path_kinds)]
    kind = PathSourceBody.model_fields["kind"]
    of_path = create_model("PathSourceBody", __base__=PathSourceBody, kind=(names, kind))
    kinds: Any = of_path
    if further:
        kinds = Annotated[Union[(of_path, *further)], Field(discriminator="kind")]

    class SourceBody(RootModel[kinds]):
        """The configuration of a source, by its kind."""

    return SourceBody


class SourceAnswer(Body):
    source: str
    kind: str | None = Field(
        description="null: Nearhit does not read it, callers write its documents"
    )
    settings: dict[str, Any]
    schedule: str | None = Field(
        description="cron expression in UTC; null: it is read on request only"
    )
    state: SourceState = Field(description="`idle`, `waiting`, `running` or `needs_attention`")
    next_run_at: datetime | None = Field(description="when it is read next; null: not by schedule")
    last_run_at: datetime | None = Field(description="when it was last read; null: never")
    last_error: str | None
    counts: dict[str, int] = Field(description="counts of the last completed reading")
    pending_removals: int | None = Field(
        description="how many documents the last reading no longer found and kept, because they "
        "are more than a fifth of the source's, or all; an admin confirms "
        "their removal, or puts them back and reads again; null: none"
    )
    may_publish: bool = Field(
        description="whether a publisher has configured it, so that its documents may be public"
    )

    @classmethod
    def of(cls, source: StoredSource) -> "SourceAnswer":
        return cls.model_validate(source, from_attributes=True)


class SourcesAnswer(Body):
    sources: tuple[SourceAnswer, ...] = Field(description="sources, by name")
    cursor: str | None = Field(description="the `cursor` of the next page; null on the last page")
