"""`If-Match` and `If-None-Match` of reads and writes: RFC 9110, section 13.

A reader that has the document already gets a 304 without it.

Two people who edit one document both begin with its `ETag`. The later write has an outdated one and
is refused, so that it does not undo the earlier one unseen. A deletion and a change of readers are
writes too. That holds for queued writes as well: while one waits, no conditional write of the
document is accepted.
"""

import hashlib

import orjson
from starlette.requests import Request
from starlette.responses import Response

from gateway.http.entity_tags import is_listed
from gateway.http.responses import STRONG_HEADER
from gateway.problems import problems
from gateway.problems.problems import Problem
from index.jobs.job_queue import JobQueue
from index.model.document import Document
from ingest.write.revision import Revise


def etag_of(document: Document) -> str:
    """The entity tag, quoted: equal for two documents with equal fields, readers included."""
    fields = (
        document.title,
        document.text,
        document.source,
        document.uri,
        document.language,
        document.tags,
        dict(document.metadata),
        document.owner,
        document.readers,
        document.chunker,
        document.summaries,
        *(() if document.is_active else (document.is_active,)),
        document.provenance.to_json(),
    )
    encoded = orjson.dumps(fields, option=orjson.OPT_SORT_KEYS)
    return f'"{hashlib.blake2b(encoded, digest_size=16).hexdigest()}"'


def has_preconditions(request: Request) -> bool:
    return "if-match" in request.headers or "if-none-match" in request.headers


def queued_write_exists() -> Problem:
    """For a conditional write of a document that a queued write is about to change."""
    return problems.precondition_failed(
        "If-Match", "The document has changed since, or another write of it is queued."
    )


async def require_no_queued_write(
    request: Request, jobs: JobQueue, tenant: str, document_id: str
) -> None:
    """A 412 `Problem` for a conditional write while another one of the document waits."""
    if has_preconditions(request) and await jobs.is_document_awaited(tenant, document_id):
        raise queued_write_exists()


def with_preconditions(request: Request, revise: Revise, noun: str = "document") -> Revise:
    """`revise`, which then raises a 412 `Problem` if the request's preconditions do not hold.

    The writer commits only if the document is still the one that `revise` was given, so nothing
    comes between the check and the write. Rights are checked first: no tag tells of a document that
    the caller may not read.
    """
    if not has_preconditions(request):
        return revise

    def checked(stored: Document | None) -> Document:
        document = revise(stored)
        require_preconditions(request, stored, noun)
        return document

    return checked


def require_preconditions(request: Request, stored: Document | None, noun: str) -> None:
    """A 412 `Problem` if the preconditions do not hold for what is stored; noun: its name."""
    if not has_preconditions(request):
        return
    etag = None if stored is None else etag_of(stored)
    if_match = request.headers.getlist("if-match")
    if if_match and not is_listed(etag, if_match):
        raise problems.precondition_failed("If-Match", f"The {noun} has changed since.")
    if is_listed(etag, request.headers.getlist("if-none-match")):
        raise problems.precondition_failed("If-None-Match", f"The {noun} exists already.")


def with_etag(request: Request, document: Document, response: Response) -> Response:
    """The response to a read, with the document's tag; a 304 if the reader has sent that tag.

    The tag stands for the fields, not for the times at which they changed.
    """
    etag = etag_of(document)
    if is_listed(etag, request.headers.getlist("if-none-match"), is_weak=True):
        response = Response(status_code=304)
        response.raw_headers.append(STRONG_HEADER)
    response.headers["ETag"] = etag
    return response
