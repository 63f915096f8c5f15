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


SIGNATURES: Mapping[str, Signature] = {
    name: _parse(text)
    for name, text in {
        "resident.partition": """
            text -> revision bigint, audience_revision bigint, history text, chunks bigint,
            languages text[], vocabulary_size bigint, confidence jsonb, partition_space text
        """,
        "resident.words": """
            text, text, bigint -> tokens text[], words text[], snapshot_xmin bigint
        """,
        "resident.learned_words": """
            text, text, bigint, bigint -> tokens text[], words text[], snapshot_xmin bigint
        """,
        "resident.separators": """
            text -> separators text
        """,
        "resident.tenant_documents": """
            text -> document_key bigint, tenant text, document_id text, source text, language
            text, tags text[], owner text, readers text[], partition_no integer,
            embedding_space text
        """,
        "resident.public_documents": """
            -> document_key bigint, tenant text, document_id text, source text, language text,
            tags text[], owner text, readers text[], partition_no integer, embedding_space
            text
        """,
        "resident.chunks": """
            integer[], bigint[] -> chunks bigint, ids bytea, document_keys bytea, dense bytea,
            lexical bytea, lexical_lengths bytea, records bytea, record_lengths bytea
        """,
        "resident.changes": """
            text, bigint, bigint, bigint -> position integer, revision bigint,
            audience_revision bigint, history text, languages text[], vocabulary_size bigint,
            confidence jsonb, is_whole boolean, partition_space text, outdated bytea, chunks
            bigint, ids bytea, document_keys bytea, dense bytea, lexical bytea,
            lexical_lengths bytea, records bytea, record_lengths bytea,
            document_key bigint, tenant text, document_id text, source text, language text,
            tags text[], owner text, readers text[], embedding_space text
        """,
        "resident.scores": """
            halfvec[], halfvec[], sparsevec[], sparsevec[] -> dense double precision[],
            lexical double precision[]
        """,
        "vocabulary.look_up": """
            text, text[], real, bigint, bigint, text[] -> vocabulary_size bigint, history text,
            word text, is_known boolean, near_words text[], similarities real[]
        """,
        "search.survey": """
            text, text[], text[], text, text[], text[], text[], text[], timestamp with time
            zone, timestamp with time zone, text[], jsonb, boolean, boolean, numeric ->
            embedding_space text, tenant_chunks bigint, tenant_vocabulary_size bigint,
            tenant_languages text[], partition_no integer, dimensions integer, public_chunks
            bigint, public_languages text[], own_share double precision, others_share double
            precision, others_partitions integer[], others_dimensions integer[],
            others_elsewhere boolean, tenant_revision bigint, public_revision bigint, history
            text
        """,
        "search.exact": """
            text, text[], text[], text, text[], text[], text[], text[], timestamp
            with time zone, timestamp with time zone, text[], jsonb, boolean,
            boolean, halfvec, sparsevec, bigint, double precision, integer[],
            boolean, text, boolean, boolean -> position integer, history text,
            tenant_revision bigint, public_revision bigint, tenant_access_revision
            bigint, tenant_audience_revision bigint, tenant_chunks bigint, public_chunks
            bigint, embedding_space text, tenant_vocabulary_size bigint, tenant_languages text[],
            public_languages text[], confidence jsonb, chunk_id bigint, dense double
            precision, lexical double precision, digest bytea, text text, start_at
            integer, end_at integer, document_key bigint, tenant text, document_id
            text, title text, source text, uri text, language text, tags text[],
            metadata jsonb, updated_at timestamp with time zone, scope_name text,
            summaries jsonb
        """,
        "search.details": """
            text, text[], text[], text, text[], text[], text[], text[], timestamp with time
            zone, timestamp with time zone, text[], jsonb, boolean, boolean, bigint[], boolean,
            boolean -> chunk_id bigint, text text, start_at integer, end_at integer, updated_at
            timestamp with time zone, summaries jsonb
        """,
        "search_confirmation.confirm": """
            text[], text[], text[], text[], bigint[], integer[], integer[], integer[],
            boolean[] -> history text, tenant_revision bigint, public_revision bigint,
            tenant_access_revision bigint, tenant_audience_revision bigint,
            tenant_vocabulary_size bigint, visible bigint
        """,
        "search_confirmation.confirm_filtered": """
            text, text[], text[], text, text[], text[], text[], text[], timestamp with time
            zone, timestamp with time zone, text[], jsonb, bigint[], boolean -> history text,
            tenant_revision bigint, public_revision bigint, tenant_access_revision bigint,
            tenant_audience_revision bigint, tenant_vocabulary_size bigint, visible bigint
        """,
        "search_audiences.admitted": """
            text, text[], text[], text, bigint -> history text, audience_revision bigint,
            allowed_tokens text[], tokens_with_words text[]
        """,
        "search.matching": """
            text, text[], text[], text, text[], text[], text[], text[], timestamp with time
            zone, timestamp with time zone, text[], jsonb, boolean, boolean -> history text,
            tenant_revision bigint, public_revision bigint, own_documents bytea,
            others_documents bytea
        """,
        "search.exact_legs": """
            text, text[], text[], text, text[], text[], text[], text[], timestamp
            with time zone, timestamp with time zone, text[], jsonb, boolean,
            boolean, halfvec, sparsevec, bigint, double precision, integer[],
            boolean, text, boolean, boolean, bigint -> position integer, history
            text, tenant_revision bigint, public_revision bigint,
            tenant_access_revision bigint, tenant_audience_revision bigint, tenant_chunks
            bigint, public_chunks bigint, embedding_space text, tenant_vocabulary_size bigint,
            tenant_languages text[], public_languages text[], confidence jsonb,
            dense_ids bigint[], dense_scores double precision[], lexical_ids
            bigint[], lexical_scores double precision[], chunk_id bigint, dense
            double precision, lexical double precision, digest bytea, text text,
            start_at integer, end_at integer, document_key bigint, tenant text,
            document_id text, title text, source text, uri text, language text, tags
            text[], metadata jsonb, updated_at timestamp with time zone, scope_name
            text, summaries jsonb
        """,
        "search.nearest": """
            text, text[], text[], text, text[], text[], text[], text[], timestamp
            with time zone, timestamp with time zone, text[], jsonb, boolean,
            boolean, halfvec, sparsevec, bigint, double precision, integer[],
            boolean, text, boolean, boolean, bigint -> position integer, history
            text, tenant_revision bigint, public_revision bigint,
            tenant_access_revision bigint, tenant_audience_revision bigint, tenant_chunks
            bigint, public_chunks bigint, embedding_space text, tenant_vocabulary_size bigint,
            tenant_languages text[], public_languages text[], confidence jsonb,
            dense_ids bigint[], dense_scores double precision[], lexical_ids
            bigint[], lexical_scores double precision[], chunk_id bigint, dense
            double precision, lexical double precision, digest bytea, text text,
            start_at integer, end_at integer, document_key bigint, tenant text,
            document_id text, title text, source text, uri text, language text, tags
            text[], metadata jsonb, updated_at timestamp with time zone, scope_name
            text, summaries jsonb
        """,
        "search_documents.get": """
            text, text[], text[], text, text[], text[], text[], text[], timestamp with
            time zone, timestamp with time zone, text[], jsonb, text, boolean ->
            document_id text, source text, title text, uri text, language text, tags
            text[], metadata jsonb, owner text, readers text[], chunker text, summaries
            text, is_active boolean, text text, created_at timestamp with time zone,
            updated_at timestamp with time zone
        """,
        "search_documents.page": """
            text, text[], text[], text, text[], text[], text[], text[], timestamp with
            time zone, timestamp with time zone, text[], jsonb, text, text, bigint,
            boolean -> document_id text, source text, title text, uri text, language
            text, tags text[], metadata jsonb, owner text, readers text[], chunker text,
            summaries text, is_active boolean, text text, created_at timestamp with time
            zone, updated_at timestamp with time zone
        """,
        "search_documents.files": """
            text, text[], text[], text, text[], text[], text[], text[], timestamp with time
            zone, timestamp with time zone, text[], jsonb, text, text, text, text, text, text,
            bigint -> file_id text, document_id text, created_at timestamp with time
            zone, status text, error_code text, error text, metadata jsonb, chunker text,
            size_bytes integer
        """,
        "search_documents.file": """
            text, text[], text[], text, text[], text[], text[], text[], timestamp with time
            zone, timestamp with time zone, text[], jsonb, text, text, text, text, text, text ->
            file_id text, document_id text, created_at timestamp with time zone, status text,
            error_code text, error text, metadata jsonb, chunker text, size_bytes integer
        """,
        "search_documents.newest_files": """
            text, text[], text[], text, text[], text[], text[], text[], timestamp with time
            zone, timestamp with time zone, text[], jsonb, text, text, text, text, text, text,
            bigint -> file_id text, document_id text, created_at timestamp with time
            zone, status text, error_code text, error text, metadata jsonb, chunker text,
            size_bytes integer
        """,
        "search_documents.sources": """
            text, text[], text[], text, text[], text[], text[], text[], timestamp with time
            zone, timestamp with time zone, text[], jsonb, bigint -> source text, documents
            bigint
        """,
        "search_documents.page_of_source": """
            text, text[], text[], text, text[], text[], text[], text[], timestamp with
            time zone, timestamp with time zone, text[], jsonb, text, text, bigint,
            boolean, text -> document_id text, source text, title text, uri text,
            language text, tags text[], metadata jsonb, owner text, readers text[],
            chunker text, summaries text, is_active boolean, text text, created_at
            timestamp with time zone, updated_at timestamp with time zone
        """,
        "search.vectors": """
            text, text[], text[], text, text[], text[], text[], text[], timestamp
            with time zone, timestamp with time zone, text[], jsonb, boolean,
            boolean, bigint[], text -> chunk_id bigint, dense halfvec
        """,
        "search_facets.counts": """
            text, text[], text[], text, text[], text[], text[], text[], timestamp
            with time zone, timestamp with time zone, text[], jsonb, boolean,
            boolean, text[], text[], bigint, integer -> documents bigint, field
            text, values text[], counts bigint[], other_values bigint, other_count
            bigint
        """,
        "search_relations.replaced": """
            text, text[], text[], text, text[], text[], text[], text[], timestamp
            with time zone, timestamp with time zone, text[], jsonb, boolean,
            boolean, bigint[] -> document_key bigint
        """,
        "search_relations.held": """
            text, text[], text[], text, text[], text[], text[], text[], timestamp
            with time zone, timestamp with time zone, text[], jsonb, boolean,
            boolean, bigint[], text[], text[] -> has_chunk boolean, has_document boolean,
            updated_at timestamp with time zone, replaced_by text
        """,
        "search_popularity.levels": """
            text, text[], text[], text, text[], text[], text[], text[], timestamp
            with time zone, timestamp with time zone, text[], jsonb, boolean,
            boolean, bigint[] -> document_key bigint, level smallint
        """,
        "search_popularity.openable": """
            text, text[], text[], text, text[], text[], text[], text[], timestamp
            with time zone, timestamp with time zone, text[], jsonb, boolean,
            boolean, text[], text[], bigint[] -> document_key bigint
        """,
        "search_relations.related": """
            text, text[], text[], text, text[], text[], text[], text[], timestamp
            with time zone, timestamp with time zone, text[], jsonb, boolean,
            boolean, bigint[], text[], integer -> document_key bigint, relation
            text, direction text, tenant text, document_id text, title text, source
            text, uri text, language text
        """,
        "search_documents.get_of": """
            text, text[], text[], text, text[], text[], text[], text[], timestamp with
            time zone, timestamp with time zone, text[], jsonb, text, boolean, text,
            boolean, boolean -> document_id text, source text, title text, uri text,
            language text, tags text[], metadata jsonb, owner text, readers text[],
            chunker text, summaries text, is_active boolean, text text, created_at
            timestamp with time zone, updated_at timestamp with time zone, chunk_rows
            jsonb
        """,
    }.items()
}
