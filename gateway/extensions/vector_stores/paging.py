"""Pages of OpenAI's lists: their query parameters and their response."""

import re
from collections.abc import Mapping, Sequence
from typing import TypeVar

from pydantic import BaseModel

from gateway.extension import RequestContext, problems
from gateway.extensions.vector_stores.schemas.vector_store_schemas import ListAnswer
from gateway.extensions.vector_stores.stored.file_store import FileListing
from gateway.extensions.vector_stores.vector_store_services import VectorStoreServices

Item = TypeVar("Item", bound=BaseModel)

_LIMIT_MAX = 100
_CURSOR_CHARACTERS_MAX = 512
_LIMIT = 20  # OpenAI's default


def page_of(context: RequestContext[VectorStoreServices]) -> FileListing:
    """The requested page plus one item, which shows whether there is a further page."""
    query = context.request.query_params
    limit = query.get("limit", str(_LIMIT))
    if not re.fullmatch("[0-9]{1,5}", limit) or int(limit) < 1:
        raise problems.invalid_field("limit", f"must be a number from 1 to {_LIMIT_MAX}")
    order = query.get("order", "desc")
    if order not in ("asc", "desc"):
        raise problems.invalid_field("order", "must be asc or desc")
    after, before = _cursor(query, "after", "last_id"), _cursor(query, "before", "first_id")
    if after is not None and before is not None:
        raise problems.invalid_field("before", "must not be there beside after")
    is_backward = before is not None
    return FileListing(
        before if is_backward else after,
        (order == "desc") is not is_backward,
        min(int(limit), _LIMIT_MAX) + 1,
        is_backward,
    )


def _cursor(query: Mapping[str, str], name: str, field: str) -> str | None:
    value = query.get(name) or None
    if value is not None and len(value) > _CURSOR_CHARACTERS_MAX:
        raise problems.invalid_field(name, f"must be `{field}` of another page")
    return value


def list_answer(items: Sequence[Item], page: FileListing, ids: Sequence[str]) -> ListAnswer[Item]:
    """items, ids: as they were listed; has_more says whether there are further ones that way."""
    page_items, page_ids = items[: page.limit - 1], ids[: page.limit - 1]
    if page.is_backward:
        page_items, page_ids = page_items[::-1], page_ids[::-1]
    return ListAnswer(
        data=tuple(page_items),
        first_id=page_ids[0] if page_ids else None,
        last_id=page_ids[-1] if page_ids else None,
        has_more=len(items) > len(page_items),
    )
