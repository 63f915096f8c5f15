"""The state of the model, and its reset when PostgreSQL goes back to an older history.

An epoch is a time in which PostgreSQL has one history. A request that begins and ends in different
epochs proves nothing: its write is repeated, its answer is not judged.
"""

import copy
import time
from bisect import bisect_right
from collections import defaultdict
from dataclasses import dataclass, field, replace
from typing import Self

from loadtests.soak.model.credentials import CredentialModel
from loadtests.workload.rights import Rights, Span

_AFTER_S = 2.0  # in which lost connections are noticed


class Floors:
    """The revision of each partition that was last acknowledged, at any moment. Pure."""

    def __init__(self) -> None:
        self._moments: dict[str, list[float]] = defaultdict(list)
        self._revisions: dict[str, list[int]] = defaultdict(list)

    def acknowledged(self, partition: str, revision: int, at_s: float) -> None:
        """Acknowledgements may arrive out of order; the highest revision counts."""
        revisions = self._revisions[partition]
        self._moments[partition].append(at_s)
        revisions.append(max(revision, revisions[-1] if revisions else 0))

    def one_more(self, partition: str, at_s: float) -> None:
        """Another commit was acknowledged, whose revision is not known."""
        revisions = self._revisions[partition]
        self.acknowledged(partition, (revisions[-1] if revisions else 0) + 1, at_s)

    def at(self, partition: str, at_s: float) -> int:
        position = bisect_right(self._moments[partition], at_s)
        return self._revisions[partition][position - 1] if position else 0


@dataclass(slots=True)
class Outages:
    """The times in which a fault explains errors. Pure."""

    _all: list[Span] = field(default_factory=list)

    def begin(self, at_s: float) -> None:
        self._all.append(Span(at_s))

    def end(self, at_s: float) -> None:
        self._all[-1].until_s = at_s

    def explain(self, asked_s: float, answered_s: float) -> bool:
        """Whether an outage lasted, or had just ended, between request and answer."""
        return any(
            outage.since_s <= answered_s and asked_s <= outage.until_s + _AFTER_S
            for outage in self._all
        )


@dataclass(frozen=True, slots=True)
class QueuedWrite:
    """A document that a worker is to write."""

    tenant: str
    document_id: str
    job_id: str


@dataclass(slots=True)
class SoakState:
    """jobs: queued writes not known to be done, by job. epoch_s: when the epoch began.

    taken_s: of a copy, when PostgreSQL's data was copied.
    """

    rights: Rights
    credentials: CredentialModel
    floors: Floors = field(default_factory=Floors)
    jobs: dict[str, QueuedWrite] = field(default_factory=dict)
    epoch: int = 0
    epoch_s: float = 0.0
    taken_s: float = 0.0

    def copy(self) -> Self:
        """Call it while nobody writes."""
        return replace(copy.deepcopy(self), taken_s=time.monotonic())

    def leave(self) -> None:
        """PostgreSQL is about to lose its history: later acknowledgements are void."""
        self.epoch += 1
        self.epoch_s = float("inf")

    def go_back(self, to: Self, void_after_s: float = 0.0) -> None:
        """PostgreSQL has the copy's history again.

        void_after_s: for so long the lost history may still be shown; what is asked meanwhile is
        not judged.
        """
        void_s = time.monotonic() + void_after_s
        to.rights.void(self.rights, to.taken_s, void_s)
        to.credentials.void(self.credentials, void_s)
        self.rights, self.credentials = to.rights, to.credentials
        self.floors, self.jobs = to.floors, to.jobs
        self.epoch += 1
        self.epoch_s = void_s
