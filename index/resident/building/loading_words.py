"""Reads a tenant's vocabulary for its shard.

The session is of the tables' owner: the role of shards may read no word.
"""

import asyncio
from collections.abc import Mapping
from itertools import filterfalse

from index.model.scope import PUBLIC
from index.postgres.session import Row, Session
from index.vocabulary import resident_words
from index.vocabulary.extent import Extent
from index.vocabulary.resident_words import SHARED, ResidentWords

WORDS_MAX = 300_000  # of a vocabulary, about 15 MB; a starting value, not measured


async def read(session: Session, partition: str, head: Row) -> ResidentWords | None:
    """All words of the partition; None for `public`, and if they are too many.

    head: of `resident.partition`.
    """
    if partition == PUBLIC:
        return None
    row = await session.row("resident.words", partition, SHARED, WORDS_MAX + 1)
    assert row is not None, "an aggregate has a row"
    words, letters = await asyncio.to_thread(_parse, row)
    if sum(map(len, words.values())) > WORDS_MAX:
        return None
    separators = await _separators(session, resident_words.LETTERS | letters)
    build = ResidentWords.of  # takes 2 ms for 1,000 words
    return await asyncio.to_thread(build, _extent(head), words, separators, row["snapshot_xmin"])


def has_grown(words: ResidentWords, head: Row) -> bool:
    """Whether the vocabulary has learned words since. head: of `resident.changes`."""
    return words.lacks(_extent(head)) > 0


async def read_learned(
    session: Session, partition: str, words: ResidentWords, head: Row
) -> ResidentWords | None:
    """The words and those learned since; None if they are too many.

    head: of `resident.changes`.
    """
    extent = _extent(head)
    if words.entries + words.lacks(extent) > WORDS_MAX:
        return None
    row = await session.row(
        "resident.learned_words", partition, SHARED, WORDS_MAX + 1, words.snapshot_xmin
    )
    assert row is not None, "an aggregate has a row"
    learned, letters = _parse(row)
    separators = await _separators(session, letters - resident_words.LETTERS)
    learn = words.with_learned
    return await asyncio.to_thread(learn, extent, learned, separators, row["snapshot_xmin"])


def _parse(row: Row) -> tuple[Mapping[str, list[str]], frozenset[str]]:
    """The words by token, and their letters that are not ASCII."""
    tokens, texts = row["tokens"] or (), row["words"] or ()
    words = {token: text.split(" ") for token, text in zip(tokens, texts, strict=True)}
    letters = set[str]().union(*filterfalse(str.isascii, texts))
    return words, frozenset(filterfalse(str.isascii, letters))


async def _separators(session: Session, letters: frozenset[str]) -> str:
    """Those of the letters that pg_trgm does not take for a part of a word."""
    if not letters:
        return ""
    found: str | None = await session.value("resident.separators", "".join(sorted(letters)))
    return found or ""


def _extent(head: Row) -> Extent:
    return Extent(head["history"], head["vocabulary_size"])
