"""What an audit finds wrong with a tenant's index, or with what an extension keeps for it."""

from dataclasses import dataclass
from typing import Literal, TypeAlias

# text: the document's text is missing. orphan: chunks that are missing in a table. vector: chunks
# without a vector, or with another one than their digest's. digest: the chunks differ from those of
# the text. summary: the summaries differ from those of the text. count: the recorded number of
# chunks is wrong. space: vectors of an unused space. behind: the source has changed since.
Kind: TypeAlias = Literal[
    "text", "orphan", "vector", "digest", "summary", "count", "space", "behind"
]


@dataclass(frozen=True, slots=True)
class IndexProblem:
    """where: the document, space or source that has the problem; empty for the tenant."""

    kind: Kind
    where: str
    detail: str
    is_repaired: bool = False
