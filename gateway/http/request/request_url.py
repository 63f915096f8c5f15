"""Checks of a request's path and query, before its caller is known."""

from collections.abc import Collection
from typing import Any
from urllib.parse import unquote_to_bytes

from starlette.requests import Request
from starlette.types import Scope

from gateway.http.route import ApiRoute
from gateway.problems import problems
from gateway.problems.field_errors import FieldError, masked
from index.model.document import UNSTORABLE

_ERRORS_MAX = 20  # unknown parameters in one problem


def known_parameters(route: ApiRoute[Any]) -> frozenset[str] | None:
    """The query parameters of the route; None where others are ignored.

    Clients of other protocols, probes and browsers send parameters that are not ours.
    """
    is_ours = route.render is problems.render and not route.is_resource
    return frozenset(route.parameters) if is_ours and route.needs != "anyone" else None


def check(request: Request, known: Collection[str] | None) -> None:
    """A 422 `Problem` for a path or a query that the call can't have; known: its parameters."""
    _refuse_unstorable(request.scope)
    if known is not None and request.scope["query_string"]:
        _refuse_unknown(request, known)


def _refuse_unstorable(scope: Scope) -> None:
    """A 422 `Problem` for a path or a query with text that PostgreSQL cannot store.

    A path that is not UTF-8, or ends in a line break, would name another thing than the client
    sent. Headers have no U+0000: the server's parser refuses it.
    """
    if b"%" in scope["raw_path"]:
        path = _unquoted("path", scope["raw_path"])
        if path.endswith("\n"):
            raise problems.invalid_field("path", "must not end in a line break")
        for name, value in scope.get("path_params", {}).items():
            _check_storable(name, value)
    if b"%" in scope["query_string"]:
        for part in scope["query_string"].split(b"&"):
            name, _, value = part.partition(b"=")
            field = _unquoted("query", name)
            _check_storable("query", field)
            _check_storable(field, _unquoted(field, value))


def _refuse_unknown(request: Request, known: Collection[str]) -> None:
    """A 422 `Problem` for a parameter that the call does not have, or that is there twice.

    A misspelt filter would list everything, and an identifier with a `?` name another document.
    """
    names = [name for name, _ in request.query_params.multi_items()]
    errors = [
        FieldError(masked(name), "must be set once" if name in known else _is_no_parameter(known))
        for name in dict.fromkeys(names)
        if name not in known or names.count(name) > 1
    ]
    if errors:
        raise problems.invalid(errors[:_ERRORS_MAX])


def _is_no_parameter(known: Collection[str]) -> str:
    if not known:
        return "is no parameter; this call has none. A ? in an identifier must be sent as %3F"
    return f"is no parameter; this call has {', '.join(sorted(known))}"


def _unquoted(field: str, quoted: bytes) -> str:
    try:
        return unquote_to_bytes(quoted).decode()
    except UnicodeDecodeError:
        raise problems.invalid_field(field, "must be UTF-8") from None


def _check_storable(field: str, text: str) -> None:
    if UNSTORABLE.search(text):
        raise problems.invalid_field(field, "must not hold the character U+0000")
