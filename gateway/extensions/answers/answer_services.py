"""What generated answers use: a search, the language model, and the cache of its texts."""

from dataclasses import dataclass

from cache.answers import Answers
from common.processes.worker_pool import WorkerPool
from gateway.extension import SearchServices
from gateway.extensions.answers.answer_generator import AnswerGenerator
from gateway.extensions.answers.conversation_compressor import ConversationCompressor


@dataclass(frozen=True, slots=True)
class AnswerServices:
    """generator: None if no language model is configured for answers.

    texts: the cached texts of the language model; see `text_cache`.
    """

    generator: AnswerGenerator | None
    search: SearchServices
    texts: Answers
    compressors: WorkerPool[ConversationCompressor]
