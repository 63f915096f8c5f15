"""`POST /v1/compress`: a conversation shortened to a budget of tokens, without a model."""

from starlette.responses import Response

from common.processes.module_worker import ProcessEnded
from gateway.extension import (
    RequestContext,
    json_response,
    problems,
)
from gateway.extensions.answers.answer_services import AnswerServices
from gateway.extensions.answers.compress_schemas import CompressBody, CompressedAnswer
from gateway.extensions.answers.conversation_compressor import ConversationCompressor


async def compress(context: RequestContext[AnswerServices]) -> Response:
    """Nothing of the conversation is stored."""
    caller = await context.authenticate()
    body = await context.parse_body(CompressBody)
    language = body.language or context.services.search.settings.language
    compressors, tenant = context.services.compressors, caller.principal.tenant
    return json_response(await compressors.run(tenant, _compress, body, language))


def _compress(
    compressor: ConversationCompressor, body: CompressBody, language: str
) -> CompressedAnswer:
    texts = [message.content for message in body.messages]
    asked = [message.content for message in body.messages if message.role == "user"]
    question = body.query or (asked[-1] if asked else texts[-1])
    try:
        compressed = compressor.compress(
            texts,
            question,
            budget=body.token_budget,
            kept_last=body.keep_last,
            language=language,
        )
    except ProcessEnded:
        detail = "The conversation takes more memory to compress than the limit. Send less of it."
        raise problems.invalid_field("messages", detail) from None
    pairs = list(zip(body.messages, compressed.texts, strict=True))
    return CompressedAnswer(
        messages=tuple(
            message.model_copy(update={"content": text}) for message, text in pairs if text
        ),
        tokens=compressed.tokens,
        tokens_before=compressed.tokens_before,
        truncated=tuple(
            number
            for number, (message, text) in enumerate(pairs)
            if text and text.strip() != message.content.strip()
        ),
        omitted=tuple(number for number, (_, text) in enumerate(pairs) if not text),
    )
