"""The types of the functions' parameters and columns, as PostgreSQL finds them in the statements.

They are written down so that a gateway knows the names of its functions without asking the server
about each statement. `tests/index/postgres/functions/test_function_signatures.py` compares them
with what the server says, and shows what to write here.
"""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Signature:
    """columns: names and types."""

    parameters: tuple[str, ...]
    columns: tuple[tuple[str, str], ...]


def _parse(text: str) -> Signature:
    """The types of the parameters, an arrow, and the name and type of each column."""
    parameters, _, columns = " ".join(text.split()).partition("->")
    return Signature(tuple(_listed(parameters)), tuple(_named(each) for each in _listed(columns)))


def _listed(text: str) -> list[str]:
    return [each.strip() for each in text.split(",") if each.strip()]


def _named(column: str) -> tuple[str, str]:
    name, _, kind = column.partition(" ")
    return name, kind


# What a scope and a filter admit, and with it whose public documents.
_FILTER = """
    text, text[], text[], text, text[], text[], text[], text[], timestamp with time zone,
    timestamp with time zone, text[], jsonb
"""
_SEARCHED = f"{_FILTER}, boolean, boolean"
# What both legs look for.
_LEGS = """
    halfvec, sparsevec, bigint, double precision, integer[], boolean, text, boolean, boolean
"""
_STATE = """
    position integer, history text, tenant_revision bigint, public_revision bigint,
    tenant_access_revision bigint, tenant_audience_revision bigint, tenant_chunks bigint,
    public_chunks bigint, embedding_space text, tenant_vocabulary_size bigint, tenant_languages
    text[], public_languages text[], confidence jsonb
"""
_HIT = """
    chunk_id bigint, dense double precision, lexical double precision, digest bytea, text text,
    start_at integer, end_at integer, document_key bigint, tenant text, document_id text, title
    text, source text, uri text, language text, tags text[], metadata jsonb, updated_at
    timestamp with time zone, trust text, scope_name text, summaries jsonb
"""
_LEG_SCORES = """
    dense_ids bigint[], dense_scores double precision[], lexical_ids bigint[], lexical_scores
    double precision[]
"""
_DOCUMENT = """
    document_id text, source text, title text, uri text, language text, tags text[], metadata
    jsonb, owner text, readers text[], chunker text, summaries text, is_active boolean,
    provenance jsonb, text text, created_at timestamp with time zone, updated_at timestamp
    with time zone
"""
_FILE = """
    file_id text, document_id text, created_at timestamp with time zone, status text, error_code
    text, error text, metadata jsonb, chunker text, size_bytes integer
"""
_PROOF = """
    history text, tenant_revision bigint, public_revision bigint, tenant_access_revision bigint,
    tenant_audience_revision bigint, tenant_vocabulary_size bigint, visible bigint
"""
_LABELS = """
    document_key bigint, tenant text, document_id text, source text, language text, tags text[],
    owner text, readers text[]
"""
_CHUNKS = """
    chunks bigint, ids bytea, document_keys bytea, dense bytea, lexical bytea, lexical_lengths
    bytea, records bytea, record_lengths bytea
"""

SIGNATURES: Mapping[str, Signature] = {
    name: _parse(text)
    for name, text in {
        "resident.partition": """
            text -> revision bigint, audience_revision bigint, history text, chunks bigint,
            languages text[], vocabulary_size bigint, confidence jsonb, partition_space text
        """,
        "resident.words": "text, text, bigint -> tokens text[], words text[], snapshot_xmin bigint",
        "resident.learned_words": """
            text, text, bigint, bigint -> tokens text[], words text[], snapshot_xmin bigint
        """,
        "resident.separators": "text -> separators text",
        "resident.tenant_documents": f"""
            text -> {_LABELS}, partition_no integer, embedding_space text
        """,
        "resident.public_documents": f"-> {_LABELS}, partition_no integer, embedding_space text",
        "resident.chunks": f"integer[], bigint[] -> {_CHUNKS}",
        "resident.changes": f"""
            text, bigint, bigint, bigint -> position integer, revision bigint, audience_revision
            bigint, history text, languages text[], vocabulary_size bigint, confidence jsonb,
            is_whole boolean, partition_space text, outdated bytea, {_CHUNKS}, {_LABELS},
            embedding_space text
        """,
        "resident.scores": """
            halfvec[], halfvec[], sparsevec[], sparsevec[] -> dense double precision[], lexical
            double precision[]
        """,
        "vocabulary.look_up": """
            text, text[], real, bigint, bigint, text[] -> vocabulary_size bigint, history text,
            word text, is_known boolean, near_words text[], similarities real[]
        """,
        "search.survey": f"""
            {_SEARCHED}, numeric -> embedding_space text, tenant_chunks bigint,
            tenant_vocabulary_size bigint, tenant_languages text[], partition_no integer,
            dimensions integer, public_chunks bigint, public_languages text[], own_share double
            precision, others_share double precision, others_partitions integer[],
            others_dimensions integer[], others_elsewhere boolean, tenant_revision bigint,
            public_revision bigint, history text
        """,
        "search.exact": f"{_SEARCHED}, {_LEGS} -> {_STATE}, {_HIT}",
        "search.details": f"""
            {_SEARCHED}, bigint[], boolean, boolean -> chunk_id bigint, text text, start_at
            integer, end_at integer, updated_at timestamp with time zone, summaries jsonb
        """,
        "search_confirmation.confirm": f"json -> {_PROOF}",
        "search_confirmation.confirm_filtered": f"{_FILTER}, bigint[], boolean -> {_PROOF}",
        "search_audiences.admitted": """
            text, text[], text[], text, bigint -> history text, audience_revision bigint,
            allowed_tokens text[], tokens_with_words text[]
        """,
        "search.matching": f"""
            {_SEARCHED} -> history text, tenant_revision bigint, public_revision bigint,
            own_documents bytea, others_documents bytea
        """,
        "search.exact_legs": f"{_SEARCHED}, {_LEGS}, bigint -> {_STATE}, {_LEG_SCORES}, {_HIT}",
        "search.nearest": f"{_SEARCHED}, {_LEGS}, bigint -> {_STATE}, {_LEG_SCORES}, {_HIT}",
        "search_documents.get": f"{_FILTER}, text, boolean -> {_DOCUMENT}",
        "search_documents.page": f"{_FILTER}, text, text, bigint, boolean -> {_DOCUMENT}",
        "search_documents.files": f"""
            {_FILTER}, text, text, text, text, text, text, bigint -> {_FILE}
        """,
        "search_documents.file": f"{_FILTER}, text, text, text, text, text, text -> {_FILE}",
        "search_documents.newest_files": f"""
            {_FILTER}, text, text, text, text, text, text, bigint -> {_FILE}
        """,
        "search_documents.sources": f"{_FILTER}, bigint -> source text, documents bigint",
        "search_documents.page_of_source": f"""
            {_FILTER}, text, text, bigint, boolean, text -> {_DOCUMENT}
        """,
        "search_documents.total": f"{_FILTER}, text, text, bigint, boolean -> visible bigint",
        "search_documents.total_of_source": f"""
            {_FILTER}, text, text, bigint, boolean, text -> visible bigint
        """,
        "search_documents.count": f"""
            {_FILTER}, text[], boolean, text[], boolean, bigint[] -> visible bigint
        """,
        "search.vectors": f"{_SEARCHED}, bigint[], text -> chunk_id bigint, dense halfvec",
        "search_facets.counts": f"""
            {_SEARCHED}, text[], text[], bigint, integer -> documents bigint, field text, values
            text[], counts bigint[], other_values bigint, other_count bigint
        """,
        "search_relations.replaced": f"{_SEARCHED}, bigint[] -> document_key bigint",
        "search_relations.held": f"""
            {_SEARCHED}, json, bigint, bigint, bigint, bigint, bigint
            -> chunk_ids bigint[], chunk_documents bigint[], document_keys bigint[], tenants text[],
            document_ids text[], updated_at timestamp with time zone[], replaced_tenants text[],
            replaced_ids text[], replaced_by text[], written_partitions text[], written_revisions
            bigint[], written_at timestamp with time zone[], tenant_oldest bigint, public_oldest
            bigint, is_whole boolean, added_partitions text[], added_revisions bigint[],
            added_documents bigint[], added_ids bigint[], added_starts integer[], added_ends
            integer[], added_texts text[]
        """,
        "search_popularity.levels": f"{_SEARCHED}, bigint[] -> document_key bigint, level smallint",
        "search_popularity.openable": f"""
            {_SEARCHED}, text[], text[], bigint[] -> document_key bigint
        """,
        "search_relations.related": f"""
            {_SEARCHED}, bigint[], text[], integer -> document_key bigint, relation text,
            direction text, tenant text, document_id text, title text, source text, uri text,
            language text
        """,
        "search_documents.get_of": f"""
            {_FILTER}, text, boolean, text, boolean, boolean -> {_DOCUMENT}, chunk_rows jsonb,
            revision bigint
        """,
    }.items()
}
