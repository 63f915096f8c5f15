"""`POST /v1/answer`: what a language model writes from what a search finds."""

from starlette.responses import Response

from gateway import problems
from gateway.answer.answer_schemas import AnswerBody
from gateway.http.request_context import RequestContext
from gateway.search.search_request import require_within_limits


async def post_answer(context: RequestContext) -> Response:
    principal = (await context.authenticate()).principal
    if context.services.settings.chat_model is None:
        raise problems.not_set_up("No language model is set: NEARHIT_CHAT_MODEL names one.")
    asked = context.parse_body(AnswerBody)
    require_within_limits(asked, context.services.settings)
    from gateway.answer.answer_run import write_response  # only who asks for it loads what writes

    return await write_response(context, principal, asked)
