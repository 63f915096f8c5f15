"""The body of the answer to a search plan, within its budgets of tokens. Does no I/O."""

from collections.abc import Mapping
from typing import Any

import orjson

from gateway.extension import decode_answer, encode_answer
from gateway.extensions._passages import token_estimate
from gateway.extensions.plans.plan_run import AnsweredStep, AnsweredSteps
from gateway.extensions.plans.plan_schemas import PlanBody, SearchStepBody, StepBody


def encode_plan_answer(plan: PlanBody, answered: AnsweredSteps) -> bytes:
    """The finished steps of the output, and the names of the unfinished ones."""
    by_name: Mapping[str, StepBody] = {step.name: step for step in plan.steps}
    remaining = plan.budget.tokens
    steps = []
    for name in plan.output or by_name:
        if name not in answered:
            continue
        step = by_name[name]
        limits = [limit for limit in (remaining, step.tokens) if limit is not None]
        body, left_out, tokens = _within_tokens(answered[name].body, min(limits, default=None))
        remaining = None if remaining is None else remaining - tokens
        steps.append(
            b'{"name":%b,"answer":%b,"left_out":%d%b}'
            % (orjson.dumps(name), body, left_out, _resolved(step, answered[name]))
        )
    unfinished = orjson.dumps([name for name in by_name if name not in answered])
    return b'{"steps":[%b],"unfinished":%b}' % (b",".join(steps), unfinished)


def _within_tokens(body: bytes, tokens_max: int | None) -> tuple[bytes, int, int]:
    """The body without the hits from the first one on that does not fit.

    Also how many hits are left out, and the tokens of the others, which are not counted if there is
    no maximum.
    """
    if tokens_max is None:
        return body, 0, 0
    answer = decode_answer(body)
    hits, tokens = answer["hits"], 0
    for number, hit in enumerate(hits):
        needed = _tokens(hit)
        if tokens + needed > tokens_max:
            return encode_answer(answer | {"hits": hits[:number]}), len(hits) - number, tokens
        tokens += needed
    return body, 0, tokens


def _tokens(hit: Mapping[str, Any]) -> int:
    summaries = hit.get("summaries") or ()
    texts = (hit["text"], *(summary["text"] for summary in summaries))
    return sum(map(token_estimate.count, texts))


def _resolved(step: StepBody, answered: AnsweredStep) -> bytes:
    if isinstance(step, SearchStepBody) and step.explain and answered.resolved:
        return b',"resolved":%b' % orjson.dumps(answered.resolved)
    return b""
