"""Related documents against brute force: one step in both directions, and only what is visible."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import pytest
from hypothesis import given, settings

from index.documents.document_store import DocumentStore
from index.model.document import Document
from index.model.query import Query
from index.model.relations import RELATION_NAMES
from index.model.scope import everything, resolve
from index.postgres.database import Database
from index.search.searcher import Searcher
from index.search.tables import related
from ingest.write.writer import Writer
from tests.index.support import filters, questions
from tests.index.support.questions import SCOPES, QuestionWorld
from tests.index.support.samples import a_document, put
from tests.index.support.worlds import IndexPrincipal
from tests.sampling import examples

pytestmark = pytest.mark.anyio

ANA = everything("acme", "ana", ["sales"])


def named(document: Document, relation: str) -> Sequence[object]:
    value = document.metadata.get(relation)
    return value if isinstance(value, list) else [value]


def expected(
    document: tuple[str, str], visible: dict[tuple[str, str], Document]
) -> Iterator[tuple[str, str, str, str]]:
    """What brute force relates to a document, in order."""
    tenant, document_id = document
    others = sorted(
        key
        for key in visible
        if key[0] == tenant and key != document  # of two tenants, one
    )
    for relation in RELATION_NAMES:
        for other in others:
            if other[1] in named(visible[document], relation):
                yield relation, "outgoing", *other
        for other in others:
            if document_id in named(visible[other], relation):
                yield relation, "incoming", *other


@settings(max_examples=examples(60), deadline=None)
@given(asking=questions.principals, query=questions.queries)
async def test_a_hit_names_each_visible_document_that_is_one_step_away(
    world: QuestionWorld, asking: IndexPrincipal, query: Query
) -> None:
    query = replace(query, relations=True)
    names = SCOPES[-1]
    visible = {
        (piece.tenant, piece.document.document_id): piece.document
        for piece in filters.visible(world.pieces, asking, names, query.filter, ["documents"])
    }
    scope = resolve(
        asking.tenant,
        asking.subject,
        asking.groups,
        names,
        receives_public=asking.receives_public,
    )

    found = await world.searcher.search(scope, query)

    plain = await world.searcher.search(scope, replace(query, relations=False))
    assert [hit._replace(related=()) for hit in found.hits] == list(plain.hits)
    for hit in found.hits:
        assert [
            (one.relation, one.direction, one.tenant, one.document_id) for one in hit.related
        ] == list(expected(hit.document, visible))[: related.RELATED_MAX]


async def test_the_first_of_many_related_documents_are_named(
    database: Database, documents: DocumentStore, writer: Writer, searcher: Searcher
) -> None:
    await put(writer, a_document("whole", "The lighthouse handbook."))
    for number in range(related.RELATED_MAX + 5):
        part = {"part_of": "whole", "follows": "whole"} if number == 3 else {"part_of": ["whole"]}
        await put(writer, a_document(f"part-{number:02}", "Harbour rules.", metadata=part))

    (hit,) = (await searcher.search(ANA, Query("lighthouse", relations=True, top_k=1))).hits

    assert hit.document_id == "whole"
    assert [one.document_id for one in hit.related] == [
        "part-03",
        *(f"part-{number:02}" for number in range(related.RELATED_MAX - 1)),
    ]
