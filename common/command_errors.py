"""Errors of commands.

CommandError   the command can't be done; the message says why and what to do
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:  # most commands call no gateway
    import httpx2

_REASON_CHARACTERS = 300


class CommandError(Exception):
    """A command fails; the message is shown to the operator."""


def refused_call(address: object, answer: "httpx2.Response") -> CommandError:
    """The error of a command whose call a gateway refuses."""
    if answer.headers.get("content-type") == "application/problem+json":
        problem = answer.json()
        fields = (f"{error['field']}: {error['detail']}" for error in problem.get("errors", ()))
        reason = "; ".join(fields) or str(problem["detail"])
    else:
        reason = answer.text[:_REASON_CHARACTERS]
    return CommandError(f"{address} answers {answer.status_code}: {reason}")
