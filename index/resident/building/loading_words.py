"""Reads a tenant's vocabulary for its shard: digests of its words, and hashes of near ones."""

from collections.abc import Sequence
from dataclasses import dataclass

from index.model.scope import PUBLIC
from index.postgres.session import Row, Session
from index.text import near_words
from index.text.near_words import NearWords
from index.text.vocabulary import DIGEST_BYTES, Extent, ResidentWords

_PAGE_WORDS = 10_000  # whose hashes PostgreSQL computes at a time, in about 0.5 s
NEAR_WORDS_MAX = 100_000  # of a vocabulary, about 15 MB of hashes; a starting value, not measured
LEARNED_WORDS_MAX = 5_000  # read with one change, in about 0.2 s; a starting value, not measured
_NEAR_LETTERS = (
    near_words.ONE_SLIP_LETTERS_MAX,
    near_words.TWO_SLIPS_LETTERS_MIN,
    near_words.PREFIX_LETTERS_MAX,
)


@dataclass(frozen=True, slots=True)
class ReadWords:
    """What was read of all words in one snapshot.

    digests: one after the other. near_hashes: of `NearWords`, in parts; None if there are too many
             words. snapshot_xmin: every earlier transaction has ended in the snapshot.
    has_restricted: whether there are words that only some may read.
    """

    extent: Extent
    digests: bytes
    near_hashes: Sequence[bytes] | None
    snapshot_xmin: int
    has_restricted: bool

    def build(self) -> ResidentWords:
        """Takes a tenth of a second for 60,000 words."""
        near = None if self.near_hashes is None else NearWords.of(b"".join(self.near_hashes))
        return ResidentWords.of(
            self.extent,
            self.digests,
            near,
            self.snapshot_xmin,
            has_restricted=self.has_restricted,
        )


async def read(session: Session, partition: str, head: Row) -> ReadWords | None:
    """All words of the partition; None for `public`. head: of `resident.partition`."""
    if partition == PUBLIC:
        return None
    row = await session.row("resident.words", partition)
    assert row is not None, "an aggregate has a row"
    digests = row["digests"] or b""
    near_hashes = await _read_near_hashes(session, partition, len(digests) // DIGEST_BYTES)
    return ReadWords(
        _extent(head), digests, near_hashes, head["snapshot_xmin"], row["has_restricted"]
    )


def has_learned(words: ResidentWords | None, head: Row) -> bool:
    """Whether the vocabulary has words that `read_learned` reads. head: of `resident.changes`."""
    if words is None or words.near is None:
        return False
    return 0 < words.lacks(_extent(head)) <= LEARNED_WORDS_MAX


async def read_learned(
    session: Session, partition: str, words: ResidentWords | None, head: Row
) -> ResidentWords | None:
    """The words and those learned since; without these if they are too many.

    head: of `resident.changes`.
    """
    if words is None or not has_learned(words, head):
        return words
    row = await session.row(
        "resident.learned_words",
        *(partition, words.snapshot_xmin, *_NEAR_LETTERS, LEARNED_WORDS_MAX),
    )
    assert row is not None, "a SELECT without FROM has a row"
    return words.with_learned(
        _extent(head),
        row["digests"] or b"",
        row["hashes"] or b"",
        row["snapshot_xmin"],
        has_restricted=row["has_restricted"],
    )


async def _read_near_hashes(session: Session, partition: str, words: int) -> list[bytes] | None:
    if words > NEAR_WORDS_MAX:
        return None
    pages = -(-words // _PAGE_WORDS)
    return [
        await session.value("resident.near_words", partition, page, *_NEAR_LETTERS, pages) or b""
        for page in range(pages)
    ]


def _extent(head: Row) -> Extent:
    return Extent(head["history"], head["vocabulary_size"])
