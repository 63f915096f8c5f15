"""A caller makes questions of what it may read, has answers measured, and compares settings."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from starlette.responses import Response

from cache.lookup import ServedAnswer
from common.shares.threads import TenantThreads
from gateway.extension import (
    AuthenticatedRequest,
    DocumentServices,
    RequestContext,
    SearchBody,
    SearchServices,
    address_of_hit,
    decode_answer,
    encode_json,
    freshness_of,
    full_scope,
    problems,
    read_response,
    record_served,
    require_within_limits,
    schemas,
)
from gateway.extensions._batches.held_answers import HeldAnswers
from gateway.extensions._batches.one_revision import search_consistently
from gateway.extensions.evaluation import judged_questions, measures
from gateway.extensions.evaluation.evaluation_schemas import (
    COMPARED_QUESTIONS_MAX,
    ComparedSetting,
    CompareSettingsBody,
    ComparisonAnswer,
    MadeQuestionsAnswer,
    MakeQuestionsBody,
    MeasureAnswersBody,
    MeasuredAnswer,
    MeasuredAnswers,
)
from gateway.extensions.evaluation.judged_questions import HeadedSection

# Starting values: some 3 ms a document.
_READ_MAX = 100  # documents
_LISTED_MAX = 1_000
_PAGE = 100
_SECTIONS_MAX = 2_000  # of all documents together; at most 16 MB
_NOT_OF_A_SETTING = ("query", "top_k", "vector")


@dataclass(frozen=True, slots=True)
class EvaluationServices:
    search: SearchServices
    documents: DocumentServices

    def threads_of(self, caller: AuthenticatedRequest) -> TenantThreads:
        """For what would hold the event loop for as long as the caller's texts are."""
        return self.documents.writer.threads.of(caller.principal.tenant)


async def make_questions(context: RequestContext[EvaluationServices]) -> Response:
    """Of headings of at most `_READ_MAX` documents, from all parts of the first `_LISTED_MAX`."""
    caller = await context.authenticate()
    body = await context.parse_body(MakeQuestionsBody)
    documents, threads = context.services.documents, context.services.threads_of(caller)
    document_ids = [*judged_questions.spread(await _listed(documents, caller), _READ_MAX)]
    await context.spend(len(document_ids))
    found, read = list[HeadedSection](), list[str]()
    for document_id in document_ids:
        dated = await documents.stores.visible_documents.read(
            full_scope(caller), caller.principal.filter, document_id
        )
        if dated is not None:  # else it was deleted since it was listed
            read.append(document_id)
            number = _SECTIONS_MAX // len(document_ids)
            found += await threads.run(_sections, document_id, dated.document.text, number)
    documents.read_log.documents(caller.principal, read)
    made = await threads.run(judged_questions.of_sections, found, body.number)
    return read_response(MadeQuestionsAnswer(questions=tuple(made), documents=len(read)))


async def _listed(documents: DocumentServices, caller: AuthenticatedRequest) -> list[str]:
    """The identifiers of the first documents that the caller may read."""
    document_ids = list[str]()
    while len(document_ids) < _LISTED_MAX:
        page = await documents.stores.visible_documents.page(
            full_scope(caller),
            caller.principal.filter,
            after=document_ids[-1] if document_ids else "",
            limit=_PAGE,
        )
        document_ids += [dated.document.document_id for dated in page]
        if len(page) < _PAGE:
            break
    return document_ids


def _sections(document_id: str, text: str, number: int) -> list[HeadedSection]:
    """Of one document, from all its parts."""
    found = judged_questions.unique(judged_questions.sections(document_id, text))
    return [*judged_questions.spread(found, number)]


async def measure_answers(context: RequestContext[EvaluationServices]) -> Response:
    """The answers are those of `POST /v1/search` for the caller, all at one revision."""
    services, body = context.services.search, await context.parse_body(MeasureAnswersBody)
    for name in _NOT_OF_A_SETTING:
        if name in body.search:
            raise problems.invalid_field(f"search.{name}", "is not a part of a setting")
    first, *others = [question.question for question in body.questions]
    setting = encode_json({**body.search, "query": first, "top_k": body.top_k})
    (search,) = await context.threads.map(_search_body, [setting])
    queries = [_search_body(encode_json({"query": question})).query for question in others]
    caller = await context.authenticate(freshness=freshness_of(search, context.min_revision))
    await context.spend(len(others))
    request = services.request_of(caller.principal, search)
    services.require_answerable(request)
    requests = [request, *map(request.asking, queries)]
    held = HeldAnswers(context.slot)
    served = await search_consistently(services, requests, caller.revisions, held)
    for request, answer in zip(requests, served, strict=True):
        record_served(services, request, answer)
    threads = context.services.threads_of(caller)
    measured = await threads.run(_measured, caller.principal.tenant, body, served)
    return read_response(MeasuredAnswers(answers=measured))


def _measured(
    own_tenant: str, body: MeasureAnswersBody, served: Sequence[ServedAnswer]
) -> tuple[MeasuredAnswer, ...]:
    measured = []
    for question, answer in zip(body.questions, served, strict=True):
        hits = decode_answer(answer.body)["hits"]
        recall, mrr, ndcg = measures.of_hits(question, hits, body.top_k)
        first = address_of_hit(own_tenant, hits[0]) if hits else None
        measured.append(MeasuredAnswer(first=first, recall=recall, mrr=mrr, ndcg=ndcg))
    return tuple(measured)


async def compare_settings(context: RequestContext[EvaluationServices]) -> Response:
    caller = await context.authenticate()
    body = await context.parse_body(CompareSettingsBody)
    lengths = {len(column) for each in body.settings for _, column in each}
    if len(lengths) > 1 or not 1 <= min(lengths) <= COMPARED_QUESTIONS_MAX:
        detail = f"must each have as many values, 1 to {COMPARED_QUESTIONS_MAX:,} of each measure"
        raise problems.invalid_field("settings", detail)
    return read_response(await context.services.threads_of(caller).run(_compared, body))


def _compared(body: CompareSettingsBody) -> ComparisonAnswer:
    first, *_ = body.settings
    intervals = measures.interval
    return ComparisonAnswer(
        settings=tuple(
            ComparedSetting(
                **{name: intervals(np.array(column)) for name, column in each},
                gain=None if each is first else intervals(np.subtract(each.ndcg, first.ndcg)),
            )
            for each in body.settings
        )
    )


def _search_body(sent: bytes) -> SearchBody:
    """The body of `POST /v1/search`. Raises a `Problem`, as that request would."""
    search = schemas.parse(SearchBody, sent)
    require_within_limits(search)
    if search.is_conversational:
        detail = "must have neither `history` nor `gate`: a question is searched as it is"
        raise problems.invalid_field("search", detail)
    return search
