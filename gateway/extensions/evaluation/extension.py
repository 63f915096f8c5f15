"""Evaluation: answers are measured against known ones, by a command or over HTTP."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import partial

from pydantic import BaseModel

from gateway.extension import ApiRoute, Extension, Services, body_limit
from gateway.extensions.evaluation import evaluation_endpoints, evaluation_schemas
from gateway.extensions.evaluation.evaluation_endpoints import EvaluationServices

_route: Callable[..., ApiRoute[EvaluationServices]] = partial(
    ApiRoute, "POST", needs="reader", only_reads=True
)


@asynccontextmanager
async def _open(services: Services, _: BaseModel) -> AsyncIterator[EvaluationServices]:
    yield EvaluationServices(services.search, services.documents)


EXTENSION = Extension(
    summary="answers are measured against known ones, by a command or over HTTP",
    routes=(
        _route(
            "/v1/evaluation/questions",
            evaluation_endpoints.make_questions,
            summary="Make questions with known answers from documents that the caller may read",
            body=evaluation_schemas.MakeQuestionsBody,
            answer=evaluation_schemas.MadeQuestionsAnswer,
            body_bytes_max=body_limit(1_024),
        ),
        _route(
            "/v1/evaluation/answers",
            evaluation_endpoints.measure_answers,
            summary="Ask questions with one setting, and measure the answers against known ones",
            body=evaluation_schemas.MeasureAnswersBody,
            answer=evaluation_schemas.MeasuredAnswers,
            body_bytes_max=body_limit(1_048_576),
        ),
        _route(
            "/v1/evaluation/comparison",
            evaluation_endpoints.compare_settings,
            summary="Compare measured settings: means, and gains over the first, with intervals",
            body=evaluation_schemas.CompareSettingsBody,
            answer=evaluation_schemas.ComparisonAnswer,
            body_bytes_max=body_limit(1_048_576),
        ),
    ),
    open=_open,
)
