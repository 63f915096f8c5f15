"""Every statement that reads what documents hold says of which tenant, and for whom.

By the words of `index/sql` themselves, so that a statement that is added has to say it too, or to
stand here with the reason why not.
"""

import re

import pytest

from index.postgres import statements
from index.postgres.functions import function_roles, security_definer_functions

STATEMENTS = statements.load()
SEARCHES = security_definer_functions.statements_of(function_roles.SEARCH).keys()

_TABLES = r"(audiences|documents|document_texts|chunks|chunks_\{partition_no\}|chunk_texts)"
_READS = re.compile(rf"\b(?:FROM|JOIN|USING|UPDATE|INTO)\s+{_TABLES}\b(?! ?\()")
_OWN = re.compile(r"\btenant = (\$[12]|asked\.tenant)\b|\bARRAY\[tenant\] && ARRAY\[\$1::text\]")
_ADMITTED = re.compile(
    r"allowed_tokens && (\$2::text\[\]|asked\.grants)\s+"
    r"OR \(\s*allowed_tokens && (\$3::text\[\]|asked\.shared)\s+AND NOT allowed_tokens"
)
_OF_ADMITTED = "audience_key = ANY (ARRAY(SELECT audience_key FROM admitted))"
_AUDIENCES = re.compile("FROM audiences")
_PUBLIC = (r"tenant <> \$1", r"'public' = ANY \(readers\)", r"'public' = ANY \(\$2::text\[\]\)")

# Though they name no tenant; none of them is for a caller.
WITHOUT_A_TENANT = {
    "identifiers.respell_documents": "all tenants, at a migration",
    "identifiers.respell_provenance": "the same",
    "identifiers.spellings": "the same",
    "documents.reposition_chunks": "chunks by identifier, of a document that its writer has locked",
    "forgetting.digests": "digests of a document that its writer has locked",
    "vector_stores.end_lost": "whether files of all tenants have documents, for the worker",
    "partitions.dimensions": "the width of the vectors in a partition, and none of them",
    "partitions.publish_index": "the same",
    "embedding_migration.tenants": "how many documents each tenant has",
    "popularity.add_openings": "documents that `search_popularity.openable` has admitted",
    "replay.see_audiences": "a view of the one tenant that its transaction names",
    "replay.see_chunk_texts": "the same",
    "replay.see_chunks": "the same",
    "replay.see_document_texts": "the same",
    "replay.see_documents": "the same",
    "resident.chunks": "what shards hold of documents that their loader has listed",
    "resident.public_documents": "public documents of all tenants, for the shard of those",
}
# What somebody asks for is decided by grants; these answer nobody who has any.
WITHOUT_GRANTS = {
    "change_log.since": "tells caches what they have to drop, each by the grants of who had asked",
    "consistency": "the operator's",
    "documents": "a writer's, who may write all of the tenant's documents",
    "analyser_migration": "the worker's",
    "embedding_migration": "the operator's",
    "export": "the operator's",
    "openfga.documents_to_share": "the worker's, which gives documents their readers",
    "openfga.forget_removed": "the same",
    "faqs": "an admin's key's, which may write, and search as, everybody of the tenant",
    "forgetting": "tells nobody anything: it deletes, or keeps what a writer puts",
    "jobs.document_state": "a writer's, who has been let write it: a version, and no document",
    "partitions": "the worker's",
    "popularity": "counts what was opened by who might, and tells nobody of documents",
    "identifiers": "a migration's",
    "replay": "an admin's, who may search as everybody of the tenant; searches look with grants",
    "resident": "fills shards; what they find is asked for again, with grants",
    "source_origins": "the operator's, who ingests: identifiers of one source, and no text",
    "sources.users": "an admin's, who is told whether there are any",
    "sources.remove": "an admin's, who may remove all of the tenant's documents",
    "tenant_deletion": "the worker's",
    "usage.status": "an admin's and the operator's: numbers, and no document",
    "vocabulary.prune_page": "the worker's",
    "vocabulary.prune_since": "the worker's",
    "vector_stores.end_lost": "the worker's, which deletes what is no file",
    "vector_stores.forget_refused": "tells nobody anything: it deletes what is no file",
    "web_pages": "the worker's, who reads all pages of a source",
    "vocabulary.prune_version": "the worker's: a number, and no document",
}


def code(statement: str) -> str:
    """Without its comments."""
    return re.sub(r"--.*$", "", statement, flags=re.MULTILINE)


READING = sorted(name for name, statement in STATEMENTS.items() if _READS.search(code(statement)))


def test_most_statements_of_searches_are_among_those_that_read() -> None:
    assert SEARCHES - set(READING) == {"vocabulary.look_up"}
    assert len(READING) > 20


def test_a_statement_that_reads_documents_says_of_which_tenant() -> None:
    for name in READING:
        says_so = _OWN.search(code(STATEMENTS[name])) is not None
        assert says_so is (name not in WITHOUT_A_TENANT), name


def test_a_statement_that_reads_documents_says_for_whom() -> None:
    for name in READING:
        says_so = _ADMITTED.search(code(STATEMENTS[name])) is not None
        excused = name in WITHOUT_GRANTS or name.partition(".")[0] in WITHOUT_GRANTS
        assert says_so is not excused, name


@pytest.mark.parametrize("name", sorted(SEARCHES - {"vocabulary.look_up"}))
def test_wherever_a_search_looks_for_documents_it_says_of_which_tenant_and_for_whom(
    name: str,
) -> None:
    """Each time, not once for all; but for those of chunks that were found so."""
    statement = code(STATEMENTS[name])
    looks = [
        query_around(statement, found.start())
        for found in re.finditer(r"FROM documents\b", statement)
    ]
    audiences = [query_around(statement, found.start()) for found in _AUDIENCES.finditer(statement)]

    assert looks or audiences
    for query in audiences:
        assert _OWN.search(query), query
        assert _ADMITTED.search(query), query
    for query in looks:
        own = _OWN.search(query) and _ADMITTED.search(query)
        admitted = query.count(_OF_ADMITTED) == query.count("FROM documents") and audiences
        public = all(re.search(condition, query) for condition in _PUBLIC)
        assert own or admitted or public, query


def query_around(statement: str, place: int) -> str:
    """What stands in the same parentheses."""
    start, depth = place, 0
    while start > 0 and depth >= 0:
        start -= 1
        depth += {")": 1, "(": -1}.get(statement[start], 0)
    end, depth = place, 0
    while end < len(statement) and depth >= 0:
        depth += {"(": 1, ")": -1}.get(statement[end], 0)
        end += 1
    return statement[start:end]


def test_words_of_other_tenants_are_not_told() -> None:
    """Words go by tenant alone: a search shows of them what its hits hold, and no more."""
    statement = code(STATEMENTS["vocabulary.look_up"])

    assert statement.count("FROM vocabulary") == 2
    assert "vocabulary.tenant = $1" in statement
    assert "ARRAY[vocabulary.tenant] && ARRAY[$1::text]" in statement


def test_no_excuse_is_out_of_date() -> None:
    files = {name.partition(".")[0] for name in READING}

    assert set(READING) >= WITHOUT_A_TENANT.keys()
    assert {*READING, *files} >= WITHOUT_GRANTS.keys()
