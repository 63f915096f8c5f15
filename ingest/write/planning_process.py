"""Plans long texts in a process of low priority, so that searches wait for none of them.

A thread would share the interpreter with the event loop, and have the priority of its searches.
"""

import pickle
from collections.abc import Mapping, Sequence

from common.processes.bounded_process import ProcessLimits
from common.processes.module_worker import (
    ModuleWorker,
    ProcessEnded,
    ProcessKilled,
    answer_requests,
)
from common.processes.worker_pool import WorkerPool
from index.documents.stored_document import StoredDocument
from index.model.document import Document
from ingest.errors import DocumentTooLong
from ingest.write.document_plan import DocumentPlan, LlmResult, Planned, prepare_and_plan

# Starting values, not measured.
PROCESSES = 2  # one for each of two tenants
WAITING_MAX = 1_000  # batches of one tenant
WAIT_S_MAX = 300.0
SECONDS_MAX = 60.0  # of a processor, for a batch; a text of 1 MB takes a fifth of a second
MEMORY_BYTES_MAX = 2 * 2**30
CPU_S_MAX = 24 * 3_600  # of all batches of one process

_REPLY_BYTES_MAX = MEMORY_BYTES_MAX // 4
_LIMITS = ProcessLimits(MEMORY_BYTES_MAX, CPU_S_MAX)


class PlanningProcess(ModuleWorker):
    """seconds_max: of a processor, for a batch."""

    def __init__(self, seconds_max: float = SECONDS_MAX) -> None:
        super().__init__(f"{__package__}.planning_process", _LIMITS, _REPLY_BYTES_MAX)
        self._seconds_max = seconds_max

    def plan(
        self,
        changed: Sequence[tuple[StoredDocument | None, Document]],
        llm_results: Mapping[str, LlmResult],
    ) -> Planned:
        """As `document_plan.plan_all`; what exceeds a limit of the process is too long.

        Raises `ProcessKilled`.
        """
        try:
            reply = self.ask(pickle.dumps((changed, llm_results)), cpu_s=self._seconds_max)
        except ProcessKilled:
            raise
        except (TimeoutError, ProcessEnded):
            return self._plan_each(changed, llm_results)
        result: Planned = pickle.loads(reply)  # noqa: S301  of this module's own process
        return result

    def _plan_each(
        self,
        changed: Sequence[tuple[StoredDocument | None, Document]],
        llm_results: Mapping[str, LlmResult],
    ) -> Planned:
        """One exceeds a limit: it alone is refused."""
        if len(changed) == 1:
            seconds, memory = f"{self._seconds_max:g} s of a processor", f"{MEMORY_BYTES_MAX:,}"
            reason = f"takes more than {seconds} to chunk, or {memory} bytes of memory"
            return [], {changed[0][1].document_id: DocumentTooLong(reason)}
        plans, too_long = list[DocumentPlan](), dict[str, DocumentTooLong]()
        for one in changed:
            planned, refused = self.plan([one], llm_results)
            plans += planned
            too_long |= refused
        return plans, too_long


def planning_pool() -> WorkerPool[PlanningProcess]:
    return WorkerPool(
        PlanningProcess,
        PROCESSES,
        name="plan",
        waiting_max=WAITING_MAX,
        wait_s_max=WAIT_S_MAX,
    )


def _answer(request: bytes) -> bytes:
    changed, llm_results = pickle.loads(request)  # noqa: S301  of this process's parent
    return pickle.dumps(prepare_and_plan(changed, llm_results))


if __name__ == "__main__":
    answer_requests(1, _answer)
