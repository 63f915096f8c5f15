"""What a relation tuple means here, by the operator's mapping and the authorization model; no I/O.

A tuple counts only if it alone gives its user the relation. In a relation that is defined by an
exclusion (`but not`) or an intersection (`and`) a tuple decides nothing by itself, and a tuple with
a condition counts at some times only: these, and all that is not mapped, mean nothing here.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from pydantic import TypeAdapter, ValidationError

from gateway.extensions.openfga.openfga_schemas import AuthorizationModel, TupleKeyAnswer
from gateway.extensions.openfga.tuple_store import TupleMeaning
from index.model.document import UNSTORABLE, DocumentId
from index.model.identifiers import SubjectId

# Why a tuple means nothing here.
IgnoredReason: TypeAlias = Literal["unmapped", "condition", "model", "user", "name"]

_KEY_BYTES_MAX = 2_000  # with the tenant within the 2,704 that a row of PostgreSQL's index holds
_NAME: TypeAdapter[str] = TypeAdapter(SubjectId)  # also of a group, whose form is the same
_DOCUMENT_ID: TypeAdapter[str] = TypeAdapter(DocumentId)


@dataclass(frozen=True, slots=True)
class ObjectRelation:
    """A relation of a type of objects: `document#viewer`."""

    type: str
    relation: str

    def __str__(self) -> str:
        return f"{self.type}#{self.relation}"


@dataclass(frozen=True, slots=True)
class TupleMapping:
    """user_type: of objects that are subjects here.

    group: whose tuples are memberships. readers: whose tuples are readers; all of one type, so that
    no two objects are one document.
    """

    user_type: str
    group: ObjectRelation
    readers: tuple[ObjectRelation, ...]


class TupleInterpreter:
    """A mapping under one authorization model.

    digest: equal for two interpreters that give every tuple the same meaning.
    """

    def __init__(self, mapping: TupleMapping, model: AuthorizationModel | None) -> None:
        self._mapping = mapping
        self._forms = {
            relation: _direct_forms(model, relation)
            for relation in (mapping.group, *mapping.readers)
        }
        forms = sorted((str(relation), sorted(found)) for relation, found in self._forms.items())
        self.digest = hashlib.sha256(repr((mapping, forms)).encode()).hexdigest()

    def meaning(self, key: TupleKeyAnswer) -> TupleMeaning | IgnoredReason:
        """What the tuple means, or why nothing."""
        object_type, _, object_id = key.object.partition(":")
        relation = ObjectRelation(object_type, key.relation)
        forms = self._forms.get(relation)
        if forms is None:
            return "unmapped"
        if key.condition:
            return "condition"
        if not is_storable(key):
            return "name"
        user_object, has_relation, user_relation = key.user.partition("#")
        user_type, _, user_id = user_object.partition(":")
        is_everybody = user_id == "*"
        if bool(has_relation) != bool(user_relation):
            return "model"
        if _form(user_type, user_relation, is_everybody=is_everybody) not in forms:
            return "model"
        group = self._mapping.group
        is_group = (user_type, user_relation) == (group.type, group.relation)
        is_user = (user_type, user_relation) == (self._mapping.user_type, "")
        if not (is_user or (is_group and not is_everybody)):
            return "user"
        is_membership = relation == group
        try:
            target = (_NAME if is_membership else _DOCUMENT_ID).validate_python(object_id)
            if is_everybody:  # whom no group of ours can hold
                return "user" if is_membership else TupleMeaning("reader", target, "tenant")
            name = _NAME.validate_python(user_id)
        except ValidationError:
            return "name"
        if is_membership:
            return TupleMeaning("nested" if is_group else "member", target, name)
        return TupleMeaning("reader", target, f"{'group' if is_group else 'user'}:{name}")


def is_storable(key: TupleKeyAnswer) -> bool:
    """Whether PostgreSQL can hold the tuple; one that it can't hold was never stored."""
    text = f"{key.object} {key.relation} {key.user}"
    return not UNSTORABLE.search(text) and len(text.encode()) <= _KEY_BYTES_MAX


def _direct_forms(model: AuthorizationModel | None, relation: ObjectRelation) -> frozenset[str]:
    """The forms of users to which a tuple of the relation alone gives it; none without a model."""
    for definition in () if model is None else model.type_definitions:
        if definition.type != relation.type:
            continue
        if not _is_granted_directly((definition.relations or {}).get(relation.relation, {})):
            return frozenset()
        metadata = None if definition.metadata is None else definition.metadata.relations
        found = (metadata or {}).get(relation.relation)
        return frozenset(
            _form(user.type, user.relation, is_everybody=user.wildcard is not None)
            for user in (() if found is None else found.directly_related_user_types)
            if not user.condition
        )
    return frozenset()


def _is_granted_directly(rewrite: Mapping[str, Any]) -> bool:
    """Whether `this` is the rewrite, or one of the parts of which any suffices."""
    if "this" in rewrite:
        return True
    union = rewrite.get("union")
    children = union.get("child") if isinstance(union, dict) else None
    return isinstance(children, list) and any(
        isinstance(child, dict) and _is_granted_directly(child) for child in children
    )


def _form(user_type: str, user_relation: str, *, is_everybody: bool) -> str:
    """`user`, `user:*` or `group#member`; each is another form."""
    return f"{user_type}{':*' if is_everybody else ''}{'#' if user_relation else ''}{user_relation}"
