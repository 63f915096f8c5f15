"""Which part of a list is asked for, and the list as it is answered."""

import re
from collections.abc import Mapping, Sequence
from typing import TypeVar

from pydantic import BaseModel

from gateway import problems
from gateway.api import parameters
from gateway.http.request_context import Parameter, RequestContext
from gateway.vector_stores.vector_store_schemas import ListAnswer
from index.documents.file_store import FileListing

Item = TypeVar("Item", bound=BaseModel)

_LIMIT_MAX = 100
PARAMETERS: Mapping[str, Parameter] = {
    "after": Parameter(
        {"type": "string", "maxLength": 512, "description": "`last_id` of the page before"}
    ),
    "limit": parameters.limit(99_999),  # more than 100 give 100
    "order": parameters.one_of("asc", "desc"),
}
_LIMIT = 20  # as OpenAI's lists have it


def page_of(context: RequestContext) -> FileListing:
    """With one more than is asked for, which tells whether there are more."""
    query = context.request.query_params
    if "before" in query:
        raise problems.invalid_field("before", "is not supported; go on with after")
    limit = query.get("limit", str(_LIMIT))
    if not re.fullmatch("[0-9]{1,5}", limit) or int(limit) < 1:
        raise problems.invalid_field("limit", f"must be a number from 1 to {_LIMIT_MAX}")
    order = query.get("order", "desc")
    if order not in ("asc", "desc"):
        raise problems.invalid_field("order", "must be asc or desc")
    after = query.get("after") or None
    if after is not None and len(after) > 512:
        raise problems.invalid_field("after", "must be the id of the last one of the page before")
    return FileListing(after, order == "desc", min(int(limit), _LIMIT_MAX) + 1)


def listed(items: Sequence[Item], page: FileListing, ids: Sequence[str]) -> ListAnswer[Item]:
    shown, names = items[: page.limit - 1], ids[: page.limit - 1]
    return ListAnswer(
        data=tuple(shown),
        first_id=names[0] if names else None,
        last_id=names[-1] if names else None,
        has_more=len(items) > len(shown),
    )
