"""The summaries of a text as chunks, whoever has written them."""

from collections.abc import Mapping, Sequence

from index.documents.document_store import StoredSummary
from ingest.chunkers.chunk import Chunk, summary_of
from ingest.summaries.extract import extract
from ingest.summaries.part import part_at, parts


def summaries(text: str, said: Mapping[str, str]) -> list[Chunk]:
    """One of each part that is worth it, by `ingest.summaries.part`.

    said: by the text of a part, what a model says of it; the others are summed up in their own
    words.
    """
    chunks = []
    for part in parts(text):
        body = text[part.start : part.end]
        if told := said.get(body) or extract(body):
            chunks.append(summary_of(part.start, part.end, told, part.headings))
    return chunks


def rebuild_summaries(text: str, stored: Sequence[tuple[int, int, str]]) -> list[Chunk]:
    """Those that are stored: start, end and what is said of what is between."""
    found = part_at(text, [(start, end) for start, end, _ in stored])
    return [
        summary_of(part.start, part.end, told, part.headings)
        for part, (_, _, told) in zip(found, stored, strict=True)
    ]


def llm_summary_texts(text: str, stored: Sequence[StoredSummary]) -> dict[str, str]:
    """By the text of a part, what is said of it in other words than its own.

    An extract took the place of a model that was away: it can be asked again.
    """
    told = {text[each.start : each.end]: each.text for each in stored}
    return {body: said for body, said in told.items() if said != extract(body)}
