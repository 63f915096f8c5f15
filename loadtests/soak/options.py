"""The options of a soak, and the settings of its servers."""

from collections.abc import Sequence
from dataclasses import dataclass

# Of the gateways and the worker.
SETTINGS = {
    "NEARHIT_CACHE_AUDIT_PER_MILLE": "0",  # gateways repair what their audit finds
    "NEARHIT_REDIS_TIMEOUT_S": "0.1",  # the load generator delays Redis on a busy machine
    "NEARHIT_LOG_LEVEL": "error",
    "NEARHIT_PUBLIC_DOCUMENTS": "true",
    "NEARHIT_SIMILAR_QUESTIONS_SEARCHES": "all",  # its searches call no model
    "NEARHIT_DOCUMENT_INLINE_BYTES_MAX": "16000",  # some of the documents are longer
    "NEARHIT_PRICES": "embedding=1",  # so that a budget can be spent
    "NEARHIT_JOB_LEASE_S": "2",  # the jobs of a killed worker are taken over within the soak
    "NEARHIT_JOB_RETRY_DELAY_S": "0.5",
    "NEARHIT_JOB_ATTEMPTS_MAX": "30",  # a fault costs attempts, and there are many
}
# Of one of the gateways. The other computes what its shards hold sooner than Redis gives it, so
# that without this one hardly an answer is Redis's.
WITHOUT_SHARDS = {"NEARHIT_SHARD_BYTES_MAX": "0"}


@dataclass(frozen=True, slots=True)
class SoakOptions:
    """answers: the number that ends the soak; 0: no limit. faults: the names of the faults.

    faults_min: how many have to happen before the answers are enough.

    plain: without queued writes, and without changes of keys and tokens.
    until_caught: the first wrong answer ends the soak.
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
    plain: bool = False
    until_caught: bool = False
    compared_share: float = 0.1  # a starting value, not measured
    # Starting values, not measured.
    askers: int = 12
    writers: int = 2
    write_turns: Sequence[int] = ()
    repeaters: int = 0
    rest_questions: int = 100
