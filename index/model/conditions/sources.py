"""Documents of one of these sources."""

from index.model.conditions import names
from index.model.conditions.condition import FilterCondition, ToolArgument
from index.model.conditions.names import Names, Values

SOURCES: FilterCondition[Names] = FilterCondition(
    field=Values,
    description="a document passes if its source is in the list",
    sql="source = ANY (:value)",
    parameter="text[]",
    admits=lambda wanted, chunk: chunk.source in wanted,
    mask=lambda wanted, columns: columns.where("sources", lambda source: source in wanted),
    both=names.intersection,
    tool=ToolArgument("sources", "Search only these sources; list_sources returns their names."),
    takes="sources",
)
