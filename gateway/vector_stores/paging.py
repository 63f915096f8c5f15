"""Pages of OpenAI's lists: their query parameters and their response."""

import re
from collections.abc import Sequence
from typing import TypeVar

from pydantic import BaseModel

from gateway import problems
from gateway.http.request_context import RequestContext
from gateway.vector_stores.vector_store_schemas import ListAnswer
from gateway.vector_stores.vector_store_services import VectorStoreServices
from index.vector_stores.file_store import FileListing

Item = TypeVar("Item", bound=BaseModel)

_LIMIT_MAX = 100
_LIMIT = 20  # OpenAI's default


def page_of(context: RequestContext[VectorStoreServices]) -> FileListing:
    """The requested page plus one item, which shows whether there is a next page."""
    query = context.request.query_params
    if "before" in query:
        raise problems.invalid_field("before", "is not supported. Use after")
    limit = query.get("limit", str(_LIMIT))
    if not re.fullmatch("[0-9]{1,5}", limit) or int(limit) < 1:
        raise problems.invalid_field("limit", f"must be a number from 1 to {_LIMIT_MAX}")
    order = query.get("order", "desc")
    if order not in ("asc", "desc"):
        raise problems.invalid_field("order", "must be asc or desc")
    after = query.get("after") or None
    if after is not None and len(after) > 512:
        raise problems.invalid_field("after", "must be `last_id` of the previous page")
    return FileListing(after, order == "desc", min(int(limit), _LIMIT_MAX) + 1)


def list_answer(items: Sequence[Item], page: FileListing, ids: Sequence[str]) -> ListAnswer[Item]:
    page_items, page_ids = items[: page.limit - 1], ids[: page.limit - 1]
    return ListAnswer(
        data=tuple(page_items),
        first_id=page_ids[0] if page_ids else None,
        last_id=page_ids[-1] if page_ids else None,
        has_more=len(items) > len(page_items),
    )
