"""The threads in which a model on this machine embeds, shared by tenants.

Queries never wait for passages, and a tenant's passages never wait for those of one other tenant.
"""

from collections.abc import Callable
from typing import ParamSpec, TypeVar

from common.billing_context import billed_tenant
from common.shares.threads import FairThreads
from common.shares.turns import long_step

P = ParamSpec("P")
T = TypeVar("T")

# Starting values, not measured. One tenant uses half of the threads at most.
QUERY_THREADS = 4
PASSAGE_THREADS = 2
_QUERIES_WAITING_MAX = 1_000  # of one tenant
_QUERY_WAIT_S_MAX = 5.0
_PASSAGES_WAITING_MAX = 1_000  # batches of one tenant
_PASSAGES_WAIT_S_MAX = 300.0


class EmbedderThreads:
    """Each call counts for the tenant that pays. Raises `Saturated`."""

    def __init__(self) -> None:
        self._queries = FairThreads(
            QUERY_THREADS,
            name="embed-query",
            waiting_max=_QUERIES_WAITING_MAX,
            wait_s_max=_QUERY_WAIT_S_MAX,
        )
        self._passages = FairThreads(
            PASSAGE_THREADS,
            name="embed-passages",
            waiting_max=_PASSAGES_WAITING_MAX,
            wait_s_max=_PASSAGES_WAIT_S_MAX,
        )

    async def embed_query(
        self, embed: Callable[P, T], *arguments: P.args, **keywords: P.kwargs
    ) -> T:
        return await self._queries.run(billed_tenant() or "", embed, *arguments, **keywords)

    async def embed_passages(
        self, embed: Callable[P, T], *arguments: P.args, **keywords: P.kwargs
    ) -> T:
        tenant = billed_tenant() or ""
        async with long_step(tenant):
            return await self._passages.run(tenant, embed, *arguments, **keywords)
