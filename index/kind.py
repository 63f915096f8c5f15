"""The kinds of chunks: pieces of a document's text, and summaries of the whole or of a section."""

from collections.abc import Sequence
from typing import Literal, TypeAlias

Kind: TypeAlias = Literal["text", "summary"]

KINDS: Sequence[Kind] = ("text", "summary")  # by their numbers in the tables
