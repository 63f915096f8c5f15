"""`POST /v1/answer`: a language model writes an answer from the hits of a search."""

from starlette.responses import Response

from gateway import problems
from gateway.answer.answer_schemas import AnswerBody
from gateway.answer.answer_services import AnswerServices
from gateway.http.request_context import RequestContext
from gateway.search.search_request import freshness_of, require_within_limits


async def post_answer(context: RequestContext[AnswerServices]) -> Response:
    if context.services.settings.chat_model_of("answer") is None:
        await context.authenticate()
        raise problems.not_configured(
            "No language model is configured. Ask the operator to set NEARHIT_CHAT_MODEL, or "
            "`answer` in NEARHIT_CHAT_MODELS."
        )
    body = context.parse_body(AnswerBody)
    require_within_limits(body)
    freshness = freshness_of(body, context.min_revision)
    await context.authenticate(freshness=freshness)
    from gateway.answer.answer_run import write_response  # loaded on first use

    return await write_response(context, body)
