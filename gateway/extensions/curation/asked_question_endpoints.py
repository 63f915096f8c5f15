"""An admin has questions recorded, lists the most asked ones, and deletes them."""

import re
from datetime import timedelta

from starlette.responses import Response

from gateway.extension import RequestContext, json_response, problems, read_response, utc_now
from gateway.extensions.curation.asked_questions.asked_question_schemas import (
    AskedQuestionItem,
    AskedQuestionsAnswer,
    QuestionRecordingAnswer,
    QuestionRecordingBody,
)
from gateway.extensions.curation.asked_questions.asked_question_store import KEPT_DAYS_MAX
from gateway.extensions.curation.curation_services import CurationServices

LIMIT_MAX = 100
_DEFAULT_LIMIT = 20
_DEFAULT_DAYS = 7
_ID = re.compile("[0-9a-f]{32}")


async def list_asked_questions(context: RequestContext[CurationServices]) -> Response:
    """Questions that came twice or more; `from` and `to` default to the last seven days."""
    tenant = (await context.authenticate()).principal.tenant
    services, today = context.services, utc_now().date()
    last = context.day_parameter("to", today)
    first = context.day_parameter("from", last - timedelta(days=_DEFAULT_DAYS - 1))
    if not 0 <= (last - first).days < KEPT_DAYS_MAX:
        raise problems.invalid_field("to", f"must be within {KEPT_DAYS_MAX} days from `from`")
    limit = context.request.query_params.get("limit", str(_DEFAULT_LIMIT))
    if not re.fullmatch("[0-9]{1,9}", limit) or not 1 <= int(limit) <= LIMIT_MAX:
        raise problems.invalid_field("limit", f"must be a number from 1 to {LIMIT_MAX}")
    await services.asked_question_log.pending.flush()
    store = services.asked_questions
    rows = await store.most_asked(tenant, first, last, today=today, limit=int(limit))
    return read_response(
        AskedQuestionsAnswer(
            questions=tuple(
                AskedQuestionItem(
                    question_id=row.digest.hex(),
                    question=row.question,
                    asked=row.asked,
                    unsure=row.unsure,
                    last_day=row.last_day,
                )
                for row in rows
            ),
            kept_days=await store.kept_days(tenant),
        )
    )


async def put_question_recording(context: RequestContext[CurationServices]) -> Response:
    """Record from the next request on, on every worker; or stop, and delete what is recorded."""
    tenant = (await context.authenticate()).principal.tenant
    body = await context.parse_body(QuestionRecordingBody)
    await context.services.asked_questions.put_kept_days(tenant, body.kept_days)
    return json_response(QuestionRecordingAnswer(kept_days=body.kept_days))


async def delete_asked_question(context: RequestContext[CurationServices]) -> Response:
    tenant = (await context.authenticate()).principal.tenant
    services, question_id = context.services, context.request.path_params["question_id"]
    await services.asked_question_log.pending.flush()
    if not _ID.fullmatch(question_id) or not await services.asked_questions.delete(
        tenant, bytes.fromhex(question_id)
    ):
        raise problems.not_found("question_id", "The question does not exist.")
    return Response(status_code=204)
