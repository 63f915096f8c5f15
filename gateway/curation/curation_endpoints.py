"""Questions that could not be answered well: seen, and settled, by an admin."""

import re
from dataclasses import asdict
from typing import Any, get_args

from starlette.responses import Response

from gateway import problems
from gateway.curation.curation_schemas import CurationAnswer, CurationItem, ResolveBody
from gateway.http.request_context import RequestContext, json_response
from gateway.services import Services
from index.model.document import TITLE_CHARACTERS_MAX, Document
from index.tenants.curation import CurationRecord, State
from ingest.sources.faqs import text_of

_PAGE_MAX = 100
_STATES: tuple[State, ...] = get_args(State)
_CURSOR = re.compile(r"([0-9]{1,18})\.(\w{1,64})", re.ASCII)


async def list_curation(context: RequestContext) -> Response:
    """Those asked most often first; `state` is open if absent."""
    caller = await context.authenticate()
    query = context.request.query_params
    state = next((each for each in _STATES if each == query.get("state", "open")), None)
    if state is None:
        raise problems.invalid_field("state", f"must be one of {', '.join(_STATES)}")
    items = await context.services.curation.page(
        caller.principal.tenant, state, after=_after(query.get("cursor", "")), limit=_PAGE_MAX + 1
    )
    shown = items[:_PAGE_MAX]
    cursor = f"{shown[-1].count}.{shown[-1].item_id}" if len(items) > len(shown) else None
    return json_response(CurationAnswer(items=tuple(map(_item, shown)), cursor=cursor))


async def resolve_curation(context: RequestContext) -> Response:
    tenant = (await context.authenticate()).principal.tenant
    item_id = context.request.path_params["item_id"]
    body = context.parse_body(ResolveBody)
    return json_response(_item(await resolve(context.services, tenant, item_id, body)))


async def resolve(
    services: Services, tenant: str, item_id: str, body: ResolveBody
) -> CurationRecord:
    """With a new document of the question and its answer, or by letting it be; a `Problem` if not.

    The document is written first: done twice, it is the same one.
    """
    if body.dismiss == (body.answer is not None):
        raise problems.invalid_field("answer", "must be there, or else `dismiss` must be true")
    item = await services.curation.get(tenant, item_id)
    if item is None:
        raise problems.not_found("item_id", "There is no such item.")
    if item.state != "open":
        raise problems.conflict("item_id", f"It is {item.state} already.")
    document_id = None
    if body.answer is not None:
        document_id = body.document_id or f"curation/{item_id}"
        made = _document(document_id, item, body, body.answer, services.settings.language)
        await services.writer.put(tenant, document_id, lambda _stored: made)
    state: State = "dismissed" if document_id is None else "resolved"
    settled = await services.curation.resolve(tenant, item_id, state, document_id)
    if settled is None:
        raise problems.conflict("item_id", "Somebody else has settled it meanwhile.")
    return settled


def _document(
    document_id: str, item: CurationRecord, body: ResolveBody, said: str, language: str
) -> Document:
    question = body.question or item.question
    return Document(
        document_id=document_id,
        title=question[:TITLE_CHARACTERS_MAX],
        text=text_of(question, said),
        source=body.source,
        uri="",
        language=body.language or language,
        tags=body.tags,
        metadata={},
        owner=body.owner,
        readers=body.readers,
        cut="whole",
    )


def _after(cursor: str) -> tuple[int, str] | None:
    if not cursor:
        return None
    match = _CURSOR.fullmatch(cursor)
    if match is None:
        raise problems.invalid_field("cursor", "must be one that a page before has named")
    return int(match[1]), match[2]


def _item(item: CurationRecord) -> CurationItem:
    told: dict[str, Any] = asdict(item)
    return CurationItem.model_validate(told | {"hits": tuple(told["hits"])})
