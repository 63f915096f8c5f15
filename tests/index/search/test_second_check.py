"""The check in memory decides as the masks of shards do, whose code it does not share."""

from itertools import product
from typing import Any

import pytest

from index.model.query import Filter
from index.model.scope import SCOPE_NAMES, Scope, resolve
from index.resident.labels import Audiences
from index.search.shards import second_check
from tests.index.support.samples import subsets

TOKENS = ("group:sales", "owner:ana", "public", "tenant", "user:ana")
AUDIENCES = subsets(TOKENS)
ROW = {
    "chunk_id": 7,
    "tenant": "acme",
    "document_id": "leave",
    "source": "wiki",
    "language": "en",
    "tags": ["red", "blue"],
    "allowed_tokens": ("tenant",),
}
ANA = resolve("acme", "ana", [], SCOPE_NAMES)


def row(**fields: Any) -> dict[str, Any]:
    return {**ROW, **fields}


@pytest.mark.parametrize("names", subsets(SCOPE_NAMES), ids=str)
@pytest.mark.parametrize("subject", ["ana", "ben"])
def test_it_admits_the_audiences_that_a_mask_admits(subject: str, names: tuple[Any, ...]) -> None:
    audiences = Audiences()
    codes = [audiences.code(tokens) for tokens in AUDIENCES]
    for groups in ([], ["sales"]):
        scope = resolve("acme", subject, groups, names)
        mask = audiences.admitted(scope)[codes].tolist()

        admitted = [
            second_check.admits(scope, Filter(), row(allowed_tokens=tokens)) for tokens in AUDIENCES
        ]
        assert admitted == mask


@pytest.mark.parametrize(
    ("scope", "is_admitted"),
    [
        (resolve("acme", "ana", [], ["public"], receives_public=True), True),
        (resolve("acme", "ana", [], ["public"]), False),
        (resolve("acme", "ana", [], ["tenant"], receives_public=True), False),
    ],
)
def test_of_other_tenants_it_admits_what_is_public_and_asked_for(
    scope: Scope, *, is_admitted: bool
) -> None:
    tokens = ("owner:ana", "tenant", "user:ana")
    for allowed_tokens, is_public in product([tokens], [False, True]):
        found = row(tenant="beta", allowed_tokens=(*allowed_tokens, *["public"] * is_public))
        assert second_check.admits(scope, Filter(), found) is (is_admitted and is_public)


@pytest.mark.parametrize(
    ("document_filter", "is_admitted"),
    [
        (Filter(sources=("wiki",)), True),
        (Filter(sources=("drive",)), False),
        (Filter(languages=("de",)), False),
        (Filter(tags_any=("red", "green")), True),
        (Filter(tags_all=("green", "red")), False),
        (Filter(documents=("other",)), False),
        (Filter(exclude_documents=("leave",)), False),
        (Filter(kinds=("summary",)), False),
        # PostgreSQL has listed the documents that meet such a condition.
        (Filter(metadata={"team": "sales"}), True),
    ],
)
def test_it_asks_for_the_fields_that_a_filter_names(
    document_filter: Filter, *, is_admitted: bool
) -> None:
    assert second_check.admits(ANA, document_filter, row()) is is_admitted
