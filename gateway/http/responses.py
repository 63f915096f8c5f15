"""Responses that several rooms give."""

from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

from pydantic import BaseModel
from pydantic_core import to_json
from starlette.responses import Response

from cache.protocol import Revisions
from common.shares.turns import map_in_steps
from gateway.auth.freshness import revision_header
from gateway.bodies.schemas import QueuedAnswer
from gateway.settings.settings import Settings

S = TypeVar("S")


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


def read_response(body: BaseModel | bytes) -> Response:
    """The response to a request that reads the primary. body: bytes if it is encoded."""
    response = json_response(body)
    response.raw_headers.append(STRONG_HEADER)
    return response


def json_response(body: BaseModel | bytes, status: int = 200) -> Response:
    encoded = body if isinstance(body, bytes) else body.model_dump_json()
    return Response(encoded, status, media_type="application/json")


async def encoded_page(
    name: str, items: Iterable[S], to_model: Callable[[S], BaseModel], cursor: str | None
) -> bytes:
    """A page of a list, with its items under this name; one of long items takes several steps."""
    encoded = await map_in_steps(lambda item: to_model(item).model_dump_json().encode(), items)
    return b'{"%b":[%b],"cursor":%b}' % (name.encode(), b",".join(encoded), to_json(cursor))


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
