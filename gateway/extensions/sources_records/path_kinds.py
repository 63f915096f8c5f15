"""The kinds of files that have many documents, each with its reader."""

from gateway.extensions._sources.kinds import PathKind
from gateway.extensions.sources_records import conversations, delimited, faqs, parquet

PATH_KINDS = (
    PathKind("csv", delimited.documents, (".csv", ".tsv"), has_columns=True),
    PathKind("parquet", parquet.documents, (".parquet",), has_columns=True),
    PathKind("faqs", faqs.documents, (".yaml", ".yml", ".json")),
    PathKind("conversations", conversations.documents, (".jsonl", ".ndjson")),
)
