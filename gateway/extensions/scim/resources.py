"""What SCIM's calls have in common: the caller's tenant, pages, and which attributes are shown."""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import orjson
from pydantic import BaseModel
from starlette.responses import Response

from gateway.extension import RequestContext
from gateway.extensions.scim.errors import MEDIA_TYPE, invalid
from gateway.extensions.scim.filters.filter_grammar import (
    AnyValue,
    AttributeExpression,
    Filter,
    conjunction,
    leaves,
    parse_filter,
)
from gateway.extensions.scim.filters.filter_predicates import Attributes, Predicate, compile_filter
from gateway.extensions.scim.scim_schemas import ResourceList
from gateway.extensions.scim.scim_services import ScimServices

PAGE_MAX = 100
_START_MAX = 10_000_000
_INTEGER = re.compile("-?[0-9]{1,9}")


@dataclass(frozen=True, slots=True)
class PageOf:
    """start: rows to skip.

    equal: by attribute, the values that the filter asks for. is_met: its other conditions, which
    name the attributes `examined`.
    """

    start: int
    limit: int
    equal: Mapping[str, str] = field(default_factory=dict)
    is_met: Predicate | None = None
    examined: frozenset[str] = frozenset()


async def own_tenant(context: RequestContext[ScimServices]) -> str:
    return (await context.authenticate()).principal.tenant


def resource_id(context: RequestContext[ScimServices]) -> str:
    value: str = context.request.path_params["resource_id"]
    return value


def page_of(
    context: RequestContext[ScimServices],
    schema: str,
    attributes: Attributes,
    indexed: Collection[str],
) -> PageOf:
    """The requested page. Raises a 400 `Problem`.

    attributes: those that a filter may name. indexed: those that PostgreSQL compares by `eq`.

    RFC 7644, section 3.4.2.4: a `startIndex` below 1 counts as 1, a negative `count` as 0.
    """
    query = context.request.query_params
    start = max(1, min(_integer("startIndex", query.get("startIndex"), 1), _START_MAX)) - 1
    limit = max(0, min(_integer("count", query.get("count"), PAGE_MAX), PAGE_MAX))
    text = query.get("filter")
    if not text:
        return PageOf(start, limit)
    parsed = parse_filter(text)
    is_met = compile_filter(parsed, schema, attributes)
    equal: dict[str, str] = {}
    others: list[Filter] = []
    for term in conjunction(parsed):
        pair = _equality(term)
        if pair is not None and pair[0] in indexed and pair[0] not in equal:
            equal.update([pair])
        else:
            others.append(term)
    if not others:
        return PageOf(start, limit, equal)
    examined = frozenset(leaf.attribute for term in others for leaf in leaves(term))
    return PageOf(start, limit, equal, is_met, examined)


def _equality(term: Filter) -> tuple[str, str] | None:
    """The attribute and the value that the term asks for, if it is such a comparison.

    `members.value eq "ID"` asks for `members`.
    """
    match term:
        case AttributeExpression(_, attribute, "eq", str(value)):
            return attribute, value
        case AnyValue(_, attribute, AttributeExpression(_, "value", "eq", str(value))):
            return attribute, value
        case _:
            return None


def resource_response(
    context: RequestContext[ScimServices], resource: BaseModel, status: int = 200
) -> Response:
    body = _shown(context, resource)
    response = Response(orjson.dumps(body), status, media_type=MEDIA_TYPE)
    if status == 201:
        response.headers["Location"] = body["meta"]["location"] if "meta" in body else ""
    return response


def list_response(
    context: RequestContext[ScimServices],
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


def shows(context: RequestContext[ScimServices], attribute: str) -> bool:
    """Whether the caller wants the attribute: RFC 7644, section 3.9."""
    query = context.request.query_params
    if wanted := _names(query.get("attributes")):
        return attribute.lower() in wanted
    return attribute.lower() not in _names(query.get("excludedAttributes"))


def _shown(context: RequestContext[ScimServices], resource: BaseModel) -> dict[str, Any]:
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
