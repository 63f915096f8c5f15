"""docs/reference/problems.md: every problem type that a call answers with."""

import inspect
import json
from collections.abc import Iterator
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from structlog.testing import capture_logs

from docs.generate.markdown import NOTE, code, join, table
from gateway.problems import problems
from gateway.problems.problem_catalog import TYPES, ProblemType
from gateway.problems.problems import Problem
from index.errors import (
    DatabaseCondition,
    DatabaseUnavailable,
    EmbeddingUnavailable,
    PayloadTooLarge,
    QueueFull,
    QuotaExceeded,
    SubjectSuspended,
    TenantFull,
    TenantMissing,
)
from index.model.quota import Excess
from ingest.errors import DocumentContended, DocumentTooLong

_EXCEPTIONS = (
    ClientDisconnect(),
    DatabaseUnavailable(),
    *(DatabaseUnavailable("…", condition) for condition in DatabaseCondition),
    DocumentContended(),
    DocumentTooLong("…"),
    EmbeddingUnavailable(),
    HTTPException(404),
    HTTPException(405),
    PayloadTooLarge(1),
    QueueFull("…"),
    QuotaExceeded(Excess("documents", 1, 1, 1)),
    RuntimeError(),
    SubjectSuspended("…"),
    TenantFull("…", 1, "…"),
    TenantMissing("…"),
    TimeoutError(),
)
_MODEL_STATUSES = (503, 504)  # with which a language model's failure is answered


def page() -> str:
    examples = {problem.kind: problem for problem in _all()}
    return join(
        "# Problems",
        "A failed request gets a problem document of RFC 9457, "
        "`application/problem+json`.\n"
        "`type` identifies the problem for programs, `title` and `detail` explain it, and "
        "`errors` lists the invalid fields.\n"
        "A temporary problem has the header `Retry-After`.\n"
        "`GET /v1/problems/{type}` tells a program what this page tells people.",
        '```json\n{"type": "urn:nearhit:problem:invalid-field", "title": "Invalid field",'
        '\n "status": 422, "detail": "Correct top_k.",\n "errors": [{"field": "top_k", '
        '"detail": "Input should be greater than or equal to 1"}]}\n```',
        "The calls of OpenAI's API (`/v1/vector_stores`, `/v1/files`) answer with OpenAI's error "
        "object instead; its `code` is the last part of the type.\n"
        "The calls of SCIM (`/scim/v2`) answer with the error of RFC 7644, section 3.12.",
        NOTE.format(
            source="`gateway/problems/problem_types.toml` and `gateway/problems/problems.py`"
        ),
        table(("type", "status", "title"), map(_row, TYPES)),
        *(part for each in TYPES for part in _section(each, examples[each.kind])),
    )


def problems_made() -> list[Problem]:
    """One problem of each kind that the gateway makes, and of each status of a kind."""
    return list(_all())


def _row(each: ProblemType) -> tuple[str, str, str]:
    return code(each.urn), ", ".join(map(str, each.statuses)), each.title


def _section(each: ProblemType, example: Problem) -> Iterator[str]:
    yield f"## {each.kind}"
    statuses = ", ".join(map(str, each.statuses))
    yield f"{each.title}, {statuses}. {each.cause}"
    yield f"**What to do.** {each.remedy}"
    yield f"```json\n{json.dumps(example.body(), indent=1, ensure_ascii=False)}\n```"


def _all() -> Iterator[Problem]:
    """One problem of each kind that the gateway makes."""
    with capture_logs():
        yield from (problems.from_exception(error, "") for error in _EXCEPTIONS)
    for name, make in vars(problems).items():
        if inspect.isfunction(make) and make.__annotations__.get("return") is Problem:
            yield from _examples(name, make)


def _examples(name: str, make: Any) -> Iterator[Problem]:
    parameters = inspect.signature(make).parameters
    if name.startswith("_") or not parameters.keys().isdisjoint(("error", "excess")):
        return
    for status in _MODEL_STATUSES if "status" in parameters else (None,):
        examples = {"status": status, "errors": ()}
        yield make(
            *(
                examples.get(parameter, 1 if declared.annotation is int else "…")
                for parameter, declared in parameters.items()
            )
        )
