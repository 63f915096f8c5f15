"""Who helps with hits once they are found, by name: part of what an answer hangs on."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class PostprocessorNames:
    """Who looks at hits once more, and who shortens them if a model is asked for; see `Finish`."""

    ranker: str = "heuristic"
    compressor: str = "extract"


NO_HELPERS = PostprocessorNames()
