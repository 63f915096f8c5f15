"""What each condition of a filter says of itself, for all that build on filters."""

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Generic, Literal, Protocol, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

Value = TypeVar("Value")
# Which rows of a segment of a shard; of its fields, `ids` is below zero for summaries.
Rows: TypeAlias = Callable[[Any], NDArray[np.bool_] | bool]
ColumnName: TypeAlias = Literal["sources", "languages", "tags", "documents"]
Table: TypeAlias = Literal["documents", "chunks"]
HitProperty: TypeAlias = Literal["document_ids", "sources", "tags", "languages"]


class NothingMeetsBoth(Exception):
    """No document meets both values of a condition."""


class FilteredChunk(Protocol):
    """The fields that conditions read of a chunk and its document."""

    @property
    def chunk_id(self) -> int: ...
    @property
    def document_id(self) -> str: ...
    @property
    def source(self) -> str: ...
    @property
    def language(self) -> str: ...
    @property
    def tags(self) -> Collection[str]: ...
    @property
    def metadata(self) -> Mapping[str, Any]: ...
    @property
    def updated_at(self) -> datetime: ...
    @property
    def trust(self) -> str | None: ...


class ShardColumns(Protocol):
    """The columns of a shard that hold a label for each chunk."""

    def where(self, column: ColumnName, condition: Callable[[Any], bool]) -> Rows:
        """The rows whose label meets the condition, which is asked once for each label."""

    def among(self, column: ColumnName, labels: Iterable[Any], *, invert: bool = False) -> Rows:
        """The rows whose label is one of these, or the others; for columns of many labels."""


def _same(value: Any) -> Any:
    return value


def _canonical(value: Any) -> Any:
    return tuple(sorted(set(value))) if isinstance(value, tuple) else value


@dataclass(frozen=True, slots=True)
class ToolArgument:
    """The argument of the tool `search` by which agents state a condition.

    field:  its type; None for that of the condition.
    fields: from its value, the fields of the filter of the equal HTTP search; None for the value
        under the condition's name.
    """

    name: str
    description: str
    field: Any = None
    fields: Callable[[Any], dict[str, Any]] | None = None


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class FilterCondition(Generic[Value]):
    """A condition on a document, or on a chunk of it.

    field, description: of the field in the body of a request.
    canonical: from the field's value, the value in a canonical query: equal for all that must get
        the same answer; None if it leaves nothing out. Lists are sorted and lose duplicates.
    table: whose rows `sql` is a condition on.
    sql: constant text in which `:value` stands for the argument.
    parameter: the type of the first conditions' own parameters, which take the value itself, or of
        one on chunks. The others share a JSON object: one more parameter would move those behind it
        in all statements.
    argument: from the value, what the JSON object or the parameter of chunks takes.
    admits: whether a chunk meets the condition, by its own fields.
    mask: which rows of a shard meet it; None if shards lack what it reads. The second check asks
        `admits` of each chunk that `mask` has let through. So these two are written twice: they
        share no function that knows the condition.
    both: the value that the documents meet that meet both values, for the filters of tokens. Raises
        `NothingMeetsBoth`. None if there is no such value, and for a condition on chunks: then
        tokens can't have the condition.
    tool: how agents state it; None if they can't.
    takes: what the field can take from the hits of an earlier step of a plan.
    is_dated: whether a document may begin or cease to meet it though no chunk of it changes. Each
        change of a partition then ends the cached answer.
    excludes: whether a list of no values leaves out nothing, where others admit nothing.
    listed_before: the field that the body lists after this one; else the order is the table's.
    """

    field: Any
    description: str
    canonical: Callable[[Any], Value | None] = _canonical
    table: Table = "documents"
    sql: str
    parameter: str | None = None
    argument: Callable[[Value], Any] = _same
    admits: Callable[[Value, FilteredChunk], bool]
    mask: Callable[[Value, ShardColumns], Rows] | None
    both: Callable[[Value, Value], Value] | None
    tool: ToolArgument | None = None
    takes: HitProperty | None = None
    is_dated: bool = False
    excludes: bool = False
    listed_before: str | None = None
