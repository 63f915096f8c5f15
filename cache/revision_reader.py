"""Reads revisions from PostgreSQL: one statement for all waiting requests.

The order that makes it correct: (1) a request arrives and joins the batch that has not begun;
(2) the running statement, if any, ends; (3) the batch's statement begins. So no request gets a
revision that was read before it arrived.
"""

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Collection, Iterable, Mapping
from contextvars import Context
from dataclasses import dataclass, field
from typing import Generic, Protocol, TypeVar

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)

REMEMBERED_MAX = 100_000  # tenants; about 20 MB, more if they change all the time
_VALUES_MAX = 8  # values kept of one tenant: a starting value, not measured


class RevisionSource(Protocol[T_co]):
    async def revisions(self, tenants: Collection[str], /) -> Mapping[str, T_co]: ...


@dataclass(frozen=True, slots=True)
class EarlierReading(Generic[T_co]):
    """Values of tenants that were current within the last `age_s` seconds."""

    values: Mapping[str, T_co]
    age_s: float


def _anything(*_: object) -> bool:
    return True


class RevisionReader(Generic[T]):
    """T is the value that the source returns for a tenant; it omits unknown tenants.

    known: the tenants' values now, if this process knows them without a statement, or else None;
        absent if it never does. Equal values that follow each other are one object.
    """

    def __init__(
        self,
        source: RevisionSource[T],
        clock_s: Callable[[], float],
        known: Callable[[Collection[str]], Mapping[str, T] | None] | None = None,
    ) -> None:
        self._source = source
        self._clock_s = clock_s
        self._known = known
        # Values with the time of their last read, the newest last.
        self._values: OrderedDict[str, tuple[tuple[float, T], ...]] = OrderedDict()
        self._next: _Batch[T] | None = None
        self._runner: asyncio.Task[None] | None = None

    def known(self, tenants: Collection[str]) -> Mapping[str, T] | None:
        """The tenants' values now, if this process knows them without a statement."""
        if self._known is None:
            return None
        now_s = self._clock_s()  # before, so that a pause makes the values older, never younger
        known = self._known(tenants)
        return None if known is None else self._remember(known, now_s)

    def read(
        self,
        tenants: Collection[str],
        is_sufficient: Callable[[Mapping[str, T]], bool] = _anything,
    ) -> "asyncio.Future[Mapping[str, T]]":
        """The tenants' values, read after this call; from the source unless those known suffice."""
        loop = asyncio.get_running_loop()
        waiter: asyncio.Future[Mapping[str, T]] = loop.create_future()
        if self._known is not None:
            known = self.known(tenants)
            if known is not None and is_sufficient(known):
                waiter.set_result(known)
                return waiter
        if self._next is None:
            self._next = _Batch()
        self._next.tenants.update(tenants)
        self._next.waiters.append(waiter)
        if self._runner is None:
            # It reads for later requests too, and so belongs to the trace and the turns of none.
            self._runner = asyncio.Task(self._run(), loop=loop, context=Context())
        return waiter

    def latest(self, tenant: str, age_max_s: float) -> T | None:
        """The tenant's last value, if it was read within `age_max_s`."""
        history = self._values.get(tenant)
        if history is None or history[-1][0] < self._clock_s() - age_max_s:
            return None
        return history[-1][1]

    def is_only(self, tenant: str, value: T | None, age_s: float) -> bool:
        """Whether the tenant's last value is this object, and no other was read within `age_s`."""
        history = self._values.get(tenant)
        if history is None or history[-1][1] is not value:
            return False
        return len(history) == 1 or history[-2][0] < self._clock_s() - age_s

    def newest(self, tenants: Collection[str], age_max_s: float) -> EarlierReading[T] | None:
        """The last value of each tenant; None if one was not read within `age_max_s`."""
        return self._earlier(tenants, age_max_s, reversed, _anything)

    def oldest(
        self,
        tenants: Collection[str],
        age_max_s: float,
        is_usable: Callable[[str, T], bool] = _anything,
    ) -> EarlierReading[T] | None:
        """The oldest usable value of each tenant read within `age_max_s`; None if one has none."""
        return self._earlier(tenants, age_max_s, iter, is_usable)

    def _earlier(
        self,
        tenants: Collection[str],
        age_max_s: float,
        in_order: Callable[[tuple[tuple[float, T], ...]], Iterable[tuple[float, T]]],
        is_usable: Callable[[str, T], bool],
    ) -> EarlierReading[T] | None:
        now_s = self._clock_s()
        values, begun_at_s = {}, now_s
        for tenant in tenants:
            for read_at_s, value in in_order(self._values.get(tenant, ())):
                if read_at_s >= now_s - age_max_s and is_usable(tenant, value):
                    values[tenant] = value
                    begun_at_s = min(begun_at_s, read_at_s)
                    break
            else:
                return None
        return EarlierReading(values, now_s - begun_at_s)

    async def _run(self) -> None:
        while self._next is not None:
            batch, self._next = self._next, None
            begun_at_s = self._clock_s()
            try:
                values = await self._source.revisions(batch.tenants)
            except Exception as error:
                for waiter in batch.waiters:
                    if not waiter.done():
                        waiter.set_exception(error)
                continue
            values = self._remember(values, begun_at_s)
            for waiter in batch.waiters:
                if not waiter.done():
                    waiter.set_result(values)
        self._runner = None

    def _remember(self, values: Mapping[str, T], read_at_s: float) -> Mapping[str, T]:
        """The values, as the same objects as before where they have not changed."""
        remembered = {}
        for tenant, current in values.items():
            value, earlier = current, self._values.get(tenant, ())
            if earlier and earlier[-1][1] == current:
                value, earlier = earlier[-1][1], earlier[:-1]
            self._values[tenant] = (*earlier[1 - _VALUES_MAX :], (read_at_s, value))
            self._values.move_to_end(tenant)
            remembered[tenant] = value
        while len(self._values) > REMEMBERED_MAX:
            self._values.popitem(last=False)
        return remembered


@dataclass(slots=True)
class _Batch(Generic[T]):
    """The requests that wait for one statement; each has its own future, which it may cancel."""

    tenants: set[str] = field(default_factory=set)
    waiters: "list[asyncio.Future[Mapping[str, T]]]" = field(default_factory=list)
