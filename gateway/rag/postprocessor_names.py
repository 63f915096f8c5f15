"""The names of the postprocessors of hits, which are part of the cache key of an answer."""

from dataclasses import dataclass

from index.embedders import static_model

HEURISTIC, WORDS = "heuristic", "words"
HEURISTIC_RANKER = f"{HEURISTIC}:2"  # with the version of its order
WORD_RANKER = f"{WORDS}:{static_model.NAME}-{static_model.DIMENSIONS}"


@dataclass(frozen=True, slots=True)
class PostprocessorNames:
    """The ranker, and the compressor for `compress: model`; see `index.model.query`."""

    ranker: str = HEURISTIC_RANKER
    compressor: str = "extract"


DEFAULT_POSTPROCESSORS = PostprocessorNames()
