"""What a tuple means: only what it grants by itself, under the model of now."""

from typing import Any

import pytest

from gateway.extensions.openfga.openfga_schemas import AuthorizationModel, TupleKeyAnswer
from gateway.extensions.openfga.tuple_mapping import ObjectRelation, TupleInterpreter, TupleMapping
from gateway.extensions.openfga.tuple_store import TupleMeaning
from tests.gateway.extensions.openfga.fake_openfga import model

VIEWER, EDITOR = ObjectRelation("document", "viewer"), ObjectRelation("document", "editor")
MAPPING = TupleMapping("user", ObjectRelation("group", "member"), (VIEWER, EDITOR))
THIS: dict[str, Any] = {"this": {}}
OTHER: dict[str, Any] = {"computedUserset": {"relation": "owner"}}


def interpreter(**relations: dict[str, Any]) -> TupleInterpreter:
    return TupleInterpreter(MAPPING, AuthorizationModel.model_validate(model(**relations)))


def key(user: str, relation: str, target: str, **condition: Any) -> TupleKeyAnswer:
    return TupleKeyAnswer(user=user, relation=relation, object=target, **condition)


@pytest.mark.parametrize(
    ("user", "relation", "target", "meaning"),
    [
        ("user:anna", "member", "group:eng", TupleMeaning("member", "eng", "anna")),
        ("group:core#member", "member", "group:eng", TupleMeaning("nested", "eng", "core")),
        ("user:anna", "viewer", "document:a/b", TupleMeaning("reader", "a/b", "user:anna")),
        ("group:eng#member", "viewer", "document:a", TupleMeaning("reader", "a", "group:eng")),
        ("user:*", "viewer", "document:a", TupleMeaning("reader", "a", "tenant")),
        ("user:*", "member", "group:eng", "user"),
        ("group:*#member", "viewer", "document:a", "model"),
        ("group:eng", "viewer", "document:a", "model"),
        ("group:eng#owner", "viewer", "document:a", "model"),
        ("robot:r2", "viewer", "document:a", "model"),
        ("user:anna", "viewer", "folder:a", "unmapped"),
        ("user:anna", "owner", "document:a", "unmapped"),
        ("user:" + "a" * 129, "viewer", "document:a", "name"),
        ("user:", "viewer", "document:a", "name"),
        ("user:anna#", "viewer", "document:a", "model"),
        ("user:an\0na", "viewer", "document:a", "name"),
        ("user:anna", "viewer", "document:" + "\U00012000" * 500, "name"),
        ("user:anna", "viewer", "handbook", "unmapped"),
        ("user:anna", "viewer", "document:", "name"),
    ],
)
def test_a_tuple_means_what_the_mapping_says(
    user: str, relation: str, target: str, meaning: object
) -> None:
    assert interpreter().meaning(key(user, relation, target)) == meaning


def test_a_tuple_with_a_condition_means_nothing() -> None:
    conditioned = key("user:anna", "viewer", "document:a", condition={"name": "in_office"})

    assert interpreter().meaning(conditioned) == "condition"


@pytest.mark.parametrize(
    ("rewrite", "is_granted"),
    [
        (THIS, True),
        ({"union": {"child": [OTHER, {"union": {"child": [THIS]}}]}}, True),
        ({"difference": {"base": THIS, "subtract": OTHER}}, False),
        ({"intersection": {"child": [THIS, OTHER]}}, False),
        ({"union": {"child": [OTHER, {"difference": {"base": THIS, "subtract": OTHER}}]}}, False),
        (OTHER, False),
        ({}, False),
        ({"union": {"child": "this"}}, False),
    ],
)
def test_a_relation_counts_only_if_a_tuple_alone_gives_it(
    rewrite: dict[str, Any], *, is_granted: bool
) -> None:
    meaning = interpreter(editor=rewrite).meaning(key("user:anna", "editor", "document:a"))

    assert isinstance(meaning, TupleMeaning) == is_granted


def test_a_user_that_only_a_condition_admits_means_nothing() -> None:
    changed = model()
    users = [{"type": "user", "condition": "in_office"}]
    changed["type_definitions"][2]["metadata"]["relations"]["viewer"] = {
        "directly_related_user_types": users
    }
    read = TupleInterpreter(MAPPING, AuthorizationModel.model_validate(changed))

    assert read.meaning(key("user:anna", "viewer", "document:a")) == "model"


def test_without_a_model_no_tuple_means_anything() -> None:
    read = TupleInterpreter(MAPPING, None)

    assert read.meaning(key("user:anna", "viewer", "document:a")) == "model"


def test_the_digest_changes_with_what_tuples_mean_and_not_with_other_relations() -> None:
    with_editor = interpreter(editor=THIS).digest

    assert interpreter(editor=THIS, owner=THIS).digest == with_editor
    assert interpreter(editor=OTHER).digest != with_editor
