"""Which questions are compared."""

from typing import Literal

from pydantic import BaseModel, Field


class SimilarSettings(BaseModel):
    """Similar questions."""

    searches: Literal["costly", "all"] = Field(
        "costly",
        description="which searches with `semantic: bounded` may get the answer of a similar "
        "question. `costly`: those that call a remote or large embedder, or that a service or a "
        "language model reranks; comparing questions costs more than any other search. `all`: also "
        "the others, to measure. Searches with a compressed context never do",
    )
