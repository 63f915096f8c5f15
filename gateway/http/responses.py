"""Responses that several rooms give."""

from collections.abc import Sequence

from pydantic import BaseModel
from starlette.responses import Response

from cache.protocol import Revisions
from gateway.auth.freshness import revision_header
from gateway.schemas import QueuedAnswer
from gateway.settings.settings import Settings


def cache_headers(
    settings: Settings, *headers: tuple[bytes, bytes]
) -> Sequence[tuple[bytes, bytes]]:
    """The headers that tell how an answer was made; none if the settings hide them."""
    return headers if settings.cache_headers == "on" else ()


class RawResponse(Response):
    """A response whose body and headers are ready bytes; Starlette encodes nothing again."""

    def __init__(self, body: bytes, headers: list[tuple[bytes, bytes]]) -> None:
        self.status_code = 200
        self.background = None
        self.body = body
        self.raw_headers = headers


# Of an answer that is read from the primary after its request has arrived.
STRONG_HEADER = (b"nearhit-consistency", b"strong")


def read_response(body: BaseModel) -> Response:
    """The response to a request that reads the primary."""
    response = json_response(body)
    response.raw_headers.append(STRONG_HEADER)
    return response


def json_response(body: BaseModel, status: int = 200) -> Response:
    return Response(body.model_dump_json(), status, media_type="application/json")


def with_revision(response: Response, revisions: Revisions, tenant: str) -> Response:
    """The response to a write, with the revision from which on answers contain it."""
    response.raw_headers.append((b"nearhit-revision", revision_header(revisions, tenant)))
    return response


def queued_body(job_id: str) -> QueuedAnswer:
    return QueuedAnswer(job_id=job_id, status_url=f"/v1/jobs/{job_id}")


def queued_response(job_id: str) -> Response:
    """A 202 whose `Location` is the job's address."""
    body = queued_body(job_id)
    response = json_response(body, 202)
    response.headers["Location"] = body.status_url
    return response
