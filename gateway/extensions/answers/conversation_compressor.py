"""Compresses conversations in a process of its own: they take up to a second of computing.

Run as a module, this file is that process, so it does not load the gateway.
"""

from collections.abc import Sequence

import orjson
from pydantic import TypeAdapter

from common.processes.bounded_process import ProcessLimits
from common.processes.module_worker import ModuleWorker, answer_requests
from common.processes.worker_pool import WorkerPool
from gateway.extensions.answers import conversation_compression
from gateway.extensions.answers.conversation_compression import CompressedMessages
from index.text.word_lists import analysed_languages

PROCESSES = 2  # one tenant uses one of them
WAITING_MAX = 1_000  # conversations of one tenant; its concurrent requests are fewer
WAIT_S_MAX = 5.0
SECONDS_MAX = 10.0  # of a processor: a starting value; no body that is accepted takes as much
MEMORY_BYTES_MAX = 2**30
CPU_S_MAX = 24 * 3_600  # of all conversations of one process
_REPLY_BYTES_MAX = 16 * 2**20
_COMPRESSED = TypeAdapter(CompressedMessages)


class ConversationCompressor(ModuleWorker):
    def __init__(self) -> None:
        limits = ProcessLimits(MEMORY_BYTES_MAX, CPU_S_MAX)
        super().__init__(f"{__package__}.conversation_compressor", limits, _REPLY_BYTES_MAX)

    def compress(
        self, texts: Sequence[str], question: str, *, budget: int, kept_last: int, language: str
    ) -> CompressedMessages:
        """As `conversation_compression.compress`. Raises `TimeoutError` and `ProcessEnded`."""
        request = orjson.dumps([texts, question, budget, kept_last, language])
        return _COMPRESSED.validate_json(self.ask(request, cpu_s=SECONDS_MAX))


def compressor_pool() -> WorkerPool[ConversationCompressor]:
    return WorkerPool(
        ConversationCompressor,
        PROCESSES,
        name="compress",
        waiting_max=WAITING_MAX,
        wait_s_max=WAIT_S_MAX,
    )


def _answer(request: bytes) -> bytes:
    texts, question, budget, kept_last, language = orjson.loads(request)
    analysed_languages.load({language})
    compressed = conversation_compression.compress(
        texts, question, budget=budget, kept_last=kept_last, language=language
    )
    return orjson.dumps(compressed)


if __name__ == "__main__":
    answer_requests(1, _answer)
