"""Sources whose files have many documents: a row, a question or a conversation each."""

from gateway.extension import Extension
from gateway.extensions.sources_records.path_kinds import PATH_KINDS

EXTENSION: Extension[None] = Extension(
    summary="sources read tables (CSV, Parquet), questions with answers, and conversations",
    contributes=PATH_KINDS,
)
