"""The answer to what is wanted: from a cache, or computed; and what is noted of giving it."""

from cache.answers import Asked, Served
from cache.protocol import Revisions
from gateway.curation.low_confidence_log import UNSURE
from gateway.search.response_body import compute
from gateway.search.search_request import Wanted
from gateway.services import Services


async def answered(services: Services, wanted: Wanted, revisions: Revisions) -> Served:
    """An answer that is right at `revisions`, of each partition of the scope.

    Raises `DatabaseUnavailable`.
    """
    return await services.answers.get(
        await _asked(services, wanted),
        revisions,
        lambda: compute(
            services.searcher, wanted.scope, wanted.query, services.assisting, revisions.history
        ),
    )


def note(services: Services, wanted: Wanted, served: Served) -> None:
    """Who was shown what, and what could not be answered; now and then, whether it was right."""
    services.seen.answer(wanted.principal, wanted.key, served.body)
    services.auditor.sample(wanted.scope, wanted.query, wanted.key, served)
    if served.body.endswith(UNSURE):
        services.assisting.doubts.add(wanted.scope.tenant, wanted.query.text, served.body)


async def _asked(services: Services, wanted: Wanted) -> Asked:
    question = None
    if wanted.family:
        question = await services.judge.question(wanted.family, wanted.query.text)
    return Asked(wanted.scope.tenant, wanted.key, question)
