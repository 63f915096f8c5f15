"""`POST /v1/documents/batch`: many documents in one request, one per line."""

from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import count

import orjson
from starlette.responses import Response, StreamingResponse

from common.shares.turns import map_in_steps
from gateway.extension import (
    AuthenticatedRequest,
    DocumentServices,
    RequestContext,
    document_update,
    enqueue_write,
    problems,
    queued_body,
    revision_header,
    schemas,
    write_answer,
)
from gateway.extensions._batches.lines import lines_of
from gateway.extensions._batches.write_batches import batches
from gateway.extensions.documents_batch.batch_schemas import BatchLine
from index.errors import (
    BudgetSpent,
    DatabaseUnavailable,
    EmbeddingUnavailable,
    PayloadTooLarge,
    QueueFull,
    SourceReserved,
)
from ingest.write.revision import Outcome, Put, Written


@dataclass(frozen=True, slots=True)
class QueuedLine:
    """A line that became a job. is_budget_spent: the job waits because the budget is spent."""

    job_id: str
    is_budget_spent: bool


async def put_batch(context: RequestContext[DocumentServices]) -> Response:
    """One result line for each line of the body, in order; a bad line does not stop the others."""
    caller = await context.authenticate()
    return StreamingResponse(
        _put_lines(context, caller, await lines_of(context)), media_type="application/x-ndjson"
    )


async def _put_lines(
    context: RequestContext[DocumentServices], caller: AuthenticatedRequest, lines: list[bytes]
) -> AsyncIterator[bytes]:
    """Yield the results of each batch; after a 401 or a lost database later lines fail likewise."""
    final: Outcome | QueuedLine | None = None
    encode = partial(_encode_result, context, caller, count(1))
    for batch in batches(lines, len):
        outcomes = [final] * len(batch) if final else await _write_lines(context, batch)
        yield b"".join(await map_in_steps(encode, outcomes))
        final = next(filter(_is_final, outcomes), None)


async def _write_lines(
    context: RequestContext[DocumentServices], lines: Sequence[bytes]
) -> list[Outcome | QueuedLine]:
    """Write with the caller's present rights; queue the lines that the embedder fails."""
    try:
        caller = await context.authenticate()
        puts = await context.threads.map(partial(_parse_put, context, caller), lines)
    except Exception as error:
        return [error] * len(lines)
    valid = [put for put in puts if isinstance(put, Put)]
    with context.span("write"):
        outcomes = iter(await context.services.writer.put_all(caller.principal.tenant, valid))
    results: list[Outcome | QueuedLine] = [
        next(outcomes) if isinstance(put, Put) else put for put in puts
    ]
    try:
        await _queue_lines(context, caller, lines, results)
    except DatabaseUnavailable as error:
        return [error] * len(lines)
    return results


async def _queue_lines(
    context: RequestContext[DocumentServices],
    caller: AuthenticatedRequest,
    lines: Sequence[bytes],
    results: list[Outcome | QueuedLine],
) -> None:
    """Queue the lines that the embedder failed, unless a later line has written the document."""
    written = {
        result.document_id: index
        for index, result in enumerate(results)
        if isinstance(result, Written)
    }
    for index, result in enumerate(results):
        if not isinstance(result, EmbeddingUnavailable):
            continue
        parse = partial(_parse_to_queue, context)
        ((document, payload),) = await context.threads.map(parse, [lines[index]])
        if index < written.get(document.document_id, 0):
            continue
        try:
            job_id = await enqueue_write(
                context.services, caller, document.document_id, document, payload
            )
            results[index] = QueuedLine(job_id, isinstance(result, BudgetSpent))
        except (PayloadTooLarge, QueueFull, SourceReserved) as error:
            results[index] = error


def _parse_put(
    context: RequestContext[DocumentServices], caller: AuthenticatedRequest, line: bytes
) -> Put | problems.Problem:
    try:
        document = _parse_line(context, line)
    except problems.Problem as problem:
        return problem
    language = context.services.settings.language
    return document_update.put_of(caller, document.document_id, document, language)


def _parse_to_queue(
    context: RequestContext[DocumentServices], line: bytes
) -> tuple[BatchLine, bytes]:
    """The document, and the body of a `PUT` of it."""
    document = _parse_line(context, line)
    payload = document.model_dump_json(exclude={"document_id"}, exclude_unset=True)
    return document, payload.encode()


def _is_final(outcome: Outcome | QueuedLine) -> bool:
    """Whether every later line would fail with the same error."""
    return isinstance(outcome, DatabaseUnavailable) or (
        isinstance(outcome, problems.Problem) and outcome.status == 401
    )


def _encode_result(
    context: RequestContext[DocumentServices],
    caller: AuthenticatedRequest,
    numbers: Iterator[int],
    outcome: Outcome | QueuedLine,
) -> bytes:
    """The next line of the response."""
    number = next(numbers)
    if isinstance(outcome, Exception):
        problem = problems.from_exception(outcome, context.trace.request_id)
        if problem.status == 403 and context.http.denials is not None:
            route = f"{context.request.method} {context.trace.route}"
            context.http.denials.add(caller.principal, problem.kind, route)
        result = {"line": number, **problem.body()}
    elif isinstance(outcome, QueuedLine):
        result = {"line": number, **queued_body(outcome.job_id).model_dump()}
        result |= {"budget": "exceeded"} if outcome.is_budget_spent else {}
    else:
        tenant = caller.principal.tenant
        revisions = outcome.revisions(tenant, caller.revisions.history)
        min_revision = revision_header(revisions, tenant).decode()
        result = {**write_answer(outcome).model_dump(), "min_revision": min_revision}
    return orjson.dumps(result, option=orjson.OPT_APPEND_NEWLINE)


def _parse_line(context: RequestContext[DocumentServices], line: bytes) -> BatchLine:
    bytes_max = context.services.settings.document_bytes_max
    if len(line) > bytes_max:
        raise problems.too_large(bytes_max)
    return schemas.parse(BatchLine, line)
