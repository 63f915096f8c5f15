"""What counts the use of model services and checks budgets, if an extension does."""

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Protocol, TypeAlias

from gateway.monitoring.metrics import Metrics
from gateway.settings.settings import Settings
from index.postgres.database import Database


class UsageMeter(Protocol):
    def tokens(self, kind: str, tokens: int, /) -> None:
        """Count the tokens of one call.

        kind: `query` or `batch` of an embedder; `answer_input`, `answer_output` and the like of a
        language model.
        """

    def chunks(self, tenant: str, source: str, embedded: int, reused: int, /) -> None:
        """Count the chunks of a document that was written or found unchanged."""

    async def check(self) -> None:
        """Raise `BudgetSpent` if the budget of the billed tenant is spent."""

    async def is_budget_spent(self, tenant: str, /) -> bool: ...

    def drop_cached(self, tenant: str, /) -> None:
        """Read the tenant's budget again, as it has changed."""

    async def flush(self) -> None:
        """Store what this process has counted."""


# Stores what was counted as long as it is open.
OpenUsageMeter: TypeAlias = Callable[
    [Settings, Metrics, Database], AbstractAsyncContextManager[UsageMeter]
]


class NoUsageMeter:
    def tokens(self, *_: object) -> None: ...

    def chunks(self, *_: object) -> None: ...

    async def check(self) -> None: ...

    async def is_budget_spent(self, _tenant: str) -> bool:
        return False

    def drop_cached(self, _tenant: str) -> None: ...

    async def flush(self) -> None: ...


@asynccontextmanager
async def no_usage_meter(*_: object) -> AsyncIterator[UsageMeter]:
    yield NoUsageMeter()
