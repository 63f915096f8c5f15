"""How a body that does not fit is refused: by the fields that the caller has sent."""

from typing import Any

import orjson
import pytest
from pydantic import BaseModel
from pydantic_core import ErrorDetails

from gateway.admin.tenant_schemas import TenantBody
from gateway.bodies import schemas
from gateway.documents.document_schemas import DocumentBody
from gateway.extensions._sources.source_body import body_of
from gateway.extensions.answers.compress_schemas import CompressBody
from gateway.extensions.faqs.faq_schemas import FaqLine
from gateway.extensions.plans.plan_schemas import PlanBody
from gateway.extensions.sources_records.extension import EXTENSION as RECORDS
from gateway.extensions.sources_web.extension import EXTENSION as WEB
from gateway.problems import field_errors, problems
from gateway.search.schemas.search_schemas import SearchBody


@pytest.mark.parametrize(
    ("model", "body", "errors"),
    [
        (
            SearchBody,
            {"query": "q", "filters": {}, "topk": 3, "as_of": "2025-01-01", "mode": "fast"},
            {
                "filters": "unknown field; did you mean filter?",
                "topk": "unknown field; did you mean top_k?",
                "as_of": "unknown field; did you mean filter.as_of?",
                "mode": "unknown field",
            },
        ),
        (
            SearchBody,
            {"query": "q", "filter": {"tags": ["a"]}},
            {"filter.tags": "unknown field; did you mean tags_any?"},
        ),
        (
            CompressBody,
            {"messages": [{"role": "user", "content": "a", "contents": "b"}], "token_budget": 1},
            {"messages.0.contents": "unknown field; did you mean content?"},
        ),
        (DocumentBody, {"text": " "}, {"text": "must not be blank"}),
        (
            DocumentBody,
            {"text": "a", "readers": ["group:night shift"]},
            {"readers.0": "must be user:ID, group:ID, tenant or public; an ID has no whitespace"},
        ),
        (
            TenantBody,
            {"id": "Acme Ltd"},
            {
                "id": (
                    "must be 1 to 63 characters of a-z, 0-9, - and _, the first a letter or a digit"
                )
            },
        ),
        (
            FaqLine,
            {"id": "-", "question": "a", "answer": "b"},
            {
                "id": (
                    "must be 1 to 64 characters of A-Z, a-z, 0-9, - and _, the first a letter or a "
                    "digit"
                )
            },
        ),
        (
            CompressBody,
            {"messages": [], "token_budget": 1},
            {"messages": "must have at least 1 item"},
        ),
        (
            CompressBody,
            {"messages": [{"role": "user", "content": 1}], "token_budget": 1},
            {"messages.0.content": "Input should be a valid string"},
        ),
        (
            SearchBody,
            {"query": "q", "filter": {"sources": ["s"] * 257}},
            {"filter.sources": "must have at most 256 items"},
        ),
        (
            body_of(WEB.contributes),
            {"kind": "folder", "settings": {"path": "../other"}},
            {"settings.path": "must be a path within the tenant's folder of sources"},
        ),
        (body_of(WEB.contributes), {"kind": "folder"}, {"settings": "Field required"}),
        (
            body_of([*WEB.contributes, *RECORDS.contributes]),
            {"kind": "ftp", "settings": {}},
            {"kind": "must be one of folder, csv, parquet, faqs, conversations, web"},
        ),
        (body_of(WEB.contributes), {"settings": {}}, {"kind": "Field required"}),
        (
            SearchBody,
            {
                "query": "q",
                "filter": {"attributes": {"type": "and", "filters": [{"type": "like"}]}},
            },
            {
                "filter.attributes.filters.0.type": (
                    "must be one of eq, ne, gt, gte, lt, lte, in, nin, and, or"
                )
            },
        ),
        (
            PlanBody,
            {"steps": [{"name": "a", "query": "q", "filter": {"documents": {"from": "b"}}}]},
            {
                "steps.0.filter.documents.from": (
                    r"String should match pattern '^[a-z][a-z0-9_]{0,31}\."
                    "(document_ids|sources|tags|languages)$'"
                )
            },
        ),
        (
            PlanBody,
            {"steps": [{"name": "a", "query": "q", "filter": {"documents": "b"}}]},
            {"steps.0.filter.documents": "Input should be a valid array"},
        ),
    ],
)
def test_each_error_names_the_field_as_it_was_sent(
    model: type[BaseModel], body: dict[str, Any], errors: dict[str, str]
) -> None:
    with pytest.raises(problems.Problem) as raised:
        schemas.parse(model, orjson.dumps(body))

    assert {error.field: error.detail for error in raised.value.errors} == errors


def test_a_text_of_a_problem_says_each_thing_once() -> None:
    missing = problems.not_found("id", "The document does not exist.")

    assert missing.text() == "id: The document does not exist."
    assert problems.invalid_field("top_k", "must be at most 100").text() == (
        "Correct top_k. top_k: must be at most 100"
    )


def test_of_many_errors_no_more_are_described_than_a_problem_has(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    described = []

    def describe(error: ErrorDetails) -> str:
        described.append(error["loc"])
        return "wrong"

    monkeypatch.setattr(field_errors, "message", describe)
    body = orjson.dumps({f"unknown{n}": n for n in range(1_000)})

    with pytest.raises(problems.Problem) as raised:
        schemas.parse(schemas.Body, body)

    assert len(raised.value.errors) == len(described) == 20
