"""What the roles of a key or of a person permit."""

from collections.abc import Mapping
from typing import Literal, TypeAlias, get_args

Role: TypeAlias = Literal["reader", "writer", "admin", "publisher", "provisioner"]
ROLES: tuple[Role, ...] = get_args(Role)
# A role includes those before it, `publisher` none; `admin` includes `provisioner`. The operator
# administers and reads nothing.
SUFFICIENT: Mapping[str, frozenset[str]] = {
    **{role: frozenset(ROLES[number:3]) for number, role in enumerate(ROLES[:3])},
    "publisher": frozenset({"publisher"}),
    "provisioner": frozenset({"provisioner", "admin"}),
}
