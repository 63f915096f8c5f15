"""Types shared by request and response bodies; a body with an unknown field is refused."""

import re
from collections.abc import Mapping
from typing import Annotated, Any, Literal, TypeVar

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    JsonValue,
    Tag,
    TypeAdapter,
    ValidationError,
    create_model,
)
from pydantic_core import PydanticCustomError

from gateway.bodies import content
from gateway.problems import field_errors, problems
from index.model.document import (
    UNSTORABLE,
    DocumentId,
    Line,
    NewDocumentId,
    Source,
)
from index.model.form import Form
from index.model.identifiers import GroupId, SubjectId
from index.model.scope import PUBLIC

Model = TypeVar("Model", bound=BaseModel)

_SLUG = Form(
    re.compile("[a-z0-9][a-z0-9_-]{0,62}"),
    "must be 1 to 63 characters of a-z, 0-9, - and _, the first a letter or a digit",
)


def _not_public(tenant: str) -> str:
    if tenant == PUBLIC:
        raise ValueError("is reserved for documents that every tenant may read")
    return tenant


def _storable(text: str) -> str:
    if UNSTORABLE.search(text):
        raise PydanticCustomError("form", "must not hold the character U+0000")
    return text


def _no(value: object) -> object:
    """Accept only false: 0 equals False in Python."""
    if value is False:
        return value
    raise PydanticCustomError("form", "must be false, extract or model")


Storable = AfterValidator(_storable)
No = Annotated[Literal[False], BeforeValidator(_no)]
# Integers without a setting as their limit: the range of PostgreSQL's `integer`.
Count = Annotated[int, Field(ge=1, le=2**31 - 1)]
TenantId = Annotated[str, _SLUG, AfterValidator(_not_public)]
TENANT: TypeAdapter[str] = TypeAdapter(TenantId)
DOCUMENT_ID: TypeAdapter[str] = TypeAdapter(DocumentId)
NEW_DOCUMENT_ID: TypeAdapter[str] = TypeAdapter(NewDocumentId)
SUBJECT: TypeAdapter[str] = TypeAdapter(SubjectId)
GROUP: TypeAdapter[str] = TypeAdapter(GroupId)
ID: TypeAdapter[str] = TypeAdapter(Line)  # of a record that Nearhit has named
SOURCE: TypeAdapter[str] = TypeAdapter(Source)
LINE: TypeAdapter[str] = TypeAdapter(Line | Literal[""])

GateName = Annotated[str, _SLUG]
GATE: TypeAdapter[str] = TypeAdapter(GateName)


def branch(name: str) -> Tag:
    """Marks a type of a union that a function discriminates; the paths of errors leave it out."""
    return Tag(f"<branch> {name}")


def with_example(**fields: JsonValue) -> ConfigDict:
    """The configuration of a body whose description shows these fields."""
    return ConfigDict(json_schema_extra={"examples": [fields]})


class Body(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False)


def with_fields(base: type[Body], fields: Mapping[str, Any]) -> Any:
    """A base class with further fields. fields: the type and the `Field` of each, by name."""
    return create_model(f"{base.__name__}Fields", __base__=base, **fields)


class QueuedAnswer(Body):
    job_id: str
    status_url: str = Field(description="the address of the job's status")


def parse(model: type[Model], body: bytes) -> Model:
    """The body as a model, whose `parts_max` is its own limit if it has one.

    Raises a `Problem` with an error per invalid field. It holds nothing of what was sent: a batch
    keeps the problems of all its lines.
    """
    parsed = _parse(model, body)
    if isinstance(parsed, problems.Problem):
        try:
            raise parsed
        finally:
            del parsed  # the problem's traceback holds this frame, which must not hold it
    return parsed


def _parse(model: type[Model], body: bytes) -> Model | problems.Problem:
    sent = content.decode_json(body, getattr(model, "parts_max", content.PARTS_MAX))
    try:
        return model.model_validate_json(body)
    except ValidationError as error:
        is_described = error.error_count() <= problems.ERRORS_DESCRIBED_MAX
        shown = sent if is_described else field_errors.UNKNOWN_BODY
        return problems.from_validation(error, shown, model)


def parse_value(field: str, kind: TypeAdapter[str], value: str) -> str:
    """A valid value of a path or query parameter. Raises a `Problem`."""
    try:
        return kind.validate_python(value)
    except ValidationError as error:
        raise problems.invalid_field(field, field_errors.message(error.errors()[0])) from None
