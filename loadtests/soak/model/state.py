"""The state of the model, and its reset when PostgreSQL goes back to an older history.

An epoch is a time in which PostgreSQL has one history. A request that begins and ends in different
epochs proves nothing: its write is repeated, its answer is not judged.
"""

import copy
import time
from dataclasses import dataclass, field

from loadtests.soak.model.credentials import CredentialModel
from loadtests.soak.model.floors import Floors
from loadtests.workload.rights import Rights


@dataclass(frozen=True, slots=True)
class QueuedWrite:
    """A document that a worker is to write."""

    tenant: str
    document_id: str
    job_id: str


@dataclass(frozen=True, slots=True)
class Copy:
    """The state at the moment when PostgreSQL's data was copied."""

    rights: Rights
    credentials: CredentialModel
    floors: Floors
    jobs: dict[str, QueuedWrite]
    taken_s: float


@dataclass(slots=True)
class SoakState:
    """jobs: queued writes not known to be done, by job. epoch_s: when the epoch began."""

    rights: Rights
    credentials: CredentialModel
    floors: Floors = field(default_factory=Floors)
    jobs: dict[str, QueuedWrite] = field(default_factory=dict)
    epoch: int = 0
    epoch_s: float = 0.0

    def copy(self) -> Copy:
        """Call it while nobody writes."""
        rights, credentials, floors, jobs = copy.deepcopy(
            (self.rights, self.credentials, self.floors, self.jobs)
        )
        return Copy(rights, credentials, floors, jobs, time.monotonic())

    def leave(self) -> None:
        """PostgreSQL is about to lose its history: later acknowledgements are void."""
        self.epoch += 1
        self.epoch_s = float("inf")

    def go_back(self, to: Copy, void_after_s: float = 0.0) -> None:
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
