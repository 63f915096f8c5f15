"""Runs the steps of a search plan, all at one revision.

A step runs as soon as the steps that it uses have finished. A commit between two answers may make
the earlier one older than the other. The plan then runs again at the later revision, and answers
that a commit did not concern stay. If writers commit faster than that, the steps run one after the
other in one snapshot.

A step whose filter takes what an earlier step found counts only if both answers are correct at one
revision.
"""

import asyncio
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from cache.lookup import ServedAnswer
from cache.protocol import Revisions
from gateway.extension import (
    SearchRequest,
    SearchServices,
    decode_in_steps,
    encode_answer,
)
from gateway.extensions._batches.held_answers import HeldAnswers
from gateway.extensions._batches.one_revision import ConsistentSearches, SearchRound
from gateway.extensions.plans import references
from gateway.extensions.plans.plan_schemas import PlanBody, SearchStepBody, StepBody
from gateway.extensions.plans.references import Hit, Resolved
from gateway.extensions.plans.set_operations import combine
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

    async def hits(self) -> list[Hit]:
        hits: list[Hit] = (await decode_in_steps(self.body))["hits"]
        return hits


AnsweredSteps: TypeAlias = Mapping[str, AnsweredStep]

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
        searches = ConsistentSearches(self.services, self.principal.tenant, revisions)
        timeout_s = None if ends_s is None else max(0.0, ends_s - time.perf_counter())
        try:
            async with asyncio.timeout(timeout_s) as timeout:
                await searches.run(self._run_steps)
        except TimeoutError:
            if not timeout.expired():
                raise
        return self._consistent_steps(searches)

    async def _run_steps(self, searches: SearchRound) -> None:
        for earlier in self.answered.values():
            self.held.release(earlier.body)
        self.answered.clear()
        finished = {step.name: asyncio.Event() for step in self.plan.steps}

        async def run(number: int, step: StepBody) -> None:
            for name in step.needs:
                await finished[name].wait()
            await self._run_step(number, step, searches)
            finished[step.name].set()

        await searches.run_all(run(number, step) for number, step in enumerate(self.plan.steps))

    async def _run_step(self, number: int, step: StepBody, searches: SearchRound) -> None:
        started_s = time.perf_counter()
        hits = {name: await self.answered[name].hits() for name in step.needs}
        resolved: Resolved = {}
        request = served = None
        if isinstance(step, SearchStepBody):
            resolved = references.resolve(step, hits)
            if references.finds_nothing(resolved):
                body = _NO_HITS
            else:
                request = self._request(number, references.resolved_search(step, resolved))
                served = await searches.search(request)
                body = served.body
        else:
            combined = combine(step.operation, [hits[name] for name in step.of])
            body = encode_answer({"hits": combined[: step.top_k]})
        self.held.hold(body)
        seconds = time.perf_counter() - started_s
        self.answered[step.name] = AnsweredStep(body, seconds, resolved, request, served)

    def _request(self, number: int, step: SearchStepBody) -> SearchRequest:
        request = self.services.request_of(self.principal, step)
        self.services.require_answerable(request, f"steps.{number}.")
        return request

    def _consistent_steps(self, searches: ConsistentSearches) -> AnsweredSteps:
        """The finished steps that are correct at the latest revision, with all that they use."""
        consistent: dict[str, AnsweredStep] = {}
        for step in self.plan.steps:
            one = self.answered.get(step.name)
            if one is None or not step.needs <= consistent.keys():
                continue
            if one.served is None or searches.agrees(one.served):
                consistent[step.name] = one
        return consistent
