"""The options of a soak."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

# Parts that can be left out, to narrow down a violation.
PARTS = ("queued", "credentials")


@dataclass(frozen=True, slots=True)
class SoakOptions:
    """answers: the number that ends the soak; 0: no limit. faults: the names of the faults.

    faults_min: how many have to happen before the answers are enough.

    without: some of `PARTS`. until_caught: the first wrong answer ends the soak.
    compared_share: of the answers while others write, to compare with a fresh search.
    askers: callers that read in every way. writers: each writes some of the documents.
    repeaters: callers that repeat the same few questions at one gateway, which a cache answers.
    write_turns: the numbers of the gateways that are sent writes, in turns; all if empty.
    rest_questions: sent to every gateway at each rest.
    """

    minutes: float
    answers: int
    seed: int
    faults: tuple[str, ...] = ()
    faults_min: int = 0
    fault_every_s: float = 20.0
    rest_every_s: float = 20.0
    balanced: bool = False
    without: Collection[str] = ()
    until_caught: bool = False
    compared_share: float = 0.1  # a starting value, not measured
    # Starting values, not measured.
    askers: int = 12
    writers: int = 2
    write_turns: Sequence[int] = ()
    repeaters: int = 0
    rest_questions: int = 100
