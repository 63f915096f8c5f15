"""What the crash tests share: the steps of a write, what is written, what must hold after it."""

import asyncio
from collections.abc import Mapping

import asyncpg

from gateway.settings.settings import Settings
from ingest.chunkers.structure import chunks
from tests.gateway.support.audits import audited
from tests.gateway.support.gateways import Caller

WAIT_S_MAX = 60.0
PARTS = 40
BEFORE, AFTER = "said", "says now"
# Of the write path: what has come when somebody dies, and how often a worker that does so has begun
# the job once another has done it.
STEPS = {
    "claimed, not committed": ("jobs.claim", 1),
    "planned": ("documents.stored", 2),
    "before embedding": ("documents.planned_embeddings", 2),
    "embedded, not kept": ("embedded", 2),
    "vectors kept": ("documents.put_embeddings", 2),
    "documents locked": ("documents.versions", 2),
    "half written": ("documents.remove_chunks", 2),
    "before the commit": ("documents.advance", 2),
    "after the commit": ("change_log.since", 2),
    "before acknowledging": ("drained", 2),
}
SAMPLED_STEPS = ("half written", "after the commit")  # all that `make test` has time for


def text(verb: str) -> str:
    """Every third part is another one in another version."""
    return "\n\n".join(
        f"# Part {number}\n\nWhat part {number} of the handbook {BEFORE if number % 3 else verb}."
        for number in range(PARTS)
    )


async def is_as(url: str, sources: Mapping[str, str]) -> None:
    """The index holds these texts, each chunk of them once, and nothing else."""
    expected = {
        name: (content, [(each.start, each.end, each.digest) for each in chunks(content)])
        for name, content in sources.items()
    }
    assert await _stored(url) == expected


async def _stored(url: str) -> dict[str, tuple[str, list[tuple[int, int, bytes]]]]:
    """Each document's text and chunks, as they lie in the tables."""
    connection = await asyncpg.connect(url)
    try:
        rows = await connection.fetch(
            "SELECT document_id, document_texts.text, start_at, end_at, digest FROM documents "
            "JOIN document_texts USING (document_key) LEFT JOIN chunk_texts USING (document_key) "
            "ORDER BY document_id, start_at"
        )
        vectors = await connection.fetch("SELECT count(*) AS n FROM chunks")
    finally:
        await connection.close()
    assert vectors[0]["n"] == len(rows)
    found: dict[str, tuple[str, list[tuple[int, int, bytes]]]] = {}
    for row in rows:
        _, parts = found.setdefault(row["document_id"], (row["text"], []))
        parts.append((row["start_at"], row["end_at"], row["digest"]))
    return found


async def fill_the_cache(caller: Caller) -> None:
    """As soon as there are a database to ask and a cache to keep what it says."""
    async with asyncio.timeout(WAIT_S_MAX):
        for number in range(0, PARTS, 3):
            while not await _is_kept(caller, f"what part {number} says"):
                await asyncio.sleep(0.05)


async def _is_kept(caller: Caller, question: str) -> bool:
    answer = await caller.call("POST", "/v1/search", json={"query": question})
    status = answer.headers.get("cache-status", "")
    return status.endswith("stored") or "; hit" in status


async def no_answer_is_wrong(settings: Settings) -> None:
    assert set(await audited(settings)) == {"equal"}
