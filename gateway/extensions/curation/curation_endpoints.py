"""An admin lists and resolves questions with low-confidence answers."""

import re
from dataclasses import asdict, replace
from functools import partial
from typing import Any, get_args

from starlette.responses import Response

from gateway.extension import (
    RequestContext,
    document_update,
    json_response,
    problems,
    with_revision,
)
from gateway.extensions._records.faq_text import text_of
from gateway.extensions.curation.curation_schemas import CurationAnswer, CurationItem, ResolveBody
from gateway.extensions.curation.curation_services import CurationServices
from gateway.extensions.curation.low_confidence_store import CurationRecord, State
from index.model.document import FAQ_SOURCE, Document, normalise
from index.model.document_limits import TITLE_CHARACTERS_MAX
from index.model.provenance import Author
from index.text import language_detection
from ingest.write.revision import Put, Written, require_written

_PAGE_MAX = 100
_STATES: tuple[State, ...] = get_args(State)
_CURSOR = re.compile(r"([0-9]{1,18})\.(\w{1,64})", re.ASCII)


async def list_curation(context: RequestContext[CurationServices]) -> Response:
    """List items, most frequent first; `state` defaults to open."""
    caller = await context.authenticate()
    query = context.request.query_params
    state = next((name for name in _STATES if name == query.get("state", "open")), None)
    if state is None:
        raise problems.invalid_field("state", f"must be one of {', '.join(_STATES)}")
    await context.services.low_confidence_log.pending.flush()  # this worker's
    rows = await context.services.low_confidence.page(
        caller.principal.tenant, state, after=_after(query.get("cursor", "")), limit=_PAGE_MAX + 1
    )
    page = rows[:_PAGE_MAX]
    cursor = f"{page[-1].count}.{page[-1].item_id}" if len(rows) > len(page) else None
    return json_response(CurationAnswer(items=tuple(map(_item, page)), cursor=cursor))


async def resolve_curation(context: RequestContext[CurationServices]) -> Response:
    caller = await context.authenticate()
    tenant = caller.principal.tenant
    item_id = context.request.path_params["item_id"]
    body = await context.parse_body(ResolveBody)
    principal = caller.principal
    item, written = await resolve(
        context.services,
        tenant,
        item_id,
        body,
        may_publish=document_update.may_publish(principal),
        author=document_update.author_of(principal),
    )
    response = json_response(_item(item))
    if written is None:
        return response
    return with_revision(response, written.revisions(tenant, caller.revisions.history), tenant)


async def resolve(
    services: CurationServices,
    tenant: str,
    item_id: str,
    body: ResolveBody,
    *,
    may_publish: bool,
    author: Author,
) -> tuple[CurationRecord, Written | None]:
    """Resolve an item with a new document, or dismiss it; a `Problem` if it is invalid or not open.

    The document is written first, so a repeated call writes the same document.
    """
    if body.dismiss == (body.answer is not None):
        raise problems.invalid_field("answer", "must be set, or else `dismiss` must be true")
    item = await services.low_confidence.get(tenant, item_id)
    if item is None:
        raise problems.not_found("item_id", "The item does not exist.")
    if item.state != "open":
        raise problems.conflict("item_id", f"The item is {item.state} already.")
    document_id, written = None, None
    if body.answer is not None:
        language = services.language
        if body.faq_category is None:
            document = _document(item, body, body.answer, language)
        else:
            document = _faq(item, body, body.answer, body.faq_category, language)
        document_id = document.document_id
        revise = partial(_revised, document, is_faq=body.faq_category is not None)
        put = Put(document_id, revise, may_publish=may_publish, author=author)
        (outcome,) = await services.writer.put_all(tenant, [put])
        written = require_written(outcome)
    state: State = "dismissed" if document_id is None else "resolved"
    resolved = await services.low_confidence.resolve(tenant, item_id, state, document_id)
    if resolved is None:
        raise problems.conflict("item_id", "Another request has resolved the item.")
    return resolved, written


def _document(item: CurationRecord, body: ResolveBody, answer: str, language: str) -> Document:
    question = body.question or item.question
    return Document(
        document_id=body.document_id or f"curation/{item.item_id}",
        title=question[:TITLE_CHARACTERS_MAX],
        text=text_of(question, answer),
        source=body.source,
        uri="",
        language=body.language or language,
        tags=body.tags,
        metadata={},
        owner=body.owner,
        readers=body.readers,
        chunker="whole",
    )


def _faq(
    item: CurationRecord, body: ResolveBody, answer: str, category: str, language: str
) -> Document:
    """The document of an active FAQ, as the extension `faqs` reads and writes it.

    Raises a 422 `Problem` if the body says what a FAQ does not have.
    """
    for field in ("document_id", "owner", "source", "tags"):
        if field in body.model_fields_set:
            raise problems.invalid_field(field, "must be absent: a FAQ has none of its own")
    if not body.readers:
        raise problems.invalid_field("readers", "must not be empty: a FAQ has no owner to read it")
    question = " ".join(normalise(body.question or item.question).split())[:TITLE_CHARACTERS_MAX]
    text = text_of(question, answer)
    return replace(
        _document(item, body, answer, language),
        document_id=f"{FAQ_SOURCE}/{item.item_id}",
        title=question,
        text=text,
        source=FAQ_SOURCE,
        language=body.language or language_detection.detect_surely(text) or language,
        tags=(category,),
        metadata={"category": category, "priority": 0},
    )


def _revised(document: Document, stored: Document | None, *, is_faq: bool) -> Document:
    """A FAQ replaces no other document: that is a 409 `Problem`."""
    if is_faq and stored is not None and (stored.source, stored.owner) != (FAQ_SOURCE, None):
        raise problems.conflict(
            "item_id", f"The document {stored.document_id} is no FAQ. Delete it first."
        )
    return document


def _after(cursor: str) -> tuple[int, str] | None:
    if not cursor:
        return None
    match = _CURSOR.fullmatch(cursor)
    if match is None:
        raise problems.invalid_field("cursor", "must be the `cursor` of the previous page")
    return int(match[1]), match[2]


def _item(item: CurationRecord) -> CurationItem:
    fields: dict[str, Any] = asdict(item)
    return CurationItem.model_validate(fields | {"hits": tuple(fields["hits"])})
