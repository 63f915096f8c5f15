"""Documents with one of these tags, or with all of them."""

from index.model.conditions import names
from index.model.conditions.condition import FilterCondition, ToolArgument
from index.model.conditions.names import Names, Values

TAGS_ANY: FilterCondition[Names] = FilterCondition(
    field=Values,
    description="a document passes if it has one of these tags",
    sql="tags && :value",
    parameter="text[]",
    admits=lambda wanted, chunk: any(tag in wanted for tag in chunk.tags),
    mask=lambda wanted, columns: columns.where("tags", lambda tags: bool({*wanted} & {*tags})),
    both=None,  # two lists of alternatives are not one
    tool=ToolArgument("tags", "Search only documents with one of these tags."),
    takes="tags",
)
TAGS_ALL: FilterCondition[Names] = FilterCondition(
    field=Values,
    description="a document passes if it has all of these tags",
    sql="tags @> :value",
    parameter="text[]",
    admits=lambda wanted, chunk: all(tag in chunk.tags for tag in wanted),
    mask=lambda wanted, columns: columns.where("tags", lambda tags: {*wanted} <= {*tags}),
    both=names.union,
)
