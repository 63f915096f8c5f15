"""The lines of a request's body, of which each is a document."""

from io import BytesIO
from itertools import islice

from gateway.extension import BATCH_DOCUMENTS_MAX, RequestContext, problems

_LINES_MAX = 2 * BATCH_DOCUMENTS_MAX  # with blank ones


async def lines_of(context: RequestContext[object]) -> list[bytes]:
    """The lines of the body that are not blank; a 422 `Problem` for none or too many."""
    (lines,) = await context.threads.map(_split, [context.body])
    return lines


def _split(body: bytes) -> list[bytes]:
    lines = [*islice(BytesIO(body), _LINES_MAX + 1)]  # not all of millions of blank lines
    filled = [line.removesuffix(b"\n") for line in lines if not line.isspace()]
    if len(lines) > _LINES_MAX or not 1 <= len(filled) <= BATCH_DOCUMENTS_MAX:
        raise problems.invalid_field("body", f"must have 1 to {BATCH_DOCUMENTS_MAX:,} lines")
    return filled
