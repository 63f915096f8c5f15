"""The documents of a list, or all but these."""

from index.model.conditions import names
from index.model.conditions.condition import FilterCondition
from index.model.conditions.names import Names, Values

DOCUMENTS: FilterCondition[Names] = FilterCondition(
    field=Values,
    description="the only documents to search, at most 256",
    # The subselect is hashed once: the list is not walked for each document.
    sql="document_id IN (SELECT jsonb_array_elements_text(:value))",
    admits=lambda wanted, chunk: chunk.document_id in wanted,
    mask=lambda wanted, columns: columns.among("documents", wanted),
    both=names.intersection,
    takes="document_ids",
    listed_before="exclude_documents",
)
EXCLUDE_DOCUMENTS: FilterCondition[Names] = FilterCondition(
    field=Values,
    description="a document passes if its identifier is not in the list",
    sql="document_id <> ALL (:value)",
    parameter="text[]",
    admits=lambda unwanted, chunk: chunk.document_id not in unwanted,
    mask=lambda unwanted, columns: columns.among("documents", unwanted, invert=True),
    both=names.union,
    takes="document_ids",
    excludes=True,
)
