"""Turns at the event loop: no tenant's steps wait behind all those of another one.

A task runs in steps, from one `await` that has to wait to the next one. An event loop runs steps in
the order in which they became ready, so a tenant with a hundred requests under way delays each step
of everybody's by a hundred of its own.

1. Of the tenants with waiting steps, one has used the least time. A step runs at once unless its
   own tenant has used `_SLICE_S` more than that one. Otherwise it waits in its tenant's queue.
2. Every other iteration of the loop runs some waiting steps, about `_SLICE_S` of them: those of the
   tenant that has used the least. The clients of a tenant take turns.
3. A tenant that has used less than the others is owed at most `_CREDIT_S`, so that what it does now
   and then, such as a write, is as quick as when it is alone, and does not delay others for longer.
   Once no step waits, all have used the same.
4. Beside others, a tenant's long steps keep at most half of the processors busy (`long_step`).

This is start-time fair queueing (Goyal et al., SIGCOMM 1996) with the measured length of each step.
A single long step is not interrupted. It counts with its processor time: for the rest it waited for
a processor or the interpreter, perhaps because of the others' threads. What a tenant's threads
compute counts too (`common.shares.threads`): the event loop has to wait for them.
"""

import asyncio
import os
import time
from collections import deque
from collections.abc import (
    AsyncGenerator,
    AsyncIterator,
    Callable,
    Coroutine,
    Generator,
    Iterable,
)
from contextlib import asynccontextmanager
from contextvars import ContextVar
from math import inf
from types import TracebackType
from typing import Any, Protocol, Self, TypeVar

from common import tracebacks
from common.shares.slots import FairSlots

S = TypeVar("S")
T = TypeVar("T")

# Measured with `make soak ONLY=greedy`: with a slice of 1 ms, 16 steps and no credit, the P99 of a
# tenant's searches beside one that opens 4,096 connections is 3.0 times that without, now 1.4.
_SLICE_S = 0.0005
_LONE_SLICE_S = 0.002  # of a tenant that nobody is beside: to wait for a turn costs system calls
_CREDIT_S = 0.03
_LOOK_S = 0.001  # between two looks at the processor time, which are costly beside other processes
_SLICE_BYTES = 65_536  # parsed in a fraction of a millisecond
_STEPS_MAX = 4  # of waiting ones in an iteration, which itself costs some microseconds
_SHARED_S = 1.0  # for so long a tenant counts as another one beside the next
LONG_STEPS_MAX = 64  # of all tenants that are beside others
LONG_STEPS_WAITING_MAX = 1_000  # of one tenant
_TENANT_LONG_STEPS_MAX = max(1, (os.cpu_count() or 1) // 2)
LONG_WAIT_S_MAX = 300.0


class Turn(asyncio.Future[None]):
    """Ends when the step that waits for it may run."""


class _Queue:
    """The turns that steps of one tenant wait for."""

    def __init__(self) -> None:
        self._by_client: dict[str, deque[Turn]] = {}  # in the order of their turns

    def __bool__(self) -> bool:
        return bool(self._by_client)

    def put(self, client: str, turn: Turn) -> None:
        self._by_client.setdefault(client, deque()).append(turn)

    def next(self) -> Turn:
        client = next(iter(self._by_client))
        turns = self._by_client.pop(client)
        turn = turns.popleft()
        if turns:
            self._by_client[client] = turns  # behind the others
        return turn


class FairTurns:
    """Belongs to one event loop.

    now_s: seconds, of a clock that never goes back. processor_s: those of this thread, which take
    ten times as long to read. tenant_long_steps_max: of one tenant beside others.
    """

    def __init__(
        self,
        now_s: Callable[[], float] = time.perf_counter,
        processor_s: Callable[[], float] = time.thread_time,
        tenant_long_steps_max: int = _TENANT_LONG_STEPS_MAX,
    ) -> None:
        self.now_s = now_s
        self._processor_s = processor_s
        self._looked_s = -inf  # at `processor_s`, while steps wait, at most once in a slice
        self._processor_used_s = 0.0  # by then
        self._queues: dict[str, _Queue] = {}
        self._used_s: dict[str, float] = {}  # since the last iteration at whose end no step waited
        self._floor_s = 0.0  # what the tenant had used that had the last turn
        self._least_s = -_CREDIT_S  # what a tenant has used at least, as far as turns are concerned
        self._slice_s = _SLICE_S
        self._stepped_s = 0.0  # in this iteration
        self._steps_together = 1
        self._are_steps_let = False
        self._is_scheduled = False
        self._last_tenant = ""
        self._changed_s = -inf  # when a step of another tenant than before ended
        self.long_steps = FairSlots(
            LONG_STEPS_MAX,
            tenant_slots_max=tenant_long_steps_max,
            waiting_max=LONG_STEPS_WAITING_MAX,
            wait_s_max=LONG_WAIT_S_MAX,
        )

    @property
    def is_shared(self) -> bool:
        """Whether steps of several tenants have ended within the last second."""
        return self.now_s() - self._changed_s < _SHARED_S

    def may_step(self, tenant: str) -> bool:
        """Whether a step of the tenant may run now; else it waits for its turn."""
        if not self._is_scheduled:
            self._is_scheduled = True
            asyncio.get_running_loop().call_soon(self._next_iteration)
        used_s = self._used_s.get(tenant, 0.0)
        return used_s < self._floor_s + self._slice_s and tenant not in self._queues

    def turn(self, tenant: str, client: str) -> Turn:
        """A turn for a step that may not run yet. client: the address for which it works."""
        turn = Turn()
        queue = self._queues.get(tenant)
        if queue is None:
            queue = self._queues[tenant] = _Queue()
            self._used_s[tenant] = max(self._used_s.get(tenant, 0.0), self._least_s)
        queue.put(client, turn)
        return turn

    def charge(self, tenant: str, seconds: float) -> None:
        """Count processor time that the tenant has used."""
        self._used_s[tenant] = max(self._used_s.get(tenant, 0.0), self._least_s) + seconds

    def charge_step(self, tenant: str, seconds: float) -> None:
        """Count a step of the tenant, which has taken so long."""
        if tenant != self._last_tenant and tenant:
            self._last_tenant = tenant
            self._changed_s = self.now_s()
            self._slice_s = _SLICE_S
        if seconds > _LOOK_S:
            seconds = min(seconds, self._used_since_look_s()) if self._queues else _LOOK_S
        self._stepped_s += seconds
        self._used_s[tenant] = max(self._used_s.get(tenant, 0.0), self._least_s) + seconds

    def _next_iteration(self) -> None:
        """Let steps run in every other iteration.

        Between them, those run that became ready during the last ones. Otherwise a further step of
        the busy tenant would always be before them.
        """
        self._are_steps_let = bool(self._queues) and not self._are_steps_let
        if self._are_steps_let:
            self._let_steps()
        self._is_scheduled = bool(self._queues)
        if self._is_scheduled:
            now_s = self.now_s()
            self._slice_s = _SLICE_S if now_s - self._changed_s < _SHARED_S else _LONE_SLICE_S
            if now_s - self._looked_s >= _LOOK_S:
                self._looked_s = now_s
                self._used_since_look_s()
            asyncio.get_running_loop().call_soon(self._next_iteration)
        else:  # no step waits, so no tenant has used less than its part
            self._are_steps_let = False
            self._used_s.clear()
            self._floor_s, self._least_s = 0.0, -_CREDIT_S

    def _used_since_look_s(self) -> float:
        """What this thread has used of a processor since the last look."""
        before_s, self._processor_used_s = self._processor_used_s, self._processor_s()
        return self._processor_used_s - before_s

    def _let_steps(self) -> None:
        if self._stepped_s > _SLICE_S:
            self._steps_together = max(1, self._steps_together // 2)
        else:
            self._steps_together = min(_STEPS_MAX, self._steps_together + 1)
        self._stepped_s = 0.0
        for _ in range(self._steps_together):
            if not self._queues:
                break
            self._let_one_step()

    def _let_one_step(self) -> None:
        tenant = min(self._queues, key=self._used_s.__getitem__)
        self._floor_s = max(self._floor_s, self._used_s[tenant])
        self._least_s = self._floor_s - _CREDIT_S
        queue = self._queues[tenant]
        while queue:
            turn = queue.next()
            if not turn.done():  # else its task was cancelled
                turn.set_result(None)
                break
        if not queue:
            del self._queues[tenant]


class TurnTaker(Protocol):
    """For whom a task works. tenant: may change while it works; empty while nobody is known.

    client: the address that the request came from.
    """

    @property
    def turns(self) -> FairTurns: ...
    @property
    def tenant(self) -> str: ...
    @property
    def client(self) -> str: ...


_taker: ContextVar[TurnTaker | None] = ContextVar("_taker", default=None)


def current_taker() -> TurnTaker | None:
    return _taker.get()


class SteppedCoroutine(Coroutine[Any, Any, T]):
    """The work, each of whose steps begins when it is the taker's turn.

    All other attributes are those of the work, so it looks like it in a task's stack.
    """

    __slots__ = ("_stepped_s", "_taker", "_thrown", "_turn", "_work")

    def __init__(self, taker: TurnTaker, work: Coroutine[Any, Any, T]) -> None:
        self._taker = taker
        self._work = work
        self._turn: Turn | None = None
        self._thrown: Any = None  # what to raise within the work when its turn comes
        self._stepped_s = taker.turns.now_s()

    @property
    def waited_s(self) -> float:
        """Since its last step has ended."""
        return self._taker.turns.now_s() - self._stepped_s

    def __getattr__(self, name: str) -> Any:
        return getattr(self._work, name)

    def __await__(self) -> Generator[Any, Any, T]:
        return self

    def __iter__(self) -> Self:
        return self

    def send(self, _: None) -> Any:  # asyncio sends nothing else
        return next(self)

    def __next__(self) -> Any:
        taker = self._taker
        tenant = taker.tenant  # whose turn it is, even if the step learns that it is another's
        if self._turn is not None:
            self._turn = None
        elif not taker.turns.may_step(tenant):
            self._turn = turn = taker.turns.turn(tenant, taker.client)
            turn._asyncio_future_blocking = True  # noqa: SLF001  as `Future.__await__` does
            return turn
        begun_s = taker.turns.now_s()
        try:
            if self._thrown is None:
                return self._work.send(None)
            return self._work.throw(self._take_thrown())
        except asyncio.CancelledError as error:
            tracebacks.release(error)  # its frames hold what the task worked on
            raise
        finally:
            self._stepped_s = taker.turns.now_s()
            taker.turns.charge_step(tenant, self._stepped_s - begun_s)

    def throw(
        self,
        kind: Any,
        value: BaseException | object = None,
        _trace: TracebackType | None = None,
    ) -> Any:
        """Raise within the work when it is the taker's turn: many may be cancelled at once.

        If it has waited for a turn, that was cancelled.
        """
        self._turn = None
        self._thrown = kind if value is None else value
        del kind, value  # the exception's traceback holds this frame, which must not hold it
        return next(self)

    def _take_thrown(self) -> Any:
        thrown, self._thrown = self._thrown, None
        return thrown

    def close(self) -> None:
        self._work.close()


def take_turns(taker: TurnTaker, work: Coroutine[Any, Any, T]) -> SteppedCoroutine[T]:
    """The work in steps that take turns; so do the tasks that it makes, with `make_task`.

    Called in a task of its own, since all that its context does from then on is for the taker.
    """
    _taker.set(taker)
    return SteppedCoroutine(taker, work)


@asynccontextmanager
async def long_step(tenant: str) -> AsyncIterator[None]:
    """Around what keeps a processor busy for long outside the event loop: a commit of many rows in
    the database, texts that a process plans or a thread embeds.

    While other tenants ask too, few of the tenant's go on at once, so that the short steps of the
    others find a processor free: the system lets a woken thread wait for some milliseconds if each
    processor has another. Raises `Saturated`.
    """
    taker = _taker.get()
    if taker is None or not taker.turns.is_shared:
        yield
        return
    async with taker.turns.long_steps.slot(tenant):
        yield


async def map_in_steps(function: Callable[[S], T], items: Iterable[S]) -> list[T]:
    """The result for each item, in steps of about `_SLICE_S`: other tenants' steps come between."""
    results = []
    ends_s = time.perf_counter() + _SLICE_S
    for item in items:
        results.append(function(item))
        if time.perf_counter() > ends_s:
            await asyncio.sleep(0)
            ends_s = time.perf_counter() + _SLICE_S
    return results


async def in_slices(data: bytes) -> AsyncGenerator[bytes, None]:
    """The data in parts, each for a step of its own."""
    for start in range(0, len(data), _SLICE_BYTES):
        yield data[start : start + _SLICE_BYTES]
        await asyncio.sleep(0)


def make_task(loop: asyncio.AbstractEventLoop, work: Any, **options: Any) -> "asyncio.Task[Any]":
    """The event loop's factory of tasks."""
    context = options.get("context")
    taker = _taker.get() if context is None else context.get(_taker)
    return asyncio.Task(
        work if taker is None else SteppedCoroutine(taker, work), loop=loop, **options
    )
