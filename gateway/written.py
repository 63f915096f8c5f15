"""`POST /v1/answer`: what a language model writes from what a search finds."""

from starlette.responses import Response

from gateway import problems
from gateway.assists_wire import AnswerBody
from gateway.exchange import Exchange
from gateway.wanted import check_limits


async def post_answer(exchange: Exchange) -> Response:
    principal = (await exchange.admit()).principal
    if exchange.services.settings.chat_model is None:
        raise problems.not_set_up("No language model is set: NEARHIT_CHAT_MODEL names one.")
    asked = exchange.parse(AnswerBody)
    check_limits(asked, exchange.services.settings)
    from gateway.assists.writing import written  # only who asks for it loads what writes

    return await written(exchange, principal, asked)
