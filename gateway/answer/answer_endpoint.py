"""`POST /v1/answer`: what a language model writes from what a search finds."""

from starlette.responses import Response

from gateway import problems
from gateway.answer.answer_schemas import AnswerBody
from gateway.http.request_context import Exchange
from gateway.search.search_request import check_limits


async def post_answer(exchange: Exchange) -> Response:
    principal = (await exchange.admit()).principal
    if exchange.services.settings.chat_model is None:
        raise problems.not_set_up("No language model is set: NEARHIT_CHAT_MODEL names one.")
    asked = exchange.parse(AnswerBody)
    check_limits(asked, exchange.services.settings)
    from gateway.answer.answer_run import written  # only who asks for it loads what writes

    return await written(exchange, principal, asked)
