"""The summaries of a text as chunks, extracted or by a language model."""

from collections.abc import Mapping, Sequence

from ingest.chunkers.chunk import Chunk, summary_of
from ingest.summaries.extract import extract
from ingest.summaries.part import parts, parts_at


def summaries(text: str, llm_summaries: Mapping[str, str]) -> list[Chunk]:
    """One summary for each of `ingest.summaries.part.parts`.

    llm_summaries: by the text of a part; parts without one get an extract.
    """
    chunks = []
    for part in parts(text):
        body = text[part.start : part.end]
        if summary := llm_summaries.get(body) or extract(body):
            chunks.append(summary_of(part.start, part.end, summary, part.headings))
    return chunks


def rebuild_summaries(text: str, stored: Sequence[tuple[int, int, str]]) -> list[Chunk]:
    """The chunks of stored summaries: start and end of the part, and the summary."""
    text_parts = parts_at(text, [(start, end) for start, end, _ in stored])
    return [
        summary_of(part.start, part.end, summary, part.headings)
        for part, (_, _, summary) in zip(text_parts, stored, strict=True)
    ]
