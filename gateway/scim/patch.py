"""The operations of a `PATCH`, as Okta and Entra ID send them: RFC 7644, section 3.5.2.

Pure functions. A path to an attribute that Nearhit does not use changes nothing, because a provider
that is refused stops provisioning the user.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any

from pydantic import Field, TypeAdapter, ValidationError

from gateway import problems
from gateway.scim.attribute_filter import parse_filter
from gateway.scim.errors import invalid
from gateway.scim.scim_schemas import GROUP, USER, MemberBody, PatchBody, PatchOperation
from index.tenants.group_provisioning import MEMBERS_MAX

_PATH = re.compile(
    r"(?:(urn:[\w:.-]+):)?([A-Za-z$][\w$-]*)(?:\[(.*)\])?(\.[A-Za-z$][\w$-]*)?", re.ASCII
)
_OURS = frozenset({None, USER.lower(), GROUP.lower()})
_READ_ONLY = frozenset({"id", "meta", "schemas", "groups"})
_MEMBERS: TypeAdapter[tuple[MemberBody, ...]] = TypeAdapter(
    Annotated[tuple[MemberBody, ...], Field(max_length=MEMBERS_MAX)]
)


@dataclass(frozen=True, slots=True)
class _Step:
    """One change of one attribute, in lower case. condition: the filter of the path."""

    op: str
    attribute: str
    value: Any
    condition: str | None = None


@dataclass(slots=True)
class MembershipChange:
    """Users that a `PATCH` adds and removes. replaced: whether all others leave."""

    replaced: bool = False
    added: set[str] = field(default_factory=set)
    removed: set[str] = field(default_factory=set)

    def apply(self, step: _Step) -> None:
        if step.condition is not None:
            users = _condition_users(step)
        elif step.value is None and step.op == "remove":
            self.replaced, self.added, self.removed = True, set(), set()
            return
        else:
            users = _users([] if step.value is None else step.value)
        if step.op == "replace":
            self.replaced, self.added, self.removed = True, users, set()
        elif step.op == "add":
            self.added |= users
            self.removed -= users
        else:
            self.removed |= users
            self.added -= users


def patch_attributes(patch: PatchBody, attributes: Mapping[str, object]) -> dict[str, object]:
    """The attributes of a user or group after the operations; members are left out.

    attributes: the current ones, by their names in SCIM. Raises a 400 `Problem`.
    """
    names = {name.lower(): name for name in attributes}
    after = dict(attributes)
    for step in _steps(patch):
        if step.attribute not in names:
            continue
        if step.condition is not None:
            raise invalid("invalidPath", f"{names[step.attribute]} has no values to choose from.")
        if step.op != "remove":
            if (
                step.attribute == "active" and step.value is None
            ):  # which must not leave it as it is
                raise invalid("invalidValue", "active must be true or false.")
            after[names[step.attribute]] = step.value
        elif step.attribute in ("externalid", "displayname"):
            after[names[step.attribute]] = None
        else:
            raise invalid("mutability", f"{names[step.attribute]} can't be removed.")
    return after


def patch_members(patch: PatchBody) -> MembershipChange:
    """Which members the operations add and remove. Raises a 400 `Problem`."""
    change = MembershipChange()
    for step in _steps(patch):
        if step.attribute == "members":
            change.apply(step)
    return change


def _steps(patch: PatchBody) -> Iterator[_Step]:
    for operation in patch.operations:
        if operation.path is not None:
            step = _step_of(operation, operation.path)
            if step is not None and step.attribute in _READ_ONLY:
                raise invalid("mutability", f"{step.attribute} is read-only.")
            if step is not None:
                yield step
        elif operation.op == "remove":
            raise invalid("noTarget", "A remove needs a path.")
        elif not isinstance(operation.value, dict):
            raise invalid(
                "invalidValue", "An operation without a path needs an object as its value."
            )
        else:
            # Okta sends the `id` of a group with its new name.
            for name, value in operation.value.items():
                step = _step_of(PatchOperation(op=operation.op, value=value), name)
                if step is not None:
                    yield step


def _step_of(operation: PatchOperation, path: str) -> _Step | None:
    """The step; None if it concerns an attribute of another schema, or a part of one."""
    match = _PATH.fullmatch(path.strip())
    if match is None:
        if path.lower().startswith("urn:"):  # the name of an extension alone
            return None
        raise invalid("invalidPath", "The path of an operation is invalid.")
    schema, attribute, condition, part = match.groups()
    if (schema and schema.lower()) not in _OURS or part is not None:
        return None
    return _Step(operation.op, attribute.lower(), operation.value, condition)


def _users(value: object) -> set[str]:
    members = value if isinstance(value, list) else [value]
    try:
        return {member.value for member in _MEMBERS.validate_python(tuple(members))}
    except ValidationError as error:
        raise problems.from_validation(error) from None


def _condition_users(step: _Step) -> set[str]:
    """The users that `members[value eq "…" or …]` names; they can only be removed."""
    alternatives = parse_filter(step.condition or "")
    if step.op != "remove" or any(set(each) != {"value"} for each in alternatives):
        raise invalid("invalidPath", 'Members are removed by: members[value eq "ID"].')
    return {each["value"] for each in alternatives}
