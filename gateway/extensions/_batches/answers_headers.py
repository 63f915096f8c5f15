"""The headers of several answers of one revision: where they come from, and which it is."""

from collections.abc import Sequence

from cache.lookup import ServedAnswer
from cache.protocol import Revisions
from gateway.extension import (
    AuthenticatedRequest,
    Header,
    RequestContext,
    cache_headers,
    degraded_header,
    revision_header,
)


def answers_headers(
    context: RequestContext[object],
    answers: Sequence[ServedAnswer],
    caller: AuthenticatedRequest,
    *details: Header,
) -> list[Header]:
    """details: tell how the answers were made, if the settings allow it."""
    tenant = caller.principal.tenant
    revisions = _common_revisions(answers) if answers else caller.revisions.of([tenant])
    hits = sum(answer.tier != "miss" for answer in answers)
    outcome = b"hit" if hits == len(answers) else b"fwd=miss"
    cache_status = b'nearhit; %b; detail="%d of %d"' % (outcome, hits, len(answers))
    return [
        *cache_headers(context.http.settings, (b"cache-status", cache_status), *details),
        (b"nearhit-revision", revision_header(revisions, tenant)),
        (b"nearhit-consistency", caller.kept_promise(revisions)),
        *next(filter(None, map(degraded_header, answers)), []),
    ]


def _common_revisions(answers: Sequence[ServedAnswer]) -> Revisions:
    """The revisions up to which answers of one revision are correct."""
    revisions = [answer.valid_until for answer in answers]
    numbers = {name: number for one in revisions for name, number in one.by_partition.items()}
    return Revisions(revisions[0].history, numbers)
