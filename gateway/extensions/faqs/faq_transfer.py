"""Import and export of FAQs: one FAQ a line or a row, in the same form."""

from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from functools import partial
from typing import Any

import orjson
from starlette.responses import Response, StreamingResponse

from gateway.extension import (
    BATCH_DOCUMENTS_MAX,
    AuthenticatedRequest,
    DocumentServices,
    RequestContext,
    document_update,
    make_confirmed,
    problems,
    schemas,
)
from gateway.extensions._batches.lines import lines_of
from gateway.extensions._batches.write_batches import batches
from gateway.extensions._records import faq_text
from gateway.extensions.faqs import faq_csv, faq_document, faq_store
from gateway.extensions.faqs.faq_endpoints import authenticated_admin, log_reads
from gateway.extensions.faqs.faq_schemas import FaqImported, FaqLine
from gateway.extensions.faqs.faq_store import FaqPosition, StoredFaq
from gateway.extensions.faqs.import_line import ImportLine
from gateway.extensions.faqs.page_stream import PageStream
from index.errors import DatabaseUnavailable
from ingest.write.revision import Outcome, Put, Written

_NDJSON = "application/x-ndjson"
_CSV = "text/csv"
_EXPORT_PAGE = 500


async def export_faqs(context: RequestContext[DocumentServices]) -> Response:
    """Every FAQ in the order of the list; a write meanwhile may be in it or not."""
    await authenticated_admin(context)
    return PageStream(_exported_lines(context), _NDJSON)


async def export_csv(context: RequestContext[DocumentServices]) -> Response:
    """Every FAQ as `export_faqs` has it, a row each below a header."""
    await authenticated_admin(context)
    return PageStream(_exported_rows(context), _CSV)


async def _exported_lines(context: RequestContext[DocumentServices]) -> AsyncGenerator[bytes]:
    async for page in _pages(context):
        yield b"".join(orjson.dumps(fields, option=orjson.OPT_APPEND_NEWLINE) for fields in page)


async def _exported_rows(context: RequestContext[DocumentServices]) -> AsyncGenerator[bytes]:
    yield faq_csv.encode_header()
    async for page in _pages(context):
        yield faq_csv.encode_rows(page)


async def _pages(
    context: RequestContext[DocumentServices],
) -> AsyncGenerator[list[dict[str, Any]]]:
    """Each with the caller's present rights. Raises a 401 or 403 `Problem` once they have ended."""
    after: FaqPosition | None = None
    while True:
        page = await make_confirmed(context, partial(_page, context, after))
        if not page:
            return
        yield [
            faq_document.to_faq(row.document).model_dump(exclude={"document_id"}) for row in page
        ]
        if len(page) < _EXPORT_PAGE:
            return
        after = page[-1].position


async def _page(
    context: RequestContext[DocumentServices], after: FaqPosition | None
) -> list[StoredFaq]:
    caller = await authenticated_admin(context)
    tenant, database = caller.principal.tenant, context.services.stores.database
    page = await faq_store.page(database, tenant, after=after, limit=_EXPORT_PAGE)
    log_reads(context, caller, page)
    return page


async def import_faqs(context: RequestContext[DocumentServices]) -> Response:
    """One result line for each line of the body, in order; a bad line does not stop the others."""
    await authenticated_admin(context)
    lines = [ImportLine(number, line) for number, line in enumerate(await lines_of(context), 1)]
    return StreamingResponse(_imported(context, lines), media_type=_NDJSON)


async def import_csv(context: RequestContext[DocumentServices]) -> Response:
    """One result line for each row, by its first line in the file; a bad row stops no other."""
    await authenticated_admin(context)
    parse = partial(faq_csv.to_lines, rows_max=BATCH_DOCUMENTS_MAX)
    (lines,) = await context.threads.map(parse, [context.body])
    return StreamingResponse(_imported(context, lines), media_type=_NDJSON)


async def _imported(
    context: RequestContext[DocumentServices], lines: list[ImportLine]
) -> AsyncIterator[bytes]:
    """Yield a result per line; after a 401 or a lost database all later lines fail the same way."""
    final: Outcome | None = None
    for batch in batches(lines, lambda line: len(line.body)):
        outcomes = (
            [final] * len(batch)
            if final
            else await _write_lines(context, [line.body for line in batch])
        )
        for line, outcome in zip(batch, outcomes, strict=True):
            yield _encode_result(context, line, outcome)
        final = next(filter(_is_final, outcomes), None)


async def _write_lines(
    context: RequestContext[DocumentServices], lines: Sequence[bytes]
) -> list[Outcome]:
    """Write with the caller's present rights."""
    try:
        caller = await authenticated_admin(context)
        puts = await context.threads.map(partial(_parse_line, context, caller), lines)
    except Exception as error:
        return [error] * len(lines)
    valid = [put for put in puts if isinstance(put, Put)]
    with context.span("write"):
        outcomes = iter(await context.services.writer.put_all(caller.principal.tenant, valid))
    return [next(outcomes) if isinstance(put, Put) else put for put in puts]


def _parse_line(
    context: RequestContext[DocumentServices], caller: AuthenticatedRequest, line: bytes
) -> Put | problems.Problem:
    try:
        body = schemas.parse(FaqLine, line)
    except problems.Problem as problem:
        return problem
    faq_id = body.id or faq_text.id_of(body.question)
    document = faq_document.to_document(faq_id, body, context.services.settings.language)
    revise = faq_document.revised(document)
    return Put(
        document.document_id,
        revise,
        may_publish=document_update.may_publish(caller.principal),
        author=document_update.author_of(caller.principal),
    )


def _is_final(outcome: Outcome) -> bool:
    """Whether every later line would fail with the same error."""
    return isinstance(outcome, DatabaseUnavailable) or (
        isinstance(outcome, problems.Problem) and outcome.status == 401
    )


def _encode_result(
    context: RequestContext[DocumentServices], line: ImportLine, outcome: Outcome
) -> bytes:
    if isinstance(outcome, Written):
        result = FaqImported(
            line=line.number,
            id=faq_document.id_of(outcome.document_id),
            document_id=outcome.document_id,
            revision=outcome.revision,
            warning=line.warning,
        ).model_dump(exclude_none=True)
    else:
        problem = problems.from_exception(outcome, context.trace.request_id)
        result = {"line": line.number, **problem.body()}
    return orjson.dumps(result, option=orjson.OPT_APPEND_NEWLINE)
