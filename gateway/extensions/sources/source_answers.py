"""The answers of the calls that configure sources."""

from datetime import datetime
from typing import Any

from pydantic import Field

from gateway.extension import Body
from gateway.extensions._sources.source_store import SourceState, StoredSource


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
