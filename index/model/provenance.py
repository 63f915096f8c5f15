"""Where a document comes from, and whether anybody stands behind it.

An agent is who holds a token made from a key, or a web token whose claim `act` (RFC 8693, section
4.1) names who acts for its subject. What it writes is a claim until somebody else ratifies it.

Pure.
"""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from datetime import datetime
from typing import Any, Literal, TypeAlias, get_args

Origin: TypeAlias = Literal["person", "agent", "source", "web"]
Trust: TypeAlias = Literal["claim", "web", "source", "vouched"]  # the least first

TRUSTS: tuple[Trust, ...] = get_args(Trust)
AGENTS_MAX = 16  # a token and its ancestors are at most 9


@dataclass(frozen=True, slots=True)
class Provenance:
    """by: who wrote the content; None if that is not known, which nobody vouches for.

    subject: who wrote it, or for whom an agent did.
    agents: those between the subject and the content, the nearest first: tokens and actors.
    hidden_text: whether its file or page has text that readers don't see.
    ratified_by, ratified_at: the subject that stands behind it, and since when.
    held_readers: those that it gets when it is ratified; None if it is not in quarantine.
    """

    by: Origin | None = None
    subject: str | None = None
    agents: tuple[str, ...] = ()
    hidden_text: bool = False
    ratified_by: str | None = None
    ratified_at: datetime | None = None
    held_readers: tuple[str, ...] | None = None

    @property
    def trust(self) -> Trust | None:
        """None if nobody knows who wrote it."""
        if self.by == "person" or self.ratified_by is not None:
            return "vouched"
        return "claim" if self.by == "agent" else self.by

    def to_json(self) -> dict[str, Any]:
        """As it is stored: what is known, and the trust, which SQL reads."""
        values = {each.name: getattr(self, each.name) for each in fields(self)}
        known = {name: value for name, value in values.items() if value not in (None, (), False)}
        if self.held_readers == ():
            known["held_readers"] = ()
        return {"trust": self.trust} | known if known else {}


def from_json(stored: Mapping[str, Any]) -> Provenance:
    values = {name: value for name, value in stored.items() if name != "trust"}
    for name in {"agents", "held_readers"} & values.keys():
        values[name] = tuple(values[name])
    if ratified_at := values.get("ratified_at"):
        values["ratified_at"] = datetime.fromisoformat(ratified_at)
    return Provenance(**values)


UNKNOWN = Provenance()


@dataclass(frozen=True, slots=True)
class Quarantine:
    """What of agents' writing is held until somebody ratifies it: found by these readers and its
    owner alone.

    of: `web` for what has the address of a web page, `agents` for all that they write.
    """

    of: Literal["web", "agents"]
    readers: tuple[str, ...] = ()

    def holds(self, uri: str) -> bool:
        return self.of == "agents" or uri.lower().startswith(("https:", "http:"))


@dataclass(frozen=True, slots=True)
class Author:
    """Who writes a document, and what the tenant holds of it."""

    provenance: Provenance = UNKNOWN
    quarantine: Quarantine | None = None


NOBODY = Author()
SOURCE, OPERATOR = Author(Provenance("source")), Author(Provenance("person"))
