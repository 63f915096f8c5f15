"""Runs the steps of a search plan, all at one revision.

A step runs as soon as the steps that it uses have finished. A commit between two answers may make
the earlier one older than the other. The plan then runs again at the later revision, and most of
its answers come from the cache. If writers commit faster than that, the steps run one after the
other in one snapshot.

A step whose filter takes what an earlier step found counts only if both answers are correct at one
revision.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

import orjson

from cache.lookup import ServedAnswer
from cache.protocol import Revisions
from gateway.search.answer_bytes import HeldAnswers
from gateway.search.pipeline import get_or_compute
from gateway.search.plans import references
from gateway.search.plans.one_revision import ROUNDS_MAX, connection_limit, latest_revisions
from gateway.search.plans.plan_schemas import PlanBody, SearchStepBody, StepBody
from gateway.search.plans.references import Hit, Resolved
from gateway.search.plans.set_operations import combine
from gateway.search.response_body import build_answer, search_index
from gateway.search.search_request import SearchRequest, require_received
from gateway.search.search_services import SearchServices
from index.tenants.principals import Principal


@dataclass(frozen=True, slots=True)
class AnsweredStep:
    """A finished step. request, served: None if it took no search.

    seconds: from the time at which the steps that it uses had finished.
    """

    body: bytes
    seconds: float = 0.0
    resolved: Resolved = field(default_factory=dict)
    request: SearchRequest | None = None
    served: ServedAnswer | None = None

    def hits(self) -> list[Hit]:
        hits: list[Hit] = orjson.loads(self.body)["hits"]
        return hits


AnsweredSteps: TypeAlias = Mapping[str, AnsweredStep]
_Search: TypeAlias = Callable[[SearchRequest], Awaitable[ServedAnswer]]

_NO_HITS = b'{"hits":[]}'


@dataclass(frozen=True, slots=True)
class PlanRun:
    """One run of a valid plan by a principal.

    held: counts the answers. answered: the steps that have finished so far.
    """

    services: SearchServices
    principal: Principal
    plan: PlanBody
    held: HeldAnswers
    answered: dict[str, AnsweredStep] = field(default_factory=dict)

    async def run(self, revisions: Revisions, ends_s: float | None) -> AnsweredSteps:
        """The finished steps, all correct at one revision; all steps, unless the time ends.

        ends_s: on the clock of `time.perf_counter`; None for no end before the deadline.
        """
        timeout_s = None if ends_s is None else max(0.0, ends_s - time.perf_counter())
        try:
            async with asyncio.timeout(timeout_s) as timeout:
                await self._run_at_one_revision(revisions)
        except TimeoutError:
            if not timeout.expired():
                raise
        return _of_one_revision(self.plan.steps, self.answered, revisions)

    async def _run_at_one_revision(self, revisions: Revisions) -> None:
        steps = self.plan.steps
        for _ in range(ROUNDS_MAX):
            self._forget_answers()
            await self._run_concurrently(revisions)
            if len(_of_one_revision(steps, self.answered, revisions)) == len(steps):
                return
            revisions = latest_revisions(_served(self.answered), revisions)
        self._forget_answers()
        await self._run_in_snapshot(revisions.history)

    def _forget_answers(self) -> None:
        for step in self.answered.values():
            self.held.release(step.body)
        self.answered.clear()

    async def _run_concurrently(self, revisions: Revisions) -> None:
        """If one step fails, the others are cancelled."""
        connections = connection_limit(self.services)
        tasks: dict[str, asyncio.Task[None]] = {}

        async def search(request: SearchRequest) -> ServedAnswer:
            async with connections:
                needed = revisions.of(request.scope.partitions)
                return await get_or_compute(self.services, request, needed)

        async def run(number: int, step: StepBody) -> None:
            for name in step.needs:
                await tasks[name]
            await self._run_step(number, step, search)

        for number, step in enumerate(self.plan.steps):
            tasks[step.name] = asyncio.create_task(run(number, step))
        try:
            await asyncio.gather(*tasks.values())
        finally:
            while tasks:  # the failure's traceback holds this frame, and each task its result
                tasks.popitem()[1].cancel()

    async def _run_in_snapshot(self, history: str) -> None:
        """The steps one after the other on one connection; none of the answers is cached."""
        services = self.services

        async def search(request: SearchRequest) -> ServedAnswer:
            scope, query = request.scope, request.query
            result = await search_index(services.searcher, scope, query, history)
            metrics = services.metrics.search
            return ServedAnswer.of_computed(
                request.own_key,
                await build_answer(result, scope, query, services.rag_tools, metrics),
            )

        async with services.stores.database.searching.snapshot(self.principal.tenant):
            for number, step in enumerate(self.plan.steps):
                await self._run_step(number, step, search)

    async def _run_step(self, number: int, step: StepBody, search: _Search) -> None:
        started_s = time.perf_counter()
        hits = {name: self.answered[name].hits() for name in step.needs}
        resolved: Resolved = {}
        request = served = None
        if isinstance(step, SearchStepBody):
            resolved = references.resolve(step, hits)
            if references.finds_nothing(resolved):
                body = _NO_HITS
            else:
                request = self._request(number, references.resolved_search(step, resolved))
                served = await search(request)
                body = served.body
        else:
            combined = combine(step.operation, [hits[name] for name in step.of])
            body = orjson.dumps({"hits": combined[: step.top_k]})
        self.held.hold(body)
        seconds = time.perf_counter() - started_s
        self.answered[step.name] = AnsweredStep(body, seconds, resolved, request, served)

    def _request(self, number: int, step: SearchStepBody) -> SearchRequest:
        request = self.services.request_of(self.principal, step)
        require_received(request, self.services.settings, f"steps.{number}.")
        return request


def _of_one_revision(
    steps: Iterable[StepBody], answered: AnsweredSteps, revisions: Revisions
) -> AnsweredSteps:
    """The steps that are correct at the latest revision that any of them has reached."""
    latest = latest_revisions(_served(answered), revisions)
    consistent: dict[str, AnsweredStep] = {}
    for step in steps:
        one = answered.get(step.name)
        if one is None or not step.needs <= consistent.keys():
            continue
        if one.served is None or one.served.valid_until.reach(
            latest.of(one.served.valid_until.by_partition).without_audiences()
        ):
            consistent[step.name] = one
    return consistent


def _served(answered: AnsweredSteps) -> Sequence[ServedAnswer]:
    return [one.served for one in answered.values() if one.served is not None]
