"""The configuration of sources."""

from pathlib import PurePosixPath
from typing import Annotated, TypeAlias

from pydantic import AfterValidator, Field

from gateway.extension import Body
from gateway.extensions._sources.base_url import checked as checked_base_url
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
from ingest.worker import schedule


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
