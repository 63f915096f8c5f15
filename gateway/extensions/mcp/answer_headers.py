"""The headers of a result that an answer to a search was made into."""

from gateway.extension import (
    AnsweredSearch,
    Headers,
    RequestContext,
    cache_headers,
    cache_status,
    revision_header,
)


def answer_headers(context: RequestContext[object], answered: AnsweredSearch) -> Headers:
    """Where the answer comes from, up to which revision it is correct, and its promise."""
    answer, tenant = answered.answer, answered.request.scope.tenant
    return [
        *cache_headers(context.http.settings, (b"cache-status", cache_status(answer))),
        (b"nearhit-revision", revision_header(answer.valid_until, tenant)),
        (b"nearhit-consistency", answered.consistency),
    ]
