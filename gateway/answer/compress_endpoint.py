"""`POST /v1/compress`: a conversation shortened to a budget of tokens, without a model."""

from starlette.responses import Response

from gateway.answer.answer_services import AnswerServices
from gateway.answer.compress_schemas import CompressBody, CompressedAnswer
from gateway.http.request_context import RequestContext
from gateway.http.responses import json_response
from index.text import lexical


async def compress(context: RequestContext[AnswerServices]) -> Response:
    """Nothing of the conversation is stored. Long conversations take a thread's time."""
    caller = await context.authenticate()
    threads = context.services.threads.of(caller.principal.tenant)
    return json_response(await threads.run(_compress, context))


def _compress(context: RequestContext[AnswerServices]) -> CompressedAnswer:
    """Runs in a thread, and parses there too: a request that is refused costs little."""
    from gateway.rag import conversation_compression, token_estimate  # loaded on first use

    body = context.parse_body(CompressBody)
    language = body.language or context.services.settings.language
    lexical.load({language})
    texts = [message.content for message in body.messages]
    asked = [message.content for message in body.messages if message.role == "user"]
    question = body.query or (asked[-1] if asked else texts[-1])
    compressed = conversation_compression.compress(
        texts, question, budget=body.token_budget, kept_last=body.keep_last, language=language
    )
    pairs = list(zip(body.messages, compressed.texts, strict=True))
    return CompressedAnswer(
        messages=tuple(
            message.model_copy(update={"content": text}) for message, text in pairs if text
        ),
        tokens=compressed.tokens,
        tokens_before=sum(map(token_estimate.count, texts)),
        truncated=tuple(
            number
            for number, (message, text) in enumerate(pairs)
            if text and text.strip() != message.content.strip()
        ),
        omitted=tuple(number for number, (_, text) in enumerate(pairs) if not text),
    )
