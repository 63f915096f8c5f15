"""How PostgreSQL carries a search out: the plans of the very statements, as they ran in functions.

A plan must not depend on what the planner believes of a table. So each is looked at on a fresh
database, on fresh partitions without statistics, and with statistics of some tables or of all.
"""

import json
from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from typing import Any, cast, get_args

import pytest

from gateway.extensions.embedded_servers.owned_servers import Servers
from index.documents.document_store import DocumentStore
from index.documents.partitions import MovedTenant, Partitions
from index.documents.visible_documents import VisibleDocuments
from index.invalidation.changes import ChangeLog
from index.model.query import Filter, FusionName, Query
from index.model.scope import SCOPE_NAMES, Scope, resolve
from index.postgres import statements
from index.postgres.connections import pool
from index.postgres.database import Database
from index.postgres.filter_sql import filter_args
from index.postgres.search_connections import SearchConnections
from index.postgres.session import Session
from index.resident import matching_documents
from index.search.shards.confirmation import Confirmations
from index.search.sight_reader import SightReader
from index.search.tables.strategy import StrategyLimits
from index.tenants.tenant_store import TenantStore
from tests.conftest import fresh_settings, run_sql
from tests.database_copies import DatabaseCopies, copies_of, name_of
from tests.index.conftest import connected
from tests.index.support import many_chunks
from tests.index.support.captured_statements import unobserved
from tests.index.support.query_plans import (
    QUERY,
    Explained,
    Node,
    assert_no_table_is_read_through,
    explained,
    explained_searches,
    indexes,
    nodes,
    part,
    partitions_read,
    reads,
    rows_read,
)
from tests.threads import new_threads

pytestmark = [pytest.mark.anyio, pytest.mark.slow]

ACME, BETA, DELTA = 400, 60, 300  # documents; acme and delta outgrow the shared partition
SHARED_PARTITIONS = {"acme": 0, "beta": 0, "delta": 0}
FEW_DOCUMENTS = 8  # of acme, that group:few alone may read
PUBLIC_DOCUMENTS = 150 + 20  # of delta and beta
ACME_READERS = [("tenant",)] * 49 + [("group:few",)]
ALL_STATEMENTS = statements.load()  # those of shards too, as the owner runs them
OUTGROWN = StrategyLimits(crossover_chunks=1_000)

ALL = resolve("acme", "ana", ["few"], ["private", "shared", "tenant"])
FEW = resolve("acme", "ana", ["few"], ["private", "shared"])
FEW_AND_OTHERS = resolve(
    "acme", "ana", ["few"], ["private", "shared", "public"], receives_public=True
)
ALL_AND_OTHERS = resolve("acme", "ana", ["few"], SCOPE_NAMES, receives_public=True)

STATISTICS = {
    "moved": (),
    "documents": ("documents",),
    "audiences": ("audiences",),
    "chunks": ("chunks",),
    "all": (
        "audiences",
        "documents",
        "chunks",
        "tenants",
        "chunk_texts",
        "document_texts",
        "chunk_partitions",
    ),
}

# Else a plan that PostgreSQL keeps may be made anew between two searches, of better statistics.
LEAVE_STATISTICS = """
DO $$
DECLARE
    relation regclass;
BEGIN
    FOR relation IN
        SELECT oid FROM pg_class
        WHERE relkind = 'r' AND relnamespace = current_schema()::regnamespace
    LOOP
        EXECUTE format('ALTER TABLE %s SET (autovacuum_enabled = false)', relation);
    END LOOP;
END $$"""


@dataclass(frozen=True, slots=True)
class Town:
    """searches, statements: as they are explained, those of searches and those of the owner."""

    searches: Explained
    statements: Explained
    partitions: dict[str, int]


@pytest.fixture(scope="module")
async def settled(servers: Servers, databases: DatabaseCopies) -> AsyncIterator[str]:
    """The URL of a town in which nothing is indexed or analysed."""
    async with fresh_settings(servers, databases) as own:
        assert own.database_url is not None
        url = own.database_url.get_secret_value()
        await run_sql(url, LEAVE_STATISTICS)
        async with connected(url) as database:
            tenants, documents = TenantStore(database), DocumentStore(database)
            for tenant in ("acme", "beta", "delta"):
                await tenants.create(tenant, tenant)
            await many_chunks.settle(documents, "acme", number=ACME, readers=ACME_READERS, seed=1)
            third = [("public",), ("tenant",), ("tenant",)]
            await many_chunks.settle(documents, "beta", number=BETA, readers=third, seed=2)
            half = [("public",), ("tenant",)]
            await many_chunks.settle(documents, "delta", number=DELTA, readers=half, seed=3)
        yield url


@pytest.fixture(scope="module")
async def fresh_towns(servers: Servers, settled: str) -> AsyncIterator[DatabaseCopies]:
    async with copies_of(name_of(settled), servers.database_url) as copies:
        yield copies


@pytest.fixture(scope="module")
async def moved_towns(
    servers: Servers, fresh_towns: DatabaseCopies
) -> AsyncIterator[tuple[DatabaseCopies, dict[str, int]]]:
    """Copies in which tenants have partitions, and which ones; to index them takes the longest."""
    async with fresh_settings(servers, fresh_towns) as own:
        assert own.database_url is not None
        url = own.database_url.get_secret_value()
        async with connected(url) as database:
            maintained = [done async for done in Partitions(database, limits=OUTGROWN).maintain()]
        await run_sql(url, LEAVE_STATISTICS)
        moved = {
            done.tenant: done.partition_no for done in maintained if isinstance(done, MovedTenant)
        }
        async with copies_of(name_of(url), servers.database_url) as copies:
            yield copies, SHARED_PARTITIONS | moved


@pytest.fixture(scope="module", params=[None, *STATISTICS], ids=str)
async def town(
    request: pytest.FixtureRequest,
    servers: Servers,
    fresh_towns: DatabaseCopies,
    moved_towns: tuple[DatabaseCopies, dict[str, int]],
) -> AsyncIterator[Town]:
    """Fresh, and with partitions of which there are these statistics."""
    towns, partitions = moved_towns if request.param else (fresh_towns, SHARED_PARTITIONS)
    async with fresh_settings(servers, towns) as own:
        assert own.database_url is not None
        url = own.database_url.get_secret_value()
        for table in STATISTICS.get(request.param, ()):
            await run_sql(url, f"ANALYZE {table}")
        async with (
            explained_searches(url) as searches,
            pool(url, 1, 10, {}) as owner,
            owner.acquire() as connection,
            explained(
                Session(connection, unobserved, statements=ALL_STATEMENTS), connection
            ) as statements,
        ):
            yield Town(searches, statements, partitions)


async def only_pass(town: Town, scope: Scope, limits: StrategyLimits, query: Query = QUERY) -> Node:
    ((_, plan),) = await town.searches.search(scope, limits, query)
    assert_no_table_is_read_through(plan)
    return plan


def own(plan: Node) -> Node:
    """Where an exact pass looks for the tenant's own documents: its two forms, one carried out."""
    (found,) = (
        node
        for node in nodes(plan)
        if node.get("Parent Relationship") == "InitPlan" and node["Node Type"] == "Append"
    )
    return found


@pytest.mark.sampled("None-rrf", "audiences-absolute", "audiences-relative", "audiences-rrf")
@pytest.mark.parametrize("fusion", get_args(FusionName))
async def test_an_exact_pass_reads_each_visible_vector_once_and_touches_no_other_partition(
    town: Town, fusion: FusionName
) -> None:
    plan = await only_pass(town, ALL, many_chunks.EXACT, replace(QUERY, fusion=fusion))

    partition = f"chunks_{town.partitions['acme']}"
    assert partitions_read(plan) == {partition}
    assert rows_read(plan, partition) == ACME * many_chunks.CHUNKS
    assert [read["Actual Loops"] for read in reads(plan, partition)] == [1]
    assert indexes(plan, partition) == {f"{partition}_document_key_partition_no_idx"}


@pytest.mark.parametrize("filtered", [False, True])
async def test_an_exact_pass_goes_by_audience_to_the_documents_and_from_them_to_their_chunks_alone(
    town: Town, *, filtered: bool
) -> None:
    query = replace(QUERY, filter=Filter(languages=("en",))) if filtered else QUERY
    plan = await only_pass(town, FEW, many_chunks.EXACT, query)

    partition = f"chunks_{town.partitions['acme']}"
    assert indexes(part(plan, "admitted"), "audiences") == {"audiences_tokens"}
    assert rows_read(part(plan, "admitted"), "audiences") == 1
    assert indexes(own(plan), "documents") == {"documents_audience"}
    assert rows_read(own(plan), "documents") == FEW_DOCUMENTS
    assert len(reads(own(plan), "documents")) == 1, "by the index alone, or with what is wanted"
    assert partitions_read(plan) == {partition}
    assert indexes(plan, partition) == {f"{partition}_document_key_partition_no_idx"}
    assert rows_read(plan, partition) == FEW_DOCUMENTS * many_chunks.CHUNKS


async def test_what_a_scope_sees_is_found_by_the_tokens_of_audiences(town: Town) -> None:
    town.searches.plans.clear()
    await SightReader(cast("Database", town.searches), new_threads()).read(FEW, "of no database", 0)

    ((_, plan),) = town.searches.plans
    assert_no_table_is_read_through(plan)
    assert indexes(plan, "audiences") == {"audiences_tokens"}
    assert rows_read(plan, "audiences") == 1


async def test_public_documents_of_others_are_found_as_such_and_their_chunks_from_them(
    town: Town,
) -> None:
    plan = await only_pass(town, FEW_AND_OTHERS, many_chunks.EXACT)

    others = part(plan, "others")
    assert indexes(others, "documents") == {"documents_public"}
    assert rows_read(others, "documents") == PUBLIC_DOCUMENTS
    assert indexes(others, "tenants") == {"tenants_pkey"}
    assert rows_read(others, "tenants") == PUBLIC_DOCUMENTS
    beta, delta = f"chunks_{town.partitions['beta']}", f"chunks_{town.partitions['delta']}"
    if beta != delta:
        assert indexes(plan, beta) == {f"{beta}_document_key_partition_no_idx"}
        assert indexes(plan, delta) == {f"{delta}_document_key_partition_no_idx"}
        assert (
            rows_read(plan, beta) + rows_read(plan, delta) == PUBLIC_DOCUMENTS * many_chunks.CHUNKS
        )


@pytest.mark.parametrize("town", STATISTICS, indirect=True)
async def test_the_nearest_are_found_by_the_graph_and_by_the_index_of_terms(town: Town) -> None:
    plan = await only_pass(town, ALL, many_chunks.NEAREST)

    partition = f"chunks_{town.partitions['acme']}"
    assert partitions_read(plan) == {partition}
    assert indexes(part(plan, "nearest"), partition) == {f"{partition}_graph"}
    assert indexes(part(plan, "matched"), partition) == {f"{partition}_terms"}
    assert rows_read(part(plan, "nearest"), partition) < ACME * many_chunks.CHUNKS / 2


@pytest.mark.parametrize("town", STATISTICS, indirect=True)
async def test_each_partition_with_an_index_is_looked_through_by_it_and_the_rest_walked_to(
    town: Town,
) -> None:
    passes = await town.searches.search(ALL_AND_OTHERS, many_chunks.NEAREST)

    (first, of_delta), (second, of_acme), (third, of_others) = passes
    assert (first, second, third) == ("search.nearest", "search.nearest", "search.exact")
    assert partitions_read(of_delta) == {f"chunks_{town.partitions['delta']}"}
    assert partitions_read(of_acme) == {f"chunks_{town.partitions['acme']}"}
    assert partitions_read(of_others) == {f"chunks_{town.partitions['beta']}"}
    assert reads(own(of_others), "documents") == []
    for _, plan in passes:
        assert_no_table_is_read_through(plan)


@pytest.mark.parametrize("expand", [True, False])
async def test_a_whole_text_is_read_only_to_expand_a_hit(town: Town, *, expand: bool) -> None:
    plan = await only_pass(town, FEW, many_chunks.EXACT, replace(QUERY, expand=expand))

    assert rows_read(plan, "document_texts") == (QUERY.top_k + 2 if expand else 0)
    if not expand:
        assert rows_read(plan, "chunk_texts") == QUERY.likely_depth
    assert indexes(plan, "chunk_texts") <= {"chunk_texts_pkey", "chunk_texts_document"}


async def test_a_survey_reads_a_sample_and_no_chunk(town: Town) -> None:
    await town.searches.search(ALL_AND_OTHERS, many_chunks.NEAREST)

    ((_, plan),) = [one for one in town.searches.plans if one[0] == "search.survey"]
    assert_no_table_is_read_through(plan)
    assert partitions_read(plan) == set()
    for name, index in (
        ("own_sample", "documents_sample_rank"),
        ("others_sample", "documents_public"),
    ):
        assert indexes(part(plan, name), "documents") == {index}
        assert rows_read(part(plan, name), "documents") <= 256


@pytest.mark.parametrize(("partition", "tenant"), [("acme", "acme"), ("public", "delta")])
async def test_what_is_new_is_looked_up_chunk_by_chunk(
    town: Town, partition: str, tenant: str
) -> None:
    (stored,) = await town.statements.rows("documents.stored", tenant, [f"{tenant}0"])
    touched = [[], [], stored["chunk_ids"], [], []]
    (advanced,) = await town.statements.rows(
        "documents.advance", partition, [], 0, 0, *touched, 0, 0, [], [], [], [], None
    )
    town.statements.plans.clear()

    changes = ChangeLog(cast("Database", town.statements))
    news = await changes.changes_after("acme", partition, advanced["revision"] - 1)

    assert news is not None
    assert {arrival.chunk_id for arrival in news.changed_chunks} == set(stored["chunk_ids"])
    await town.statements.rows("resident.changes", partition, advanced["revision"] - 1, 10, 10)
    for _, plan in town.statements.plans:
        table = f"chunks_{town.partitions[tenant]}"
        assert_no_table_is_read_through(plan)
        assert indexes(plan, "change_log") == {"change_log_pkey"}
        assert rows_read(plan, "change_log") == 1
        assert partitions_read(plan) == {table}
        for relation in ("chunk_texts", "documents", table):
            assert indexes(plan, relation) == {f"{relation}_pkey"}
            assert 0 < rows_read(plan, relation) <= many_chunks.CHUNKS


@pytest.mark.parametrize("statement", ["confirm", "details"])
async def test_what_shards_have_found_is_looked_up_chunk_by_chunk(
    town: Town, statement: str
) -> None:
    (stored,) = await town.statements.rows("documents.stored", "acme", ["acme0"])
    chunk_ids = stored["chunk_ids"]
    town.searches.plans.clear()
    if statement == "confirm":
        confirmations = Confirmations(cast("SearchConnections", town.searches))
        for document_filter in (Filter(), Filter(sources=("nowhere",))):
            await confirmations.confirm(ALL_AND_OTHERS, document_filter, chunk_ids)
    else:
        arguments = filter_args(ALL_AND_OTHERS, Filter())
        await town.searches.rows("search.details", *arguments, True, True, chunk_ids, True, True)

    for _, plan in town.searches.plans:
        assert_no_table_is_read_through(plan)
        assert partitions_read(plan) == set()
        assert indexes(plan, "documents") == {"documents_pkey"}
        assert "chunk_texts_pkey" in indexes(plan, "chunk_texts")
        assert 0 < rows_read(plan, "documents") <= many_chunks.CHUNKS


async def test_documents_for_a_filter_are_listed_by_audience_and_without_their_chunks(
    town: Town,
) -> None:
    town.searches.plans.clear()
    await matching_documents.read(cast("Database", town.searches), FEW_AND_OTHERS, Filter())

    ((_, plan),) = town.searches.plans
    assert_no_table_is_read_through(plan)
    assert partitions_read(plan) == set()
    assert indexes(plan, "documents") == {"documents_audience", "documents_public"}
    assert rows_read(plan, "documents") == FEW_DOCUMENTS + PUBLIC_DOCUMENTS


@pytest.mark.parametrize(
    ("source", "index"), [(None, "documents_document_id"), ("handbook", "documents_source")]
)
async def test_a_page_reads_the_documents_of_its_prefix_after_its_cursor_alone(
    town: Town, source: str | None, index: str
) -> None:
    documents = VisibleDocuments(cast("Database", town.searches))
    for prefix, after, listed, read in (
        ("acme39", "", "acme399", 11),
        ("acme39", "acme395", "acme399", 4),
        ("acme9", "acme1", "acme99", 11),
        ("", "acme95", "acme99", 4),
    ):
        town.searches.plans.clear()
        page = await documents.page(
            FEW, Filter(), after=after, prefix=prefix, source=source, limit=100
        )

        ((_, plan),) = town.searches.plans
        assert [row.document.document_id for row in page] == [listed]
        assert indexes(plan, "documents") == {index}
        assert rows_read(plan, "documents") == read, "those that the scope hides among them"
        assert "Sort" not in {node["Node Type"] for node in nodes(plan)}


async def test_a_plan_that_was_made_of_empty_tables_serves_full_ones_as_well(
    database_url: str, documents: DocumentStore
) -> None:
    async with explained_searches(database_url) as explaining:
        await explaining.search(FEW_AND_OTHERS, many_chunks.EXACT)
        await many_chunks.settle(documents, "acme", number=100, readers=ACME_READERS, seed=1)
        town = Town(explaining, explaining, {})

        of_all = await only_pass(town, ALL, many_chunks.EXACT)
        of_few = await only_pass(town, FEW, many_chunks.EXACT)

    assert rows_read(of_all, "chunks_0") == 100 * many_chunks.CHUNKS
    assert indexes(of_few, "chunks_0") == {"chunks_0_document_key_partition_no_idx"}
    assert rows_read(of_few, "chunks_0") == 2 * many_chunks.CHUNKS
    assert indexes(own(of_few), "documents") == {"documents_audience"}


async def test_a_plan_inside_a_function_is_one_for_all_arguments(town: Town) -> None:
    scopes = [ALL, FEW, ALL_AND_OTHERS, FEW_AND_OTHERS] * 3  # PostgreSQL would decide at the sixth

    plans = [await only_pass(town, scope, many_chunks.EXACT) for scope in scopes]

    assert {json.dumps(_shape(plan)) for plan in plans} == {json.dumps(_shape(plans[0]))}
    assert "$1)" in json.dumps(plans[-1]), "a plan for these arguments alone would name the tenant"


def _shape(plan: Node) -> list[Any]:
    """How each part of the plan is carried out, whatever it met, and what it was held to cost."""
    names = ("Node Type", "Relation Name", "Index Name", "Index Cond", "Filter")
    return [[plan.get(name) for name in names], *map(_shape, plan.get("Plans", ()))]
