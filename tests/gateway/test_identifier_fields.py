"""Every door gives subjects, groups and readers their one spelling: by the types of its fields."""

import importlib
import pkgutil
from collections.abc import Iterator
from typing import Any, get_args

import pytest
from pydantic import BaseModel
from pydantic.fields import FieldInfo

import gateway
import ingest
from gateway.documents.document_schemas import DocumentBody
from index.model.form import Form
from index.model.identifiers import GroupId, ReaderToken, SubjectId
from tests.gateway.support.routes import ROUTES

NAMES = {"subject", "owner", "member", "members", "group", "groups", "group_id", "readers"}
FORMS = {get_args(kind)[1] for kind in (SubjectId, GroupId, ReaderToken)}
ELSEWHERE = {
    "gateway.extensions.sources_records.conversations.Conversation": "read as a `Document` then",
    "gateway.extensions.sources_records.faqs.Faq": "read as a `Document` then",
    "gateway.extensions.sources_postgres.postgres_schemas.Columns": "names of columns",
    "gateway.extensions.scim.scim_services.ScimSettings": "the name of an attribute",
    "gateway.extensions.scim.scim_schemas.GroupBody": "users by the identifiers Nearhit gave them",
}


def models() -> Iterator[type[BaseModel]]:
    """All models of bodies, lines and messages that come from outside, and of answers."""
    for package in (gateway, ingest):
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            if module.name.endswith("__main__"):
                continue
            for value in vars(importlib.import_module(module.name)).values():
                is_model = isinstance(value, type) and issubclass(value, BaseModel)
                if is_model and value.__module__ == module.name:
                    yield value


def parts(kind: Any) -> Iterator[Any]:
    """The type, what it is annotated with, and the same of all types within it."""
    yield kind
    for part in get_args(kind):
        yield from parts(part)


def answers() -> set[type[BaseModel]]:
    """The models of answers, which are not parsed, with all models within them."""
    found: set[type[BaseModel]] = set()
    waiting = [model for route in ROUTES for model in (route.answer, route.queued_answer) if model]
    while waiting:
        model = waiting.pop()
        if model not in found:
            found.add(model)
            waiting += [
                part
                for field in model.model_fields.values()
                for part in parts(field.annotation)
                if isinstance(part, type) and issubclass(part, BaseModel)
            ]
    return found


def is_normalised(field: FieldInfo) -> bool:
    forms = [*field.metadata, *parts(field.annotation)]
    return any(isinstance(form, Form) and form in FORMS for form in forms)


READ = sorted({*models()} - answers(), key=lambda model: (model.__module__, model.__name__))
FIELDS = [
    pytest.param(field, id=f"{model.__module__}.{model.__name__}.{name}")
    for model in READ
    for name, field in model.model_fields.items()
    if name in NAMES and f"{model.__module__}.{model.__name__}" not in ELSEWHERE
]


@pytest.mark.parametrize("field", FIELDS)
def test_a_field_that_names_a_person_or_a_group_has_one_spelling(field: FieldInfo) -> None:
    assert is_normalised(field)


def test_the_walk_finds_fields_and_tells_a_plain_text_from_an_identifier() -> None:
    class Plain(BaseModel):
        owner: str | None = None
        readers: tuple[str, ...] = ()

    assert len(FIELDS) > 15
    assert is_normalised(DocumentBody.model_fields["owner"])
    assert not any(map(is_normalised, Plain.model_fields.values()))
    names = {f"{model.__module__}.{model.__name__}" for model in READ}
    assert names >= ELSEWHERE.keys(), "no reason is out of date"
