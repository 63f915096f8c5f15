"""Documents over HTTP: written by their owners and the tenant's admins, read by their readers."""

import re
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from typing import Any

import orjson
from starlette.responses import Response, StreamingResponse

from gateway import problems, wire
from gateway.exchange import Exchange, answer, everything
from gateway.principal import Admitted
from gateway.problems import Problem
from gateway.wire import (
    AccessBody,
    BatchLine,
    ChunksAnswer,
    DocumentAnswer,
    DocumentBody,
    DocumentsAnswer,
    DocumentSummary,
    RevisionAnswer,
    WrittenAnswer,
)
from index import cut
from index.document import Document
from index.errors import DatabaseUnavailable
from ingest.batch import batches
from ingest.write import Outcome, Put, Revise, Written

_PAGE_MAX = 100


async def put_document(exchange: Exchange) -> Response:
    admitted = await exchange.admit()
    document_id = _document_id(exchange)
    body = await exchange.parse(DocumentBody, exchange.services.settings.document_bytes_max)
    revise = _revise(admitted, document_id, body, exchange.services.settings.language)
    written = await exchange.services.writer.put(admitted.holder.tenant, document_id, revise)
    return answer(_written(written))


async def put_batch(exchange: Exchange) -> Response:
    """One result line for each line of the body, in order; a bad line does not stop the others."""
    await exchange.admit()
    settings = exchange.services.settings
    body = await exchange.read(settings.batch_bytes_max)
    most = settings.batch_documents_max
    crowded = body.count(b"\n") > 2 * most  # blank lines are let pass, but not by the million
    lines = [] if crowded else [line for line in body.split(b"\n") if line.strip()]
    if crowded or not 1 <= len(lines) <= most:
        raise problems.invalid_field("body", f"must have 1 to {most:,} lines")
    return StreamingResponse(_put_lines(exchange, lines), media_type="application/x-ndjson")


async def _put_lines(exchange: Exchange, lines: list[bytes]) -> AsyncIterator[bytes]:
    """A result line for each; once the sender or the database is gone, the rest fails alike."""
    final: Outcome | None = None
    number = 0
    for batch in batches(lines, len):
        outcomes = [final] * len(batch) if final else await _put_together(exchange, batch)
        for outcome in outcomes:
            number += 1
            yield _result(exchange, number, outcome)
        final = next(filter(_is_final, outcomes), None)


async def _put_together(exchange: Exchange, lines: Sequence[bytes]) -> list[Outcome]:
    """Written as whoever the sender is by now."""
    try:
        admitted = await exchange.admit()
    except Exception as error:
        return [error] * len(lines)
    puts = [_put_line(exchange, admitted, line) for line in lines]
    good = [put for put in puts if isinstance(put, Put)]
    outcomes = iter(await exchange.services.writer.put_all(admitted.holder.tenant, good))
    return [next(outcomes) if isinstance(put, Put) else put for put in puts]


def _put_line(exchange: Exchange, admitted: Admitted, line: bytes) -> Put | Problem:
    try:
        document = _parse_line(exchange, line)
    except Problem as problem:
        return problem
    revise = _revise(admitted, document.document_id, document, exchange.services.settings.language)
    return Put(document.document_id, revise)


def _is_final(outcome: Outcome) -> bool:
    """Whether it would happen to each further line too."""
    return isinstance(outcome, DatabaseUnavailable) or (
        isinstance(outcome, Problem) and outcome.status == 401
    )


def _result(exchange: Exchange, number: int, outcome: Outcome) -> bytes:
    if isinstance(outcome, Exception):
        problem = problems.from_exception(outcome, exchange.trace.request_id)
        result = {"line": number, **problem.body()}
    else:
        result = _written(outcome).model_dump()
    return orjson.dumps(result, option=orjson.OPT_APPEND_NEWLINE)


def _parse_line(exchange: Exchange, line: bytes) -> BatchLine:
    bytes_max = exchange.services.settings.document_bytes_max
    if len(line) > bytes_max:
        raise problems.too_large(bytes_max)
    return wire.parse(BatchLine, line)


async def get_document(exchange: Exchange) -> Response:
    admitted = await exchange.admit()
    document = await exchange.services.documents.read(everything(admitted), _document_id(exchange))
    if document is None:
        raise _no_such_document()
    return answer(DocumentAnswer(text=document.text, **_summary(document)))


async def list_documents(exchange: Exchange) -> Response:
    """In the order of their identifiers; `cursor` is the last one of the page before."""
    admitted = await exchange.admit()
    query = exchange.request.query_params
    limit = query.get("limit", str(_PAGE_MAX))
    if not re.fullmatch("[0-9]{1,9}", limit) or not 1 <= int(limit) <= _PAGE_MAX:
        raise problems.invalid_field("limit", f"must be a number from 1 to {_PAGE_MAX}")
    page = await exchange.services.documents.page(
        everything(admitted),
        after=wire.checked("cursor", wire.LINE, query.get("cursor", "")),
        source=wire.checked("source", wire.LINE, query.get("source", "")) or None,
        limit=int(limit) + 1,
    )
    shown = page[: int(limit)]
    cursor = shown[-1].document_id if len(page) > len(shown) else None
    return answer(
        DocumentsAnswer(
            documents=tuple(DocumentSummary(**_summary(document)) for document in shown),
            cursor=cursor,
        )
    )


async def delete_document(exchange: Exchange) -> Response:
    admitted = await exchange.admit()
    written = await exchange.services.writer.remove(
        admitted.holder.tenant,
        _document_id(exchange),
        lambda stored: _may_change(admitted, stored),
    )
    return answer(RevisionAnswer(document_id=written.document_id, revision=written.revision))


async def patch_access(exchange: Exchange) -> Response:
    admitted = await exchange.admit()
    body = await exchange.parse(AccessBody, exchange.services.settings.search_bytes_max)
    written = await exchange.services.writer.put_access(
        admitted.holder.tenant,
        _document_id(exchange),
        lambda stored: _with_access(admitted, _may_change(admitted, stored), body),
    )
    return answer(RevisionAnswer(document_id=written.document_id, revision=written.revision))


def _revise(
    admitted: Admitted, document_id: str, body: DocumentBody, default_language: str
) -> Revise:
    """What the body makes of the stored document, whose owner and readers stay unless named."""
    access = AccessBody.model_validate(
        body.model_dump(include={"owner", "readers"} & body.model_fields_set)
    )

    def revise(stored: Document | None) -> Document:
        if stored is not None:
            _may_replace(admitted, stored)
        document = Document(
            document_id=document_id,
            title=body.title,
            text=body.text,
            source=body.source,
            uri=body.uri,
            language=body.language or default_language,
            tags=body.tags,
            metadata=body.metadata,
            owner=stored.owner if stored else admitted.holder.subject,
            readers=stored.readers if stored else (),
            cut=body.cut or (stored.cut if stored else cut.DEFAULT),
        )
        return _with_access(admitted, document, access)

    return revise


def _with_access(admitted: Admitted, document: Document, access: AccessBody) -> Document:
    named = access.model_fields_set
    if "owner" in named and access.owner not in (document.owner, admitted.holder.subject):
        _must_be_admin(admitted, "Only an admin can make somebody else, or nobody, the owner.")
    return replace(
        document,
        owner=access.owner if "owner" in named else document.owner,
        readers=document.readers if access.readers is None else access.readers,
    )


def _may_replace(admitted: Admitted, stored: Document) -> None:
    if _owns(admitted, stored):
        return
    if _reads(admitted, stored):
        raise problems.forbidden("Only the owner or an admin can change this document.")
    raise problems.conflict("document_id", "This identifier is taken; choose another one.")


def _may_change(admitted: Admitted, stored: Document | None) -> Document:
    """The stored document; what the caller can't read does not exist for it."""
    if stored is None or not (_owns(admitted, stored) or _reads(admitted, stored)):
        raise _no_such_document()
    if not _owns(admitted, stored):
        raise problems.forbidden("Only the owner or an admin can change this document.")
    return stored


def _owns(admitted: Admitted, document: Document) -> bool:
    holder = admitted.holder
    return document.owner == holder.subject or "admin" in holder.roles


def _reads(admitted: Admitted, document: Document) -> bool:
    return everything(admitted).admits(document.owner, document.readers)


def _must_be_admin(admitted: Admitted, detail: str) -> None:
    if "admin" not in admitted.holder.roles:
        raise problems.forbidden(detail)


def _no_such_document() -> Problem:
    return problems.not_found("document_id", "There is no such document, or you may not read it.")


def _document_id(exchange: Exchange) -> str:
    """The path's identifier, judged like the one of a batch line."""
    return wire.checked(
        "document_id", wire.DOCUMENT_ID, exchange.request.path_params["document_id"]
    )


def _summary(document: Document) -> dict[str, Any]:
    return {
        "document_id": document.document_id,
        "title": document.title,
        "source": document.source,
        "uri": document.uri,
        "language": document.language,
        "tags": document.tags,
        "metadata": dict(document.metadata),
        "owner": document.owner,
        "readers": document.readers,
        "cut": document.cut,
    }


def _written(written: Written) -> WrittenAnswer:
    return WrittenAnswer(
        document_id=written.document_id,
        revision=written.revision,
        chunks=ChunksAnswer(
            added=written.added,
            kept=written.kept,
            removed=written.removed,
            embedded=written.embedded,
        ),
    )
