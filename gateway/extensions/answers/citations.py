"""Finds citation marks such as [2] in a generated answer, and the passages that they cite.

Pure.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Any

from gateway.extensions._passages.passage import Passage

_MARK = re.compile(r"\[(\d{1,3})\]")


class CitationParser:
    """Parses an answer that arrives in pieces. text: the pieces so far."""

    def __init__(self, passages: Sequence[Passage]) -> None:
        self._passages = passages
        self._parsed_until = 0
        self.text = ""
        self.citations: list[dict[str, Any]] = []

    def feed(self, piece: str) -> Iterator[dict[str, Any]]:
        """The citations that this piece completes; a mark without a passage is not a citation."""
        self.text += piece
        for match in _MARK.finditer(self.text, self._parsed_until):
            self._parsed_until = match.end()
            number = int(match[1])
            if 1 <= number <= len(self._passages):
                passage = self._passages[number - 1]
                citation = {
                    "mark": match[0],
                    "start": match.start(),
                    "end": match.end(),
                    **passage.cited_fields,
                }
                self.citations.append(citation)
                yield citation
