"""Facets against brute force: exactly what the caller may see is counted."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from index.model.document import Document
from index.model.query import Filter, Query
from index.model.scope import ScopeName, everything, resolve
from index.postgres.database import Database
from index.search.searcher import Searcher
from index.search.tables.facets import Facet, Facets, FacetValue
from ingest.write.writer import Writer
from tests.index.support import filters, questions
from tests.index.support.questions import SCOPES, QuestionWorld
from tests.index.support.samples import a_document, put
from tests.index.support.worlds import IndexPrincipal
from tests.sampling import examples

pytestmark = pytest.mark.anyio

FIELDS = ("language", "metadata.labels", "metadata.team", "metadata.year", "source", "tags")
ANA = everything("acme", "ana", ["sales"])


def values_of(document: Document, field: str) -> Iterator[str]:
    """As JSON, each once."""
    if field.startswith("metadata."):
        key = field.removeprefix("metadata.")
        value = document.metadata.get(key) if key in document.metadata else []
    else:
        value = getattr(document, field)
    items = value if isinstance(value, list | tuple) else [value]
    yield from {orjson.dumps(item).decode() for item in items}


def counted(documents: Sequence[Document], query: Query) -> Facets:
    """What brute force counts."""
    facets = {}
    for field in query.facets:
        counts = Counter(value for one in documents for value in values_of(one, field))
        ranked = sorted(counts.items(), key=lambda item: (-item[1], item[0].encode()))
        shown, others = ranked[: query.facet_values_max], ranked[query.facet_values_max :]
        facets[field] = Facet(
            tuple(FacetValue(orjson.loads(value), count) for value, count in shown),
            other_values=len(others),
            other_count=sum(count for _, count in others),
        )
    return Facets(len(documents), facets)


@pytest.mark.parametrize("names", SCOPES[::2], ids="+".join)
@settings(max_examples=examples(10), deadline=None)
@given(
    asking=questions.principals,
    wanted=filters.random_filters(),
    fields=st.sets(st.sampled_from(FIELDS), min_size=1).map(sorted).map(tuple),
    values_max=st.sampled_from([1, 2, 10]),
)
async def test_facets_count_each_visible_document_that_the_filter_admits_once(
    world: QuestionWorld,
    names: tuple[ScopeName, ...],
    asking: IndexPrincipal,
    wanted: Filter,
    fields: tuple[str, ...],
    values_max: int,
) -> None:
    query = Query("sensor", filter=wanted, facets=fields, facet_values_max=values_max)
    visible = filters.visible(world.pieces, asking, names, wanted, ["documents"])
    documents = {(one.tenant, one.document.document_id): one.document for one in visible}

    scope = resolve(
        asking.tenant,
        asking.subject,
        asking.groups,
        names,
        receives_public=asking.receives_public,
    )
    found = await world.searcher.search(scope, query)

    assert found.facets == counted(list(documents.values()), query)


async def test_facets_change_no_hit(world: QuestionWorld) -> None:
    query = Query("sensor lighthouse", alpha=0.5)

    plain = await world.searcher.search(ANA, query)
    counting = await world.searcher.search(ANA, replace(query, facets=("tags",)))

    assert plain.facets is None
    assert plain.hits == counting.hits


@pytest.mark.thorough
async def test_equal_numbers_are_one_value_and_a_long_value_is_counted_and_not_shown(
    writer: Writer, searcher: Searcher
) -> None:
    sizes: list[Any] = [1, 1.0, True, "1", None, "x" * 300, [2, 2, 1]]
    for number, size in enumerate(sizes):
        await put(writer, a_document(f"d{number}", f"Leave {number}.", metadata={"size": size}))
    await put(writer, a_document("other", "Leave.", metadata={"team": "sales"}))
    await put(writer, a_document("empty", "", metadata={"size": 1}))

    found = await searcher.search(ANA, Query("leave", facets=("metadata.none", "metadata.size")))

    assert found.facets is not None
    assert found.facets.documents == len(sizes) + 1
    assert found.facets.fields["metadata.none"] == Facet()
    size = found.facets.fields["metadata.size"]
    shown = [(orjson.dumps(one.value), one.count) for one in size.values]
    assert shown == [(b"1", 3), (b'"1"', 1), (b"2", 1), (b"null", 1), (b"true", 1)]
    assert (size.other_values, size.other_count) == (1, 1)


@pytest.mark.thorough
async def test_within_a_snapshot_the_counts_are_of_the_revision_of_the_hits(
    database: Database, writer: Writer, searcher: Searcher
) -> None:
    await put(writer, a_document("first"))
    query = Query("leave", facets=("source",))

    async with database.searching.snapshot("acme"):
        before = await searcher.search(ANA, query)
        await put(writer, a_document("second"))
        amid = await searcher.search(ANA, query)
    after = await searcher.search(ANA, query)

    assert before.facets == amid.facets
    assert amid.as_of == before.as_of != after.as_of
    assert [one.facets and one.facets.documents for one in (amid, after)] == [1, 2]
