"""Brings stored subjects and groups to the one spelling that every door gives them.

That is another one when a deployment no longer keeps their case. What were two identifiers and
would become one are not merged unless the operator says so: it may be two people.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TypeAlias

import asyncpg
import structlog

from index.errors import MigrationRefused
from index.model.identifiers import IdentifierCase, in_normal_form
from index.postgres import statements

log = structlog.get_logger()

_STATEMENTS = statements.load()
_LISTED_MAX = 50  # collisions in one message
# In this order: memberships move once both groups are there, and tenants are locked last.
_RESPELLING = (
    "respell_keys", "respell_groups", "merge_members", "delete_members", "delete_groups",
    "respell_users", "suspend", "resume", "respell_provenance", "respell_quarantines",
    "respell_event_versions", "respell_vector_stores",
    "respell_vector_store_files", "respell_files", "respell_subscriptions", "respell_jobs",
    "respell_ended_readers", "respell_tuples", "merge_tuple_members", "delete_tuple_members",
    "merge_tuple_readers", "delete_tuple_readers", "respell_words", "note_words",
)  # fmt: skip

Connection: TypeAlias = "asyncpg.Connection[asyncpg.Record]"


@dataclass(frozen=True, slots=True)
class IdentifierPolicy:
    """case: of the deployment. merges: whether spellings that become one may be merged.

    looks_again: also in a database that is in this form already, because a process with another
    setting may have written since.
    """

    case: IdentifierCase = "fold"
    merges: bool = False
    looks_again: bool = False


@dataclass(slots=True)
class _Identifier:
    """One subject or group of a tenant. places: by spelling, an example of what holds it.

    users: the spellings that a user of the identity provider has.
    """

    tenant: str
    kind: str
    normal: str
    places: dict[str, str] = field(default_factory=dict)
    users: set[str] = field(default_factory=set)

    def __str__(self) -> str:
        spellings = ", ".join(f"{name!r} ({place})" for name, place in sorted(self.places.items()))
        return f"{self.tenant}: the {self.kind} {spellings}"


async def case_of(connection: Connection) -> str | None:
    """The case that the database is in; None before the first start."""
    if await connection.fetchval("SELECT to_regclass('identifier_cases') IS NULL"):
        return None
    case: str | None = await connection.fetchval(_STATEMENTS["identifiers.case"])
    return case


async def settle(connection: Connection, policy: IdentifierPolicy) -> int:
    """Respell what is stored, in one transaction; returns how many identifiers have changed.

    Raises `MigrationRefused` if two spellings would become one, or if a folded database would have
    to keep the case.
    """
    async with connection.transaction():
        stored = await case_of(connection)
        if stored == policy.case and not policy.looks_again:
            return 0
        if stored == "fold" and policy.case == "keep":
            await _require_no_tenants(connection)
        identifiers = await _identifiers(connection, policy.case)
        _require_distinct(identifiers, merges=policy.merges)
        changes = [
            (each.tenant, each.kind, spelling, each.normal)
            for each in identifiers
            for spelling in each.places
            if spelling != each.normal
        ]
        if changes:
            await _respell(connection, changes)
        await connection.execute(_STATEMENTS["identifiers.put_case"], policy.case)
    if changes:
        log.info("identifiers", state="respelled", identifiers=len(changes))
    return len(changes)


async def _require_no_tenants(connection: Connection) -> None:
    if await connection.fetchval(_STATEMENTS["identifiers.has_tenants"]):
        raise MigrationRefused(
            "NEARHIT_IDENTIFIER_CASE is keep, and the subjects and groups of this database have "
            "lost their case: set it back to fold, or ingest into a new database"
        )


async def _identifiers(connection: Connection, case: IdentifierCase) -> list[_Identifier]:
    found: dict[tuple[str, str, str], _Identifier] = {}
    for row in await connection.fetch(_STATEMENTS["identifiers.spellings"]):
        kind = "group" if row["kind"] == "group" else "subject"
        normal = in_normal_form(row["identifier"], case)
        each = found.setdefault(
            (row["tenant"], kind, normal), _Identifier(row["tenant"], kind, normal)
        )
        each.places.setdefault(row["identifier"], row["place"])
        if row["kind"] == "user":
            each.users.add(row["identifier"])
    return list(found.values())


def _require_distinct(identifiers: Iterable[_Identifier], *, merges: bool) -> None:
    identifiers = list(identifiers)
    if users := [each for each in identifiers if len(each.users) > 1]:
        raise MigrationRefused(
            "the identity provider has provisioned users whose subjects differ by spelling alone; "
            f"delete one of each there, then migrate again: {_listed(users)}. {_KEEP}"
        )
    spelled = [each for each in identifiers if len(each.places) > 1]
    if spelled and not merges:
        raise MigrationRefused(
            "subjects or groups differ by spelling alone and would become one, with the rights of "
            f"both: {_listed(spelled)}. If each is one person or one group, run `nearhit migrate "
            f"--merge-spellings`; if not, give one of them another name first. {_KEEP}"
        )


_KEEP = (
    "Where identifiers differ by case, NEARHIT_IDENTIFIER_CASE=keep leaves their case as it is. "
    "Nothing was changed"
)


def _listed(identifiers: list[_Identifier]) -> str:
    more = len(identifiers) - _LISTED_MAX
    parts = [*map(str, identifiers[:_LISTED_MAX]), *([f"and {more:,} more"] if more > 0 else [])]
    return "; ".join(parts)


async def _respell(connection: Connection, changes: list[tuple[str, str, str, str]]) -> None:
    columns = [list(column) for column in zip(*changes, strict=True)]
    for name in _RESPELLING:
        await connection.execute(_STATEMENTS[f"identifiers.{name}"], *columns)
    rows = await connection.fetch(_STATEMENTS["identifiers.respell_documents"], *columns)
    numbers = Counter(sorted(columns[0]))
    await connection.execute(
        _STATEMENTS["identifiers.skip_revisions"], list(numbers), [row["tenant"] for row in rows]
    )
    for tenant, number in numbers.items():
        await connection.execute(_STATEMENTS["identifiers.log"], tenant, number)
