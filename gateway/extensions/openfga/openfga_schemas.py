"""The parts of OpenFGA's HTTP API that are read; other fields are ignored."""

from typing import Any, Literal

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field


class _Answer(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")


class TupleKeyAnswer(_Answer):
    """condition: what has to hold for the tuple to count; None: nothing."""

    user: str
    relation: str
    object: str
    condition: dict[str, Any] | None = None


class TupleAnswer(_Answer):
    key: TupleKeyAnswer


class TuplesPage(_Answer):
    """The answer of `POST /stores/{id}/read`; the last page has no token."""

    tuples: tuple[TupleAnswer, ...]
    continuation_token: str = ""


class ChangeAnswer(_Answer):
    tuple_key: TupleKeyAnswer
    operation: Literal["TUPLE_OPERATION_WRITE", "TUPLE_OPERATION_DELETE"]
    timestamp: AwareDatetime


class ChangesPage(_Answer):
    """The answer of `GET /stores/{id}/changes`, oldest first; without changes it is the last."""

    changes: tuple[ChangeAnswer, ...]
    continuation_token: str = ""


class RelationReference(_Answer):
    """A kind of user that may be named directly in a tuple: `user`, `user:*`, `group#member`."""

    type: str
    relation: str = ""
    wildcard: dict[str, Any] | None = None
    condition: str = ""


class RelationMetadata(_Answer):
    directly_related_user_types: tuple[RelationReference, ...] = ()


class TypeMetadata(_Answer):
    relations: dict[str, RelationMetadata] | None = None


class TypeDefinition(_Answer):
    """relations: by name, the rewrite that defines each."""

    type: str
    relations: dict[str, dict[str, Any]] | None = None
    metadata: TypeMetadata | None = None


class AuthorizationModel(_Answer):
    id: str
    type_definitions: tuple[TypeDefinition, ...]


class ModelsPage(_Answer):
    """The answer of `GET /stores/{id}/authorization-models`, newest first."""

    authorization_models: tuple[AuthorizationModel, ...] = Field(max_length=100)
