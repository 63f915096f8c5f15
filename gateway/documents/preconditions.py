"""`If-Match` and `If-None-Match` of writes: RFC 9110, section 13.

Two people who edit one document both begin with its `ETag`. The later write has an outdated one and
is refused, so that it does not undo the earlier one unseen. That holds for queued writes too: while
one waits, no conditional write of the document is accepted.
"""

import hashlib

import orjson
from starlette.requests import Request

from gateway import problems
from gateway.problems import Problem
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


def with_preconditions(request: Request, revise: Revise, noun: str = "document") -> Revise:
    """`revise`, which then raises a 412 `Problem` if the request's preconditions do not hold.

    noun: what the problem calls it.

    The writer commits only if the document is still the one that `revise` was given, so nothing
    comes between the check and the write. Rights are checked first: no tag tells of a document that
    the caller may not read.
    """
    if_match = request.headers.getlist("if-match")
    if_none_match = request.headers.getlist("if-none-match")
    if not if_match and not if_none_match:
        return revise

    def checked(stored: Document | None) -> Document:
        document = revise(stored)
        etag = None if stored is None else etag_of(stored)
        if if_match and not _is_listed(etag, if_match):
            raise problems.precondition_failed("If-Match", f"The {noun} has changed since.")
        if if_none_match and _is_listed(etag, if_none_match):
            raise problems.precondition_failed("If-None-Match", f"The {noun} exists already.")
        return document

    return checked


def _is_listed(etag: str | None, headers: list[str]) -> bool:
    tags = {tag.strip() for header in headers for tag in header.split(",")}
    return etag is not None and ("*" in tags or etag in tags)
