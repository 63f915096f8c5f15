"""The names of what postprocesses hits, which are part of the cache key of an answer."""

from gateway.extension import StepParts
from index.embedders import static_model
from index.model.query import PostprocessorNames

HEURISTIC, WORDS = "heuristic", "words"
HEURISTIC_RANKER = f"{HEURISTIC}:2"  # with the version of its order
WORD_RANKER = f"{WORDS}:{static_model.NAME}-{static_model.DIMENSIONS}"
EXTRACT = "extract"


def postprocessor_names(parts: StepParts) -> PostprocessorNames:
    compressor = parts.settings.chat_model_of("compress")
    return PostprocessorNames(
        HEURISTIC_RANKER if parts.reranker is None else parts.reranker.name,
        WORD_RANKER,
        EXTRACT if compressor is None else f"model:{compressor}",
    )
