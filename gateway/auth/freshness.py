"""How new an answer has to be: what a request asks for, and what its answer states. Does no I/O.

A request chooses one of three promises, the strictest first:
  strong   the answer contains every write that was acknowledged before the request arrived
  session  it is correct at the revision that the caller names in `Nearhit-Min-Revision`, or later
  bounded  it contains every write that was acknowledged `max_staleness_ms` before

A revision that is named counts under each of the three.
"""

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from hashlib import blake2b
from typing import Literal, TypeAlias, get_args

from cache.protocol import Revisions
from gateway.problems import problems
from index.model.scope import PUBLIC

Consistency: TypeAlias = Literal["strong", "session", "bounded"]

MIN_REVISION = "Nearhit-Min-Revision"
_STRICTEST_FIRST: Sequence[Consistency] = get_args(Consistency)
_NUMBER = "(0|[1-9][0-9]{0,17})"  # PostgreSQL's `bigint` holds all of them
MIN_REVISION_PATTERN = f"{_NUMBER}(;public={_NUMBER})?(;of=([0-9a-f]{{8}}))?"
_MIN_REVISION = re.compile(MIN_REVISION_PATTERN)
_TENANT_DIGITS = 2  # of the digest in a revision: they tell another tenant from another history


@dataclass(frozen=True, slots=True)
class MinRevision:
    """The revisions that an answer has to be correct at, as the caller names them.

    public: of the public partition; None if the caller names none.
    of: digest of their tenant and history; None if a person wrote the numbers.
    """

    revision: int
    public: int | None = None
    of: str | None = None

    def is_of(self, tenant: str, history: str) -> bool:
        return self.of in (None, digest_of_history(tenant, history))

    def by_partition(self, tenant: str) -> Mapping[str, int]:
        public = {} if self.public is None else {PUBLIC: self.public}
        return {tenant: self.revision, **public}

    def is_reached(self, tenant: str, revisions: Revisions) -> bool:
        """Whether these revisions of the tenant and of the public partition are as late."""
        return self.is_of(tenant, revisions.history) and all(
            revisions.by_partition.get(name, -1) >= number
            for name, number in self.by_partition(tenant).items()
        )

    def require_reached(self, tenant: str, revisions: Revisions) -> None:
        """A 409 `Problem` that says why they are not reached. revisions: of the primary by now."""
        if self.is_reached(tenant, revisions):
            return
        digest = digest_of_history(tenant, revisions.history)
        if self.of is None or self.of == digest:
            raise problems.revision_unknown(
                "The database has not reached this revision. Send the header as an answer to this "
                "tenant gave it, or leave it out."
            )
        if self.of[:_TENANT_DIGITS] != digest[:_TENANT_DIGITS]:
            raise problems.revision_unknown(
                "This revision is of another tenant. Send what an answer to this tenant gave, or "
                "leave the header out."
            )
        raise problems.revision_unknown(
            "The database has begun another history since, and does not know whether it holds this "
            "revision. Read again without the header, and check that the last writes are there."
        )

    def continued(
        self, tenant: str, held: Mapping[str, Mapping[str, int]], history: str
    ) -> "MinRevision":
        """The same revision in the current history, if the database still holds it.

        held: by earlier history, the last revision of each partition that the database holds of it.
        A 409 `Problem` if it has lost the revision; itself if the history is none of these.
        """
        named = next((each for each in held if self.is_of(tenant, each)), None)
        if named is None:
            return self
        if any(
            held[named].get(partition, -1) < number
            for partition, number in self.by_partition(tenant).items()
        ):
            raise problems.revision_unknown(
                "The database has lost this revision: by a failover, a restore or a crash it went "
                "back to an earlier one. Read again without the header, and write again what is "
                "missing."
            )
        return replace(self, of=digest_of_history(tenant, history))


@dataclass(frozen=True, slots=True)
class Freshness:
    """What a request asks for.

    max_staleness_s: how old the revisions may be that it is answered from; the tenant and the
        deployment limit it further.
    """

    consistency: Consistency = "strong"
    max_staleness_s: float = 0.0
    min_revision: MinRevision | None = None

    def accepts(self, tenant: str, revisions: Revisions) -> bool:
        """Whether the revision that the caller names is reached, if it names one."""
        return self.min_revision is None or self.min_revision.is_reached(tenant, revisions)

    def require_reached(self, tenant: str, revisions: Revisions) -> None:
        """A 409 `Problem` unless the revision that the caller names is reached."""
        if self.min_revision is not None:
            self.min_revision.require_reached(tenant, revisions)


STRONG = Freshness()


@dataclass(frozen=True, slots=True)
class DatedRevisions:
    """Revisions that were current `age_s` before they were used; 0 if the request came first."""

    revisions: Revisions
    age_s: float = 0.0


def parse_min_revision(header: bytes | None) -> MinRevision | None:
    """The header `Nearhit-Min-Revision`, such as `12;public=4`; a 422 `Problem` if malformed."""
    if header is None:
        return None
    match = _MIN_REVISION.fullmatch(header.decode("latin-1"))
    if match is None:
        raise problems.invalid_field(
            MIN_REVISION, "must be the Nearhit-Revision of an answer, such as 12 or 12;public=4"
        )
    revision, public, of = match.group(1, 3, 5)
    return MinRevision(int(revision), None if public is None else int(public), of)


def requested_freshness(
    consistency: Consistency | None,
    max_staleness_ms: int,
    min_revision: MinRevision | None,
    path: str = "",
) -> Freshness:
    """What the fields of a search and the header ask for; a 422 `Problem` if they contradict.

    path: of the search in the request's body, with a dot at its end.
    """
    if consistency is None:
        if max_staleness_ms > 0:
            consistency = "bounded"
        else:
            consistency = "strong" if min_revision is None else "session"
    field = f"{path}consistency"
    if consistency == "bounded" and max_staleness_ms == 0:
        raise problems.invalid_field(field, "bounded needs a max_staleness_ms above 0")
    if consistency != "bounded" and max_staleness_ms > 0:
        raise problems.invalid_field(field, "max_staleness_ms is for bounded alone: leave it out")
    if consistency == "session" and min_revision is None:
        raise problems.invalid_field(field, f"session needs the header {MIN_REVISION}")
    max_staleness_s = math.inf if consistency == "session" else max_staleness_ms / 1000
    return Freshness(consistency, max_staleness_s, min_revision)


def strictest(requested: Iterable[Freshness]) -> Freshness:
    """What satisfies each of them; there is one at least, and all name the same revision."""
    requested = list(requested)
    return Freshness(
        min((each.consistency for each in requested), key=_STRICTEST_FIRST.index),
        min(each.max_staleness_s for each in requested),
        requested[0].min_revision,
    )


def kept_promise(
    freshness: Freshness, used: Sequence[DatedRevisions], valid_until: Revisions
) -> bytes:
    """The promise that an answer keeps, for the header `Nearhit-Consistency`.

    used: by which it was looked up or computed, the newest first; it has reached the last.
    valid_until: the revisions up to which it is correct.
    """

    def is_reached(revisions: Revisions) -> bool:
        required = revisions.of(valid_until.by_partition)
        return valid_until.reach(required.without_audiences())

    age_s = next((each.age_s for each in used[:-1] if is_reached(each.revisions)), used[-1].age_s)
    if age_s == 0:
        return b"strong"
    if freshness.consistency == "session":
        return b"session"
    return b"bounded;ms=%d" % math.ceil(age_s * 1000)


def revision_header(revisions: Revisions, tenant: str) -> bytes:
    """The header `Nearhit-Revision`: the tenant's revision, and the public one if it matters."""
    numbers = revisions.by_partition
    public = f";public={numbers[PUBLIC]}" if PUBLIC in numbers else ""
    of = digest_of_history(tenant, revisions.history)
    return f"{numbers[tenant]}{public};of={of}".encode()


def latest_revisions(writes: Iterable[Revisions]) -> Revisions | None:
    """The revisions at which an answer contains all of these writes; None without writes."""
    latest = None
    for revisions in writes:
        if latest is None or latest.history != revisions.history:
            latest = revisions  # the writes of another history may be lost
            continue
        numbers = dict(latest.by_partition)
        for name, number in revisions.by_partition.items():
            numbers[name] = max(number, numbers.get(name, 0))
        latest = Revisions(latest.history, numbers)
    return latest


@lru_cache(maxsize=10_000)
def digest_of_history(tenant: str, history: str) -> str:
    """Eight digits by which a revision of another tenant or history is recognized.

    The first two are of the tenant alone, so that a refusal can say which of both is another one.
    """
    of_tenant, of_both = _hex(tenant), _hex(f"{tenant} {history}")
    return of_tenant[:_TENANT_DIGITS] + of_both[: 8 - _TENANT_DIGITS]


def _hex(text: str) -> str:
    return blake2b(text.encode(), digest_size=4).hexdigest()
