"""A real handbook's commits replayed: chunks embedded, beside those of Nearhit's own chunker."""

import asyncio
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from itertools import groupby
from typing import Any

import asyncpg
from rich.progress import Progress

from ingest.chunkers import structure
from ingest.chunkers.chunk import Chunk
from loadtests.bench.frame import Run
from loadtests.bench.section import Bar, Section, list_section
from loadtests.servers import service
from loadtests.servers.service import Service
from loadtests.workload import handbook
from loadtests.workload.handbook import Edit
from loadtests.workload.tenant_client import TenantClient, new_tenant

_NAIVE_MAX, _DISTINCT_MAX = 0.25, 1.15
_COMPARED_EVERY = 100  # commits
_QUICK_COMMITS = 20
_FRONT_MATTER = re.compile(r"\A\s*---[ \t]*\n.*?^---[ \t]*\n", re.DOTALL | re.MULTILINE)
_HOW = (
    "The handbook as it was is written first, then its commits one after the other, each document "
    "with a PUT; then what the commit has removed or moved away is deleted, which forgets the "
    "vectors that no document needs any more. *Naive* embeds each chunk of a document that a "
    "commit writes. *Distinct* are the digests of all chunks that any version of any document has. "
    "Every hundredth commit the same documents are written to another, empty tenant, and all that "
    "is stored of the two is compared: fields, texts, places, digests and both vectors of each "
    "chunk."
)
_ROWS = {
    "commits": ("commits", ",d"),
    "written": ("documents written", ",d"),
    "removed": ("documents removed", ",d"),
    "naive": ("chunks of the documents written: naive", ",d"),
    "embedded": ("chunks embedded", ",d"),
    "before": ("chunks embedded before the first commit", ",d"),
    "digests": ("distinct chunks, the first ones included", ",d"),
    "compared": ("documents compared with fresh ones", ",d"),
}


@dataclass(slots=True)
class ReplayCost:
    """Counts of the commits; `before` is the first writing of the handbook.

    naive: all chunks of the written documents. compared, unequal: documents.
    """

    before: int
    commits: int = 0
    written: int = 0
    removed: int = 0
    naive: int = 0
    embedded: int = 0
    compared: int = 0
    unequal: int = 0
    digests: set[bytes] = field(default_factory=set)


def measure(run: Run) -> Section:
    book = handbook.read(run.data)
    edits = [edit for edit in book.edits if not run.is_quick or edit.commit < _QUICK_COMMITS]
    with (
        service.nearhit() as gateway,
        new_tenant(gateway, "handbook") as tenant,
        run.progress() as progress,
    ):
        cost = _replay(gateway, tenant, book.texts, edits, progress)
    of_naive = cost.embedded / cost.naive
    of_distinct = (cost.before + cost.embedded) / len(cost.digests)
    figures = {**asdict(cost), "digests": len(cost.digests)}
    bars = [
        Bar("chunks embedded, of the naive count", of_naive, at_most=_NAIVE_MAX),
        Bar("chunks embedded, of the distinct ones", of_distinct, at_most=_DISTINCT_MAX),
        Bar("documents unlike freshly written ones", cost.unequal, at_most=0),
    ]
    return list_section("A history of edits", _HOW, figures, _ROWS, bars)


def _replay(
    gateway: Service,
    tenant: TenantClient,
    texts: Mapping[str, str],
    edits: Sequence[Edit],
    progress: Progress,
) -> ReplayCost:
    now = {path: _document(text) for path, text in texts.items()}
    cost = ReplayCost(before=_write_all(tenant, now))
    cost.digests |= {
        chunk.digest for document in now.values() for chunk in chunks(document["text"])
    }
    commits = [
        list(commit_edits) for _, commit_edits in groupby(edits, key=lambda edit: edit.commit)
    ]
    for commit in progress.track(commits, description="replaying commits"):
        cost.commits += 1
        _apply(commit, tenant, now, cost)
        if cost.commits % _COMPARED_EVERY == 0 or cost.commits == len(commits):
            _compare(gateway, now, cost)
    return cost


def _write_all(tenant: TenantClient, documents: Mapping[str, dict[str, Any]]) -> int:
    """How many chunks that embedded."""
    return sum(tenant.put_one(path, **document)["embedded"] for path, document in documents.items())


def _apply(
    commit: Sequence[Edit], tenant: TenantClient, now: dict[str, dict[str, Any]], cost: ReplayCost
) -> None:
    """Write before deleting: a deletion forgets vectors, and who moves a file keeps its text."""
    written = {edit.path: _document(edit.text) for edit in commit if edit.path is not None}
    for path, document in written.items():
        counts = tenant.put_one(path, **document)
        cost.written += 1
        cost.naive += counts["added"] + counts["unchanged"]
        cost.embedded += counts["embedded"]
        cost.digests |= {chunk.digest for chunk in chunks(document["text"])}
    now |= written
    for path in {edit.gone for edit in commit if edit.gone is not None} - written.keys():
        tenant.remove(path)
        del now[path]
        cost.removed += 1


def _compare(gateway: Service, now: Mapping[str, dict[str, Any]], cost: ReplayCost) -> None:
    name = f"fresh-{cost.commits}"
    with new_tenant(gateway, name) as fresh:
        _write_all(fresh, now)
    ours = asyncio.run(content(gateway.database_url, "handbook"))
    theirs = asyncio.run(content(gateway.database_url, name))
    assert theirs.keys() == now.keys(), "what was written is there"
    cost.compared += len(theirs)
    cost.unequal += sum(
        ours.get(document_id) != theirs.get(document_id)
        for document_id in ours.keys() | theirs.keys()
    )


def _document(text: str) -> dict[str, Any]:
    """Without its front matter, as a folder's would be read, unless there is nothing else."""
    body = _FRONT_MATTER.sub("", text)
    return handbook.document(text) | {"text": body if body.strip() else text}


_CONTENT = """
SELECT documents.document_id, md5(concat_ws(chr(31),
    title, source, uri, language, tags, metadata, owner, readers, chunker, summaries,
    document_texts.text,
    string_agg(concat_ws(chr(31), start_at, end_at, chunk_texts.text, digest, dense, lexical),
        chr(30) ORDER BY start_at, chunk_id)))
FROM documents JOIN document_texts USING (document_key)
LEFT JOIN (chunks JOIN chunk_texts USING (chunk_id, document_key)) USING (tenant, document_key)
WHERE tenant = $1 GROUP BY document_key, document_texts.text
"""


def chunks(text: str) -> list[Chunk]:
    return structure.chunks(text)


async def content(url: str, tenant: str) -> dict[str, str]:
    """By document, a digest of all that is stored of it and its chunks."""
    connection = await asyncpg.connect(url)
    try:
        rows = await connection.fetch(_CONTENT, tenant)
        return {row["document_id"]: row["md5"] for row in rows}
    finally:
        await connection.close()
