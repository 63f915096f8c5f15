"""The operations of a `PATCH`, as Okta and Entra ID send them: RFC 7644, section 3.5.2.

Pure functions. A path to an attribute that Nearhit does not use, or that only Nearhit sets, changes
nothing, because a provider that is refused stops provisioning the user.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any

from pydantic import Field, TypeAdapter, ValidationError

from gateway.extension import problems
from gateway.extensions.scim.attributes import EMAIL_PARTS, MEMBER_PARTS, member_values
from gateway.extensions.scim.errors import invalid
from gateway.extensions.scim.filters.filter_grammar import (
    AttributeExpression,
    Filter,
    Path,
    conjunction,
    leaves,
    parse_path,
)
from gateway.extensions.scim.filters.filter_predicates import compile_filter
from gateway.extensions.scim.group_provisioning import MEMBERS_MAX, GroupUser
from gateway.extensions.scim.scim_schemas import (
    GROUP,
    USER,
    MemberBody,
    PatchBody,
    own_attributes,
    usable_emails,
)

_MEMBERS: TypeAdapter[tuple[MemberBody, ...]] = TypeAdapter(
    Annotated[tuple[MemberBody, ...], Field(max_length=MEMBERS_MAX)]
)


@dataclass(frozen=True, slots=True)
class PatchStep:
    """One change of one attribute."""

    op: str
    path: Path
    value: Any


@dataclass(slots=True)
class MembershipChange:
    """Users that a `PATCH` adds and removes. replaced: whether all others leave."""

    replaced: bool = False
    added: set[str] = field(default_factory=set)
    removed: set[str] = field(default_factory=set)

    def apply(self, step: PatchStep, users: Sequence[GroupUser]) -> None:
        """users: of the group, before all changes."""
        condition = step.path.condition
        if condition is not None:
            if step.op != "remove":
                raise invalid("invalidPath", "A condition on members chooses whom to remove.")
            chosen = self._chosen(condition, users)
        elif step.value is None and step.op == "remove":
            self.replaced, self.added, self.removed = True, set(), set()
            return
        else:
            chosen = _user_ids([] if step.value is None else step.value)
        if step.op == "replace":
            self.replaced, self.added, self.removed = True, chosen, set()
        elif step.op == "add":
            self.added |= chosen
            self.removed -= chosen
        else:
            self.removed |= chosen
            self.added -= chosen

    def _chosen(self, condition: Filter, users: Sequence[GroupUser]) -> set[str]:
        """The users that meet the condition.

        Of those that it names, also others than members: their keys may name the group.
        """
        is_chosen = compile_filter(condition, GROUP, MEMBER_PARTS)
        named = {
            leaf.value
            for leaf in leaves(condition)
            if isinstance(leaf, AttributeExpression) and leaf.attribute == "value" and leaf.value
        }
        known = {user.user_id for user in users}
        others = [GroupUser(user_id, "") for user_id in (named | self.added) - known]
        return {user.user_id for user in (*users, *others) if is_chosen(member_values(user))}


def patch_steps(patch: PatchBody) -> tuple[PatchStep, ...]:
    """What the operations change, one attribute after the other. Raises a 400 `Problem`."""
    return tuple(_steps(patch))


def patch_attributes(
    steps: Sequence[PatchStep], attributes: Mapping[str, object]
) -> dict[str, object]:
    """The attributes of a user or group after the operations; members are left out.

    attributes: the current ones, by their names in SCIM. Raises a 400 `Problem`.
    """
    names = {name.lower(): name for name in attributes}
    after = dict(attributes)
    for step in steps:
        name = names.get(step.path.attribute)
        if name == "emails":
            after[name] = _patch_emails(after[name], step)
        elif name is not None:
            if step.path.condition is not None or step.path.part is not None:
                raise invalid("invalidPath", f"{name} has no parts, nor values to choose from.")
            _patch_attribute(after, name, step)
    return after


def patch_members(steps: Sequence[PatchStep], users: Sequence[GroupUser]) -> MembershipChange:
    """Which members the operations add and remove. users: of the group. Raises a 400 `Problem`."""
    change = MembershipChange()
    for step in steps:
        if step.path.attribute == "members":
            if step.path.part is not None:
                raise invalid("invalidPath", "A path to members ends with them, not with a part.")
            change.apply(step, users)
    return change


def _patch_attribute(attributes: dict[str, object], name: str, step: PatchStep) -> None:
    if step.op != "remove":
        if name == "active" and step.value is None:  # which must not leave it as it is
            raise invalid("invalidValue", "active must be true or false.")
        attributes[name] = step.value
    elif name in ("externalId", "displayName"):
        attributes[name] = None
    elif name != "active":  # it has a value always: a removal neither ends nor revives a user
        raise invalid("mutability", f"{name} can't be removed.")


def _patch_emails(emails: Any, step: PatchStep) -> list[dict[str, Any]]:
    """The user's emails after one operation."""
    condition, part = step.path.condition, step.path.part
    held = _emails(emails)
    given = [] if step.value is None or part is not None else _emails(step.value)
    if condition is None and part is None:
        if step.op == "replace":
            return given
        kept = [email for email in held if email not in given]
        if step.op == "add":
            return [*kept, *given]
        return kept if given else []
    is_chosen = (
        (lambda _: True) if condition is None else compile_filter(condition, USER, EMAIL_PARTS)
    )
    if step.op == "remove" and part is None:
        return [email for email in held if not is_chosen(email)]
    changes = given[0] if given else {part: None if step.op == "remove" else step.value}
    if step.op != "remove" and not any(map(is_chosen, held)):
        return _emails([*held, {**_equalities(condition), **changes}])
    return _emails([{**email, **changes} if is_chosen(email) else email for email in held])


def _equalities(condition: Filter | None) -> dict[str, str | None]:
    """The values that a new email needs in order to meet the condition."""
    return {
        term.attribute: term.value
        for term in (() if condition is None else conjunction(condition))
        if isinstance(term, AttributeExpression) and term.operator == "eq"
    }


def _emails(value: object) -> list[dict[str, Any]]:
    return [email.model_dump(by_alias=True) for email in usable_emails(value)]


def _steps(patch: PatchBody) -> Iterator[PatchStep]:
    for operation in patch.operations:
        if operation.path is not None:
            values = {operation.path: operation.value}
        elif operation.op == "remove":
            raise invalid("noTarget", "A remove needs a path.")
        elif not isinstance(operation.value, dict):
            raise invalid(
                "invalidValue", "An operation without a path needs an object as its value."
            )
        else:
            values = operation.value
        for name, value in own_attributes(values).items():
            if not name.strip().lower().startswith("urn:"):  # an attribute of another schema
                yield PatchStep(operation.op, parse_path(name), value)


def _user_ids(value: object) -> set[str]:
    members = value if isinstance(value, list) else [value]
    try:
        return {member.value for member in _MEMBERS.validate_python(tuple(members))}
    except ValidationError as error:
        raise problems.from_validation(error) from None
