"""The audit of the index of tenants, one after the other, for `nearhit audit index`."""

from collections.abc import AsyncIterator, Callable, Sequence

from gateway.extension import IndexProblem, Services
from gateway.extensions.audits.index_audit_job import index_problems


async def problems(
    services: Services,
    tenants: Sequence[str],
    on_documents: Callable[[int], None],
    *,
    repair: bool,
) -> AsyncIterator[tuple[str, IndexProblem]]:
    """The tenant of each problem, and the problem.

    on_documents: called with the number of further documents checked.
    """
    for tenant in tenants:
        async for problem in index_problems(services.worker, tenant, on_documents, repair=repair):
            yield tenant, problem
