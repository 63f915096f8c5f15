"""What SCIM's calls have in common: the caller's tenant, pages, and which attributes are shown."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import orjson
from pydantic import BaseModel
from starlette.responses import Response

from gateway.admin.admin_services import AdminServices
from gateway.http.request_context import RequestContext
from gateway.scim.attribute_filter import Equalities, parse_filter
from gateway.scim.errors import MEDIA_TYPE, invalid
from gateway.scim.scim_schemas import ResourceList

PAGE_MAX = 100
_START_MAX = 10_000_000
_NOTHING: Equalities = {"id": ""}  # of a filter that contradicts itself
_INTEGER = re.compile("-?[0-9]{1,9}")


@dataclass(frozen=True, slots=True)
class PageOf:
    """start: rows to skip. match: the values that the filter asks for."""

    start: int
    limit: int
    match: Equalities = field(default_factory=dict)


async def own_tenant(context: RequestContext[AdminServices]) -> str:
    return (await context.authenticate()).principal.tenant


def resource_id(context: RequestContext[AdminServices]) -> str:
    value: str = context.request.path_params["resource_id"]
    return value


def page_of(context: RequestContext[AdminServices], attributes: Sequence[str]) -> PageOf:
    """The requested page. attributes: those that a filter may name. Raises a 400 `Problem`.

    RFC 7644, section 3.4.2.4: a `startIndex` below 1 counts as 1, a negative `count` as 0.
    """
    query = context.request.query_params
    start = max(1, min(_integer("startIndex", query.get("startIndex"), 1), _START_MAX)) - 1
    limit = max(0, min(_integer("count", query.get("count"), PAGE_MAX), PAGE_MAX))
    text = query.get("filter")
    if not text:
        return PageOf(start, limit)
    alternatives = parse_filter(text)
    names = {name.lower() for name in attributes}
    if not all(names.issuperset(each) for each in alternatives):
        raise invalid("invalidFilter", f"A filter may name {', '.join(attributes)}.")
    if len(alternatives) > 1:
        raise invalid("invalidFilter", "A filter of a list may join comparisons by `and` only.")
    return PageOf(start, limit, alternatives[0] if alternatives else _NOTHING)


def matching(page: PageOf, attribute: str) -> str | None:
    """The value that the filter asks for of this attribute; None if it does not name it."""
    return page.match.get(attribute.lower())


def resource_response(
    context: RequestContext[AdminServices], resource: BaseModel, status: int = 200
) -> Response:
    body = _shown(context, resource)
    response = Response(orjson.dumps(body), status, media_type=MEDIA_TYPE)
    if status == 201:
        response.headers["Location"] = body["meta"]["location"] if "meta" in body else ""
    return response


def list_response(
    context: RequestContext[AdminServices],
    page: PageOf,
    total: int,
    resources: Sequence[BaseModel],
) -> Response:
    answer = ResourceList(
        total_results=total,
        start_index=page.start + 1,
        items_per_page=len(resources),
        resources=tuple(_shown(context, resource) for resource in resources),
    )
    return Response(answer.model_dump_json(by_alias=True), media_type=MEDIA_TYPE)


def shows(context: RequestContext[AdminServices], attribute: str) -> bool:
    """Whether the caller wants the attribute: RFC 7644, section 3.9."""
    query = context.request.query_params
    if wanted := _names(query.get("attributes")):
        return attribute.lower() in wanted
    return attribute.lower() not in _names(query.get("excludedAttributes"))


def _shown(context: RequestContext[AdminServices], resource: BaseModel) -> dict[str, Any]:
    body: Mapping[str, Any] = resource.model_dump(mode="json", by_alias=True, exclude_none=True)
    always = ("schemas", "id")
    return {name: value for name, value in body.items() if name in always or shows(context, name)}


def _names(parameter: str | None) -> set[str]:
    """Attributes of a list, in lower case, without the schema before and a part behind."""
    names = (name.strip().rpartition(":")[2] for name in (parameter or "").split(","))
    return {name.partition(".")[0].lower() for name in names if name}


def _integer(name: str, text: str | None, default: int) -> int:
    if text is None:
        return default
    if not _INTEGER.fullmatch(text):
        raise invalid("invalidValue", f"{name} must be an integer.")
    return int(text)
