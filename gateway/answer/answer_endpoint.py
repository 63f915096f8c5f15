"""`POST /v1/answer`: what a language model writes from what a search finds."""

from starlette.responses import Response

from gateway import problems
from gateway.answer.answer_schemas import AnswerBody
from gateway.answer.answer_services import AnswerServices
from gateway.http.request_context import RequestContext
from gateway.search.search_request import require_within_limits


async def post_answer(exchange: RequestContext[AnswerServices]) -> Response:
    principal = (await exchange.authenticate()).principal
    if exchange.services.settings.chat_model is None:
        raise problems.not_set_up("No language model is set: NEARHIT_CHAT_MODEL names one.")
    asked = exchange.parse_body(AnswerBody)
    require_within_limits(asked, exchange.services.settings)
    from gateway.answer.answer_run import write_response  # only who asks for it loads what writes

    return await write_response(exchange, principal, asked)
