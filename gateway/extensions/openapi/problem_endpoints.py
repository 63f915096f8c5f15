"""The catalogue of problem types over HTTP: what the `type` of a problem means, and what to do."""

from typing import Any

from pydantic import Field
from starlette.responses import Response

from gateway.extension import (
    Body,
    RequestContext,
    json_response,
    problem_catalog,
    problems,
    schemas,
)


class ProblemTypeAnswer(Body):
    type: str = Field(description="as problems name it")
    statuses: tuple[int, ...] = Field(description="HTTP statuses with which it occurs")
    title: str = Field(description="as problems have it")
    cause: str = Field(description="why a request gets it")
    remedy: str = Field(description="what the caller or the operator does about it")

    @classmethod
    def of(cls, problem_type: problem_catalog.ProblemType) -> "ProblemTypeAnswer":
        return cls(
            type=problem_type.urn,
            statuses=problem_type.statuses,
            title=problem_type.title,
            cause=problem_type.cause,
            remedy=problem_type.remedy,
        )


class ProblemTypesAnswer(Body):
    types: tuple[ProblemTypeAnswer, ...] = Field(description="by status")


async def list_problem_types(_: RequestContext[Any]) -> Response:
    answers = tuple(map(ProblemTypeAnswer.of, problem_catalog.TYPES))
    return json_response(ProblemTypesAnswer(types=answers))


async def get_problem_type(context: RequestContext[Any]) -> Response:
    """A type by its URN or by the last part of it."""
    name = schemas.parse_value("type", schemas.LINE, context.request.path_params["type"])
    problem_type = problem_catalog.BY_KIND.get(name.removeprefix(problem_catalog.PREFIX))
    if problem_type is None:
        raise problems.not_found("type", "No problem has this type. See GET /v1/problems.")
    return json_response(ProblemTypeAnswer.of(problem_type))
