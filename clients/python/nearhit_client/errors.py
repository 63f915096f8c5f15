"""The one exception of the clients."""

from collections.abc import Mapping
from typing import Any

import httpx2

_BEFORE_SENDING = (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.PoolTimeout)
_TEMPORARY = {429, 502, 503, 504}


class NearhitError(Exception):
    """A call failed. Its fields are those of the gateway's problem document (RFC 9457).

    status:        of HTTP; 0 if the connection failed.
    type:          what went wrong, for programs; `kind` is its last part, such as `invalid-field`.
    errors:        the fields that are wrong, each with `field` and `detail`.
    problem:       the whole document, with members such as `quota`.
    retry_after_s: what the gateway asks to wait.
    request_id:    by which the operator finds the request in the log.
    was_sent:      whether the gateway may have seen the request.
    """

    def __init__(
        self,
        status: int,
        problem: Mapping[str, Any],
        *,
        retry_after_s: float | None = None,
        request_id: str | None = None,
        was_sent: bool = True,
    ) -> None:
        self.status = status
        self.problem = problem
        self.type: str = problem.get("type", "about:blank")
        self.title: str = problem.get("title", f"Status {status}")
        self.detail: str = problem.get("detail", "")
        self.errors: list[dict[str, str]] = problem.get("errors", [])
        self.retry_after_s = retry_after_s
        self.request_id = request_id
        self.was_sent = was_sent
        fields = [f"{error['field']}: {error['detail']}" for error in self.errors]
        super().__init__(" ".join([f"{status} {self.title}: {self.detail}", *fields]))

    @property
    def kind(self) -> str:
        return self.type.rpartition(":")[2]

    @property
    def is_temporary(self) -> bool:
        """Whether the same call may succeed in a moment."""
        return self.status == 0 or self.status in _TEMPORARY or self.retry_after_s is not None


def of_response(response: httpx2.Response) -> NearhitError:
    """response: one that is no success, whose body has been read."""
    try:
        problem = response.json()
    except ValueError:
        problem = None  # of something in between
    after = response.headers.get("retry-after", "")
    return NearhitError(
        response.status_code,
        problem if isinstance(problem, dict) else {"detail": response.text[:1_000]},
        retry_after_s=float(after) if after.isdecimal() else None,
        request_id=response.headers.get("x-request-id"),
    )


def of_event(problem: Mapping[str, Any]) -> NearhitError:
    """problem: the data of an event `error`."""
    return NearhitError(problem["status"], problem)


def unreachable(error: httpx2.TransportError) -> NearhitError:
    detail = f"{type(error).__name__}: {error}"
    problem = {"type": "urn:nearhit:problem:unreachable", "title": "No answer", "detail": detail}
    failure = NearhitError(0, problem, was_sent=not isinstance(error, _BEFORE_SENDING))
    failure.__cause__ = error
    return failure
