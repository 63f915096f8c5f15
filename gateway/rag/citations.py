"""The marks in what a model writes, and what each of them means.

Pure.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Any

from gateway.rag.passage import Passage

_MARK = re.compile(r"\[(\d{1,3})\]")


class Citations:
    """Of a text that comes bit by bit."""

    def __init__(self, passages: Sequence[Passage]) -> None:
        self._passages = passages
        self._from = 0
        self.text = ""
        self.found: list[dict[str, Any]] = []

    def more(self, text: str) -> Iterator[dict[str, Any]]:
        """The marks that are whole now; a number that no passage has is none."""
        self.text += text
        for match in _MARK.finditer(self.text, self._from):
            self._from = match.end()
            number = int(match[1])
            if 1 <= number <= len(self._passages):
                passage = self._passages[number - 1]
                citation = {
                    "mark": match[0],
                    "start": match.start(),
                    "end": match.end(),
                    "chunk_id": passage.chunk_id,
                    "document_id": passage.document_id,
                }
                self.found.append(citation)
                yield citation
