"""Documents that ask for it are chunked and summarised by a language model."""

from collections.abc import Awaitable, Callable

from gateway.extension import Extension, Metrics, Settings
from gateway.extensions._chat.models import Models, read_prompt
from gateway.extensions.preprocessing.llm_chunker import LlmChunker
from gateway.extensions.preprocessing.llm_preprocessor import LlmPreprocessor
from gateway.extensions.preprocessing.llm_summarizer import LlmSummarizer
from gateway.extensions.preprocessing.preprocessing_metrics import PreprocessingMetrics
from gateway.extensions.preprocessing.sized_prompt import MAX_SIZE


def make_preprocessor(
    settings: Settings, metrics: Metrics, check_budget: Callable[[], Awaitable[None]]
) -> LlmPreprocessor:
    """Without a language model, one that calls none. Raises `CommandError` for a bad prompt."""
    own = PreprocessingMetrics(metrics)
    chunks = settings.chat_model_of("chunking") is not None
    summarizes = settings.chat_model_of("summary") is not None
    if not (chunks or summarizes):
        return LlmPreprocessor()
    models = Models(settings, metrics)
    chunker, summarizer = None, None
    if chunks:
        prompt = read_prompt(settings, "chunking", MAX_SIZE)
        chunker = LlmChunker(models.model("chunking"), own.chunking, prompt=prompt)
    if summarizes:
        prompt = read_prompt(settings, "summary", MAX_SIZE)
        summarizer = LlmSummarizer(models.model("summary"), own.summary, prompt=prompt)
    return LlmPreprocessor(chunker, summarizer, check_budget)


EXTENSION: Extension[None] = Extension(
    "a language model chunks and summarises the documents that ask for it",
    metrics=PreprocessingMetrics,
    preprocessor=make_preprocessor,
)
