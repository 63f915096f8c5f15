"""Which audiences see a changed chunk.

Pure.
"""

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from index.invalidation.changes import ChangedChunk
from index.model.query import Filter
from index.model.scope import PUBLIC, Scope


class VisibleChunks:
    """Decides which audiences see a changed chunk; called for few rows, as chunks reach few.

    audiences: by number. partition: whose changes these are.
    """

    def __init__(self, audiences: Sequence[tuple[Scope, Filter]], partition: str) -> None:
        self._audiences = audiences
        self._partition = partition

    def __call__(self, chunk: ChangedChunk, audiences: NDArray[np.int32]) -> NDArray[np.bool_]:
        """For each audience, whether it may see the chunk."""
        return self._is_visible(chunk, audiences, Filter.admits)

    def of_document(self, chunk: ChangedChunk, audiences: NDArray[np.int32]) -> NDArray[np.bool_]:
        """For each audience, whether it may see the chunk's document, whatever the chunk's kind."""
        return self._is_visible(chunk, audiences, Filter.admits_document)

    def _is_visible(
        self,
        chunk: ChangedChunk,
        audiences: NDArray[np.int32],
        admits: Callable[[Filter, ChangedChunk], bool],
    ) -> NDArray[np.bool_]:
        is_visible = np.zeros(len(self._audiences), np.bool_)
        for audience in np.unique(audiences).tolist():
            scope, document_filter = self._audiences[audience]
            is_visible[audience] = self._is_in_scope(chunk, scope) and admits(
                document_filter, chunk
            )
        result: NDArray[np.bool_] = is_visible[audiences]
        return result

    def _is_in_scope(self, chunk: ChangedChunk, scope: Scope) -> bool:
        if self._partition == PUBLIC:
            return scope.public and chunk.tenant != scope.tenant and PUBLIC in chunk.readers
        return chunk.tenant == scope.tenant and scope.admits(chunk.owner, chunk.readers)
