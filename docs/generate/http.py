"""The site's pages of the HTTP API: an overview, and a page for each group of calls.

They say what `/openapi.json` says, and are not committed: `make docs` writes them.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from itertools import groupby
from typing import Any

from docs.generate import schema
from docs.generate.markdown import code, join, table
from gateway.api.routes.table import routes
from gateway.configured.installed_extensions import switched_on
from gateway.extensions.openapi import openapi_document
from gateway.http.route import ApiRoute

_ROLES = """Each call needs a role of the caller's key.
A key with the role `admin` can do what a `writer` can, and a `writer` what a `reader` can.
A new key is reader and writer unless its maker says otherwise.
The `operator` holds `NEARHIT_ADMIN_KEY`; the operator administers, can create and revoke keys of any tenant, and reads no documents.
A document's owner and the tenant's admins can change it; only its readers can read it, admins included."""  # noqa: E501  a sentence a line

_COMMON = """A call that fails answers with a [problem](problems.md).
A field that a body does not know is refused.
`GET /openapi.json` holds all of this for programs."""


FOLDER = "http"
_ROUTES = routes(switched_on(""))


@cache
def pages() -> Mapping[str, str]:
    """The text of each page by its path below docs/reference."""
    description = openapi_document.document(_ROUTES)
    calls = sorted(_ROUTES, key=lambda call: (_group(call), path(call)))
    groups = {name: list(members) for name, members in groupby(calls, key=_group)}
    written = {_file(name): _page(name, members, description) for name, members in groups.items()}
    return {"http.md": _overview(groups), **written}


def _overview(groups: Mapping[str, Sequence[ApiRoute[Any]]]) -> str:
    sections = (
        part
        for name, calls in groups.items()
        for part in (f"## {name}", table(("call", "needs", "what"), map(_row, calls)))
    )
    return join("# HTTP API", _ROLES, _COMMON, *sections)


def _row(call: ApiRoute[Any]) -> tuple[str, str, str]:
    place = f"{_file(_group(call))}#{_anchor(call)}"
    return f"[{code(_title(call))}]({place})", call.needs, call.summary


def _page(name: str, calls: Sequence[ApiRoute[Any]], description: Mapping[str, Any]) -> str:
    """The calls of a group, and the bodies that travel with them."""
    operations = [description["paths"][path(call)][call.method.lower()] for call in calls]
    bodies = schema.reachable(operations, description["components"]["schemas"])
    return join(
        f"# {name}",
        "[All calls](../http.md)",
        *(part for each in zip(calls, operations, strict=True) for part in _call(*each)),
        "## Bodies",
        *schema.sections(bodies),
    )


def _call(call: ApiRoute[Any], operation: Mapping[str, Any]) -> Iterator[str]:
    yield f"## {_title(call)}"
    yield f"{call.summary}."
    yield f"Needs: {call.needs}."
    yield table(("parameter", "in", "required", "what"), map(_parameter, operation["parameters"]))
    yield _request(operation)
    yield table(
        ("status", "media type", "body"),
        (row for item in operation["responses"].items() for row in _responses(*item)),
    )
    yield _answer_example(operation)


def _request(operation: Mapping[str, Any]) -> str:
    request_body = operation.get("requestBody", {"required": True, "content": {}})
    optional = "" if request_body["required"] else ", optional"
    return "\n\n".join(
        f"Body: {schema.type_name(body['schema'])}, {code(media_type)}{optional}."
        f"\n\n{_example(body)}"
        for media_type, body in request_body["content"].items()
    )


def _answer_example(operation: Mapping[str, Any]) -> str:
    """That of the first response with a body."""
    bodies = (
        body
        for response in operation["responses"].values()
        for body in response.get("content", {}).values()
    )
    body: Mapping[str, Any] = next(bodies, {})
    is_problem = body.get("schema", {}).get("$ref", "").endswith("/Problem")
    return "" if is_problem else _example(body)


def _example(body: Mapping[str, Any]) -> str:
    if "example" not in body:
        return ""
    text = json.dumps(body["example"], ensure_ascii=False)
    return f"```json\n{text}\n```"


def _parameter(parameter: Mapping[str, Any]) -> tuple[str, str, str, str]:
    required = "yes" if parameter["required"] else "no"
    return code(parameter["name"]), parameter["in"], required, parameter.get("description", "")


def _responses(status: str, response: Mapping[str, Any]) -> Iterator[tuple[str, str, str]]:
    status = "any other" if status == "default" else status
    if "content" not in response:
        yield status, "", ""
    for media_type, body in response.get("content", {}).items():
        yield status, code(media_type), schema.type_name(body["schema"])


def _title(call: ApiRoute[Any]) -> str:
    return f"{call.method} {path(call)}"


def path(call: ApiRoute[Any]) -> str:
    """The path as callers write it, without the types of its parameters."""
    return re.sub(r":\w+", "", call.path)


def _file(group: str) -> str:
    return f"{FOLDER}/{group.lower().replace(' ', '-')}.md"


def _anchor(call: ApiRoute[Any]) -> str:
    """As the site's builder makes it of the heading."""
    return re.sub(r"[^\w -]", "", _title(call)).strip().lower().replace(" ", "-")


def _group(call: ApiRoute[Any]) -> str:
    """The first word of the path, for people: `Vector stores`."""
    words = path(call).strip("/").split("/")
    if words[0] != "v1":
        return words[0].upper() if words[0] in ("mcp", "scim") else "Operation"
    return words[1].replace("_", " ").replace("-", " ").capitalize()
