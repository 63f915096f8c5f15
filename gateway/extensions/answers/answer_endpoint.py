"""`POST /v1/answer`: a language model writes an answer from the hits of a search."""

from starlette.responses import Response

from gateway.extension import (
    RequestContext,
    freshness_of,
    problems,
    require_within_limits,
)
from gateway.extensions.answers.answer_schemas import AnswerBody
from gateway.extensions.answers.answer_services import AnswerServices


async def post_answer(context: RequestContext[AnswerServices]) -> Response:
    if context.services.generator is None:
        await context.authenticate()
        raise problems.not_configured(
            "No language model is configured. Ask the operator to set NEARHIT_CHAT_MODEL, or "
            "`answer` in NEARHIT_CHAT_MODELS."
        )
    body = await context.parse_body(AnswerBody)
    require_within_limits(body)
    freshness = freshness_of(body, context.min_revision)
    await context.authenticate(freshness=freshness)
    from gateway.extensions.answers.answer_run import write_response  # loaded on first use

    return await write_response(context, body)
