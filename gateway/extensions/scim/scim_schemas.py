"""The bodies of SCIM. Names have any case, and attributes that Nearhit does not use are ignored."""

import re
from collections.abc import Mapping
from contextlib import suppress
from datetime import datetime
from typing import Annotated, Any, ClassVar, Literal

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    model_validator,
)
from pydantic.alias_generators import to_camel

from gateway.extension import Storable, with_example
from gateway.extensions.scim.filters.filter_grammar import FILTER_CHARACTERS_MAX
from gateway.extensions.scim.group_provisioning import MEMBERS_MAX
from index.model.document import Line

PARTS_MAX = 6 * MEMBERS_MAX  # of a body: a member is an object with up to four names

USER = "urn:ietf:params:scim:schemas:core:2.0:User"
GROUP = "urn:ietf:params:scim:schemas:core:2.0:Group"
_OUR_SCHEMA = re.compile(
    rf"\s*(?:{re.escape(USER)}|{re.escape(GROUP)})(?:[:.]|\s*\Z)", re.IGNORECASE
)
LIST = "urn:ietf:params:scim:api:messages:2.0:ListResponse"
OPERATIONS_MAX = 1_000
PATH_CHARACTERS_MAX = FILTER_CHARACTERS_MAX
EMAILS_MAX = 20  # of a user
_BOOLEANS = {"true": True, "false": False, "1": True, "0": False}


def _single(value: object) -> object:
    """The value itself; Entra ID sends [{"$ref": null, "value": "ana"}] for "ana"."""
    if isinstance(value, list) and len(value) == 1:
        return _single(value[0])
    return value["value"] if isinstance(value, dict) and "value" in value else value


def _boolean(value: object) -> object:
    """Entra ID sends "False". What is not understood becomes a 400."""
    value = _single(value)
    return _BOOLEANS.get(str(value).strip().lower(), value)


def _single_or_none(value: object) -> object:
    """The single value; None for an empty one, with which providers delete an attribute."""
    single = _single(value)
    return None if single == "" else single


def usable_emails(value: object) -> "list[EmailBody]":
    """The addresses that can be kept. A user is not refused for what only helps to find it."""
    emails = value if isinstance(value, list) else [value]
    usable: list[EmailBody] = []
    for email in emails:
        with suppress(ValidationError):
            usable.append(EmailBody.model_validate(email))
    return usable[:EMAILS_MAX]


Active = Annotated[bool, Field(strict=True), BeforeValidator(_boolean)]
SingleLine = Annotated[Line, BeforeValidator(_single)]
OptionalLine = Annotated[Line | None, BeforeValidator(_single_or_none)]


def own_attributes(values: Mapping[str, Any]) -> dict[str, Any]:
    """The attributes by their names; one of our schemas may stand before a name, or around all."""
    own: dict[str, Any] = {}
    for name, value in values.items():
        short = name[found.end() :] if (found := _OUR_SCHEMA.match(name)) else name
        if name and not short and isinstance(value, dict):
            own |= own_attributes(value)
        else:
            own[short or name] = value
    return own


class ScimBody(BaseModel):
    """A body that an identity provider sends."""

    parts_max: ClassVar[int] = PARTS_MAX

    model_config = ConfigDict(
        alias_generator=to_camel, extra="ignore", frozen=True, validate_by_name=False
    )

    @model_validator(mode="before")
    @classmethod
    def _with_our_names(cls, value: object) -> object:
        if not isinstance(value, dict):
            return value
        names = {str(field.alias).lower(): str(field.alias) for field in cls.model_fields.values()}
        own = own_attributes(value)
        return {names.get(name.lower(), name): item for name, item in own.items()}


class EmailBody(ScimBody):
    value: Line = Field(description="the address")
    type: OptionalLine = Field(None, description="such as `work`")
    primary: Active = Field(default=False, description="whether it is the one to write to")


class UserBody(ScimBody):
    """active: absent in a `PUT`, it stays as it is."""

    model_config = with_example(userName="ana", displayName="Ana Sousa", active=True)

    user_name: SingleLine
    external_id: OptionalLine = None
    display_name: OptionalLine = None
    active: Active | None = None
    emails: Annotated[tuple[EmailBody, ...], BeforeValidator(usable_emails)] = Field(
        (), description=f"only the first {EMAILS_MAX} are kept"
    )


class MemberBody(ScimBody):
    value: Line = Field(description="the `id` of a user")


class GroupBody(ScimBody):
    model_config = with_example(displayName="people", members=[{"value": "ana"}])

    display_name: SingleLine
    external_id: OptionalLine = None
    members: Annotated[tuple[MemberBody, ...], Field(max_length=MEMBERS_MAX)] | None = Field(
        None, description="absent in a `PUT`: the members stay"
    )


class PatchOperation(ScimBody):
    op: Annotated[
        Literal["add", "remove", "replace"],
        BeforeValidator(lambda value: value.lower() if isinstance(value, str) else value),
    ] = Field(description="`add`, `replace` or `remove`, in any case")
    path: Annotated[str, Field(max_length=PATH_CHARACTERS_MAX), Storable] | None = Field(
        None, description="attribute that changes; null: the attributes of `value`"
    )
    value: Any = None


class PatchBody(ScimBody):
    model_config = with_example(Operations=[{"op": "replace", "path": "active", "value": False}])

    operations: tuple[PatchOperation, ...] = Field(
        alias="Operations",
        min_length=1,
        max_length=OPERATIONS_MAX,
        description="the changes, in order",
    )


class ScimAnswer(BaseModel):
    """An attribute that has no value, or that the caller did not ask for, is absent."""

    model_config = ConfigDict(alias_generator=to_camel, validate_by_name=True, frozen=True)


class Meta(ScimAnswer):
    resource_type: Literal["User", "Group"]
    created: datetime = Field(description="when the provider created it here")
    last_modified: datetime | None = None
    location: str = Field(description="address of the resource")


class UserEmailAnswer(ScimAnswer):
    value: str = Field(description="the address")
    type: str | None = Field(None, description="such as `work`")
    primary: bool = Field(description="whether it is the one to write to")


class UserResource(ScimAnswer):
    schemas: tuple[str, ...] = (USER,)
    id: str
    external_id: str | None = None
    user_name: str | None = None
    display_name: str | None = None
    active: bool | None = None
    emails: tuple[UserEmailAnswer, ...] | None = Field(
        None, description="its addresses; they only help to find it"
    )
    meta: Meta | None = None


class GroupMember(ScimAnswer):
    value: str
    display: str = Field(description="name of the member, for people")
    type: Literal["User"] = Field("User", description="always `User`")


class GroupResource(ScimAnswer):
    schemas: tuple[str, ...] = (GROUP,)
    id: str
    external_id: str | None = None
    display_name: str | None = None
    members: tuple[GroupMember, ...] | None = None
    meta: Meta | None = None


class ResourceList(ScimAnswer):
    schemas: tuple[str, ...] = (LIST,)
    total_results: int = Field(description="number of all resources")
    start_index: int = Field(description="position of the first of them, from 1")
    items_per_page: int = Field(description="number of resources of the page")
    resources: tuple[dict[str, Any], ...] = Field(
        alias="Resources", description="the resources of the page"
    )


class Discovered(BaseModel):
    """What clients learn of the service: RFC 7643, sections 5 to 7."""

    model_config = ConfigDict(extra="allow")

    schemas: list[str] = Field(examples=[["urn:ietf:params:scim:schemas:core:2.0:ResourceType"]])
