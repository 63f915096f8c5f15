"""Documents at rest: read, listed, and changed in one transaction with their change row."""

import asyncio
from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from itertools import chain, islice

from pgvector import HalfVector

from index import chunk_rows, forgetting, heard, outbox, vocabulary
from index.chunk_rows import Added, Kept
from index.database import Database, Row, Session
from index.document import Document
from index.errors import DatabaseUnavailable, TenantMissing
from index.heard import By, Hearing
from index.outbox import Change, Committed
from index.query import Filter
from index.rows import document_of, fields_of
from index.scope import PUBLIC, Scope
from index.visible import which
from index.vocabulary import Extent, Learned

_MOVING_PAUSE_S = 0.1
_MOVING_PAUSES_MAX = 300  # half a minute; a tenant of 34,000 chunks is moved in a second


@dataclass(frozen=True, slots=True)
class Summary:
    """A summary of text[start:end] of its document."""

    chunk_id: int
    digest: bytes
    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True)
class Stored:
    """A document as it is, its chunks in the order of the text, and the version that this is.

    revision: the tenant's, when this was read.
    places: where each chunk begins and ends. summaries: chunks that are in none of those three.
    """

    document: Document
    version: int
    revision: int
    chunk_ids: tuple[int, ...]
    digests: tuple[bytes, ...]
    places: tuple[tuple[int, int], ...]
    summaries: tuple[Summary, ...] = ()

    @property
    def all_ids(self) -> tuple[int, ...]:
        return (*self.chunk_ids, *(summary.chunk_id for summary in self.summaries))


@dataclass(frozen=True, slots=True)
class Write:
    """One document's next version. `version` is the stored one it was planned from, 0 if none.

    space: of the added chunks' vectors; None if there are none.
    words: what the tenant's vocabulary learns of it; see `spelling.words_of`.
    strays: further chunks to remove, should the tables hold less or more of them than they ought.
    stored: what it was planned from; None if there is none, or nobody knows: then caches take every
            kept chunk for another one.
    """

    document: Document
    version: int
    added: Sequence[Added]
    kept: Sequence[Kept]
    removed: Sequence[int]
    space: str | None = None
    words: Collection[str] = ()
    strays: Sequence[int] = ()
    stored: Document | None = None


class Documents:
    def __init__(self, database: Database, *, unlearn_s: float = 60.0) -> None:
        """unlearn_s: how long the words of what is forgotten wait for more to come."""
        self._database = database
        self._searching = database.searching
        self._learned = Learned()
        self._unlearn_s = unlearn_s

    async def stored(self, tenant: str, document_id: str) -> Stored | None:
        return (await self.stored_all(tenant, [document_id])).get(document_id)

    async def stored_all(self, tenant: str, document_ids: Sequence[str]) -> dict[str, Stored]:
        """Those of the documents that there are, all as of one instant."""
        rows = await self._database.rows("documents.stored", tenant, document_ids)
        return {row["document_id"]: _stored(row) for row in rows}

    async def space(self, tenant: str) -> str | None:
        """The space of the tenant's vectors; None if there are none yet. Raises `TenantMissing`."""
        row = await self._database.row("spaces.current", tenant)
        if row is None:
            raise TenantMissing(tenant)
        space: str | None = row["space"]
        return space

    async def read(self, scope: Scope, wanted: Filter, document_id: str) -> Document | None:
        """The document, if it is one of the tenant that the scope admits and the filter wants."""
        row = await self._searching.row("search.document", *which(scope, wanted), document_id)
        return None if row is None else document_of(row)

    async def read_any(self, scope: Scope, wanted: Filter, document_id: str) -> Document | None:
        """As `read`; if the tenant has none, what another one has made public."""
        arguments = (*which(scope, wanted), document_id, scope.public)
        row = await self._searching.row("search.any_document", *arguments)
        return None if row is None else document_of(row)

    async def sources(self, scope: Scope, wanted: Filter, *, limit: int) -> dict[str, int]:
        """By source, how many of those documents it has."""
        rows = await self._searching.rows("search.sources", *which(scope, wanted), limit)
        return {row["source"]: row["documents"] for row in rows}

    async def page(
        self, scope: Scope, wanted: Filter, *, after: str, source: str | None, limit: int
    ) -> list[Document]:
        """Up to `limit` of those documents, by identifier, without texts."""
        rows = await self._searching.rows(
            "search.documents", *which(scope, wanted), after, source, limit
        )
        return [document_of(row) for row in rows]

    async def of_source(self, tenant: str, source: str) -> list[str]:
        rows = await self._database.rows("documents.of_source", tenant, source)
        return [row["document_id"] for row in rows]

    async def known_embeddings(
        self, tenant: str, space: str, digests: Collection[bytes]
    ) -> dict[bytes, HalfVector]:
        rows = await self._database.rows("documents.known_embeddings", tenant, space, list(digests))
        return {row["digest"]: row["dense"] for row in rows}

    async def keep_embeddings(
        self, tenant: str, space: str, embeddings: Mapping[bytes, HalfVector]
    ) -> None:
        digests = sorted(embeddings)  # in one order for all, so that writers can't deadlock
        dense = [embeddings[digest] for digest in digests]
        await self._database.rows("documents.keep_embeddings", tenant, space, digests, dense)

    async def apply_all(
        self, tenant: str, writes: Sequence[Write], by: By | None = None
    ) -> list[Committed | None]:
        """Commit writes of different documents together.

        None for those whose document, or the tenant's space, has changed since the plan: nothing of
        them is committed.
        by: the job's run or the event that writes them, which must not have been overtaken; what is
        new overtakes what is queued for it, unless that is the job.
        """
        document_ids = [write.document.document_id for write in writes]
        async with self._writing(tenant, document_ids) as (session, before):
            # New sources are locked one by one: in one order for all, so that nobody can deadlock.
            timely = sorted(
                (write for write in writes if before.is_of(write)),
                key=lambda write: write.document.source,
            )
            if not timely:
                return [None] * len(writes)
            newer = [one.document.document_id for one in timely if one.document != one.stored]
            await heard.overtake(session, tenant, newer, by)
            changes = await _put(session, tenant, before, timely)
            all_words = chain.from_iterable(one.words for one in timely)
            words = self._learned.others(tenant, before.vocabulary.era, all_words)
            await vocabulary.learn(session, tenant, words)
            done = {
                one.document.document_id: outbox.done_to(one.version, one.stored, one.document)
                for one in timely
            }
            committed = await outbox.commit(session, tenant, changes, "write", done)
            space = next((write.space for write in timely if write.added), None)
            if space is not None:
                new = [*chain.from_iterable(change.added for change in changes)]
                await forgetting.keep_again(session, tenant, space, new)
        self._learned.remember(tenant, before.vocabulary.era, words)
        return [committed if before.is_of(write) else None for write in writes]

    async def put_access(
        self,
        tenant: str,
        stored: Stored,
        *,
        owner: str | None,
        readers: Sequence[str],
        words: Collection[str] = (),
        by: Hearing | None = None,
    ) -> Committed | None:
        """Change who may read the document, or nothing and None if it has changed since.

        words: what the tenant's vocabulary learns by it.
        by: the event that says so; what is queued for the document still comes.
        """
        document_id = stored.document.document_id
        async with self._writing(tenant, [document_id]) as (session, before):
            row = before.rows.get(document_id)
            if row is None or row["version"] != stored.version:
                return None
            if by is not None:
                await heard.keep(session, tenant, by)
            await session.rows("documents.put_access", tenant, document_id, owner, list(readers))
            await vocabulary.learn(session, tenant, words)
            change = Change(
                row["document_key"],
                stored.document.language,
                was_public=PUBLIC in row["readers"],
                is_public=PUBLIC in readers,
                chunks_before=row["chunks"],
                chunks=row["chunks"],
                touched=stored.all_ids,
            )
            told, done = {"owner": owner, "readers": list(readers)}, {document_id: "shared"}
            return await outbox.commit(session, tenant, [change], "share", done, **told)

    async def remove(
        self, tenant: str, stored: Stored, by: By | None = None, *, forget: bool = False
    ) -> Committed | None:
        """Remove the document and its chunks, or nothing and None if it has changed since.

        forget: its vectors too, which would else stay, should its words come back. Raises
                `QueueFull` if nothing more can wait for its words to be forgotten.
        """
        document_id = stored.document.document_id
        async with self._writing(tenant, [document_id]) as (session, before):
            row = before.rows.get(document_id)
            if row is None or row["version"] != stored.version:
                return None
            await heard.overtake(session, tenant, [document_id], by)
            digests = await forgetting.digests(session, row["document_key"]) if forget else []
            await session.rows("documents.remove", tenant, document_id)
            change = Change(
                row["document_key"],
                stored.document.language,
                was_public=PUBLIC in row["readers"],
                is_public=False,
                chunks_before=row["chunks"],
                chunks=0,
                removed=stored.all_ids,
            )
            done = {document_id: "removed"}
            committed = await outbox.commit(session, tenant, [change], "remove", done)
            if not forget:
                return committed
            forgotten = await forgetting.forget(
                session, tenant, document_id, digests, unlearn_s=self._unlearn_s
            )
            return replace(committed, forgotten=forgotten)

    @asynccontextmanager
    async def _writing(
        self, tenant: str, document_ids: Sequence[str]
    ) -> AsyncIterator[tuple[Session, "_Before"]]:
        """A transaction in which nobody else can change these documents.

        While the tenant's chunks are being moved it is waited for on no connection, for searches
        need them.
        """
        for _ in range(_MOVING_PAUSES_MAX):
            async with self._database.transaction() as session:
                if await session.value("documents.enter", tenant):
                    yield session, await _locked(session, tenant, document_ids)
                    return
            await asyncio.sleep(_MOVING_PAUSE_S)
        raise DatabaseUnavailable(f"the chunks of {tenant} are being moved")


@dataclass(frozen=True, slots=True)
class _Before:
    """What nobody else can change until the transaction ends: the tenant's space, and documents.

    vocabulary: the tenant's, which may learn more words but forget none.
    rows: by identifier, of those that exist.
    """

    space: str | None
    vocabulary: Extent
    rows: Mapping[str, Row]

    def is_of(self, write: Write) -> bool:
        """Whether this is what the write was planned from."""
        row = self.rows.get(write.document.document_id)
        version = 0 if row is None else row["version"]
        spaces = {self.space, write.space} - {None}
        return version == write.version and len(spaces) < 2


async def _locked(session: Session, tenant: str, document_ids: Sequence[str]) -> _Before:
    await session.rows("documents.lock", tenant, document_ids)
    rows = await session.rows("documents.versions", tenant, document_ids)
    if not rows:
        raise TenantMissing(tenant)
    documents = {row["document_id"]: row for row in rows if row["document_id"] is not None}
    extent = Extent(rows[0]["history"], rows[0]["words"])
    return _Before(rows[0]["space"], extent, documents)


async def _put(
    session: Session, tenant: str, before: _Before, writes: Sequence[Write]
) -> list[Change]:
    """Write the documents and their chunks."""
    rows = await session.rows_each(
        "documents.put", [(tenant, *fields_of(write.document), _chunks(write)) for write in writes]
    )
    keys = [row["document_key"] for row in rows]
    removed = [chunk_id for write in writes for chunk_id in write.removed]
    if removed:
        await session.rows("documents.remove_chunks", tenant, removed)
    if strays := [chunk_id for write in writes for chunk_id in write.strays]:
        await session.rows("documents.remove_strays", tenant, strays)
    new = [(key, chunk) for key, write in zip(keys, writes, strict=True) for chunk in write.added]
    added = await chunk_rows.add(session, tenant, new)
    kept = [chunk for write in writes for chunk in write.kept]
    moved = await chunk_rows.keep(session, tenant, kept)
    return [
        _change(
            key,
            before.rows.get(write.document.document_id),
            write,
            added=list(islice(added, len(write.added))),
            moved=moved,
        )
        for key, write in zip(keys, writes, strict=True)
    ]


def _change(
    key: int, before: Row | None, write: Write, *, added: Sequence[int], moved: Collection[int]
) -> Change:
    """moved: chunks that stand elsewhere in their text; of other documents too."""
    was, document = write.stored, write.document
    is_alike = was is not None and outbox.is_alike(was, document)
    is_elsewhere = was is not None and was.uri != document.uri
    untouched = [kept.chunk_id for kept in write.kept if is_alike and kept.lexical is None]
    return Change(
        key,
        document.language,
        was_public=before is not None and PUBLIC in before["readers"],
        is_public=PUBLIC in document.readers,
        chunks_before=before["chunks"] if before is not None else 0,
        chunks=_chunks(write),
        added=added,
        removed=sorted({*write.removed, *write.strays}),
        touched=[kept.chunk_id for kept in write.kept if not is_alike or kept.lexical is not None],
        moved=[chunk_id for chunk_id in untouched if is_elsewhere or chunk_id in moved],
    )


def _chunks(write: Write) -> int:
    return len(write.added) + len(write.kept)


def _stored(row: Row) -> Stored:
    return Stored(
        document=document_of(row),
        version=row["version"],
        revision=row["revision"],
        chunk_ids=tuple(row["chunk_ids"]),
        digests=tuple(row["digests"]),
        places=tuple(zip(row["starts"], row["ends"], strict=True)),
        summaries=tuple(Summary(*summary) for summary in row["summaries_told"] or ()),
    )
