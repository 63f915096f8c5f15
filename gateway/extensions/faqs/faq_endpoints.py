"""FAQs over HTTP: an admin's key lists, reads, writes and deletes them."""

import re

from starlette.responses import Response

from gateway.extension import (
    AuthenticatedRequest,
    DocumentServices,
    RequestContext,
    document_update,
    preconditions,
    problems,
    read_response,
    remove_document,
    schemas,
    written_response,
)
from gateway.extensions.faqs import faq_document, faq_store
from gateway.extensions.faqs.faq_schemas import (
    FAQ_ID,
    FaqBody,
    FaqCategoriesAnswer,
    FaqCategoryAnswer,
    FaqsAnswer,
    FaqWritten,
)
from gateway.extensions.faqs.faq_store import FaqPosition, StoredFaq
from index.model.document import Document

PAGE_MAX = 100
CATEGORIES_MAX = 1_000
STATES = {"active": True, "inactive": False}
# A priority, an identifier and a category.
CURSOR_PATTERN = r"(-?[0-9]{1,4})\.([A-Za-z0-9][A-Za-z0-9_-]{0,63})\.([^\x00\n]{0,128})"
_CURSOR = re.compile(CURSOR_PATTERN)


async def list_faqs(context: RequestContext[DocumentServices]) -> Response:
    """List FAQs of a category and a state, or all."""
    caller = await authenticated_admin(context)
    query = context.request.query_params
    limit = query.get("limit", str(PAGE_MAX))
    if not re.fullmatch("[0-9]{1,9}", limit) or not 1 <= int(limit) <= PAGE_MAX:
        raise problems.invalid_field("limit", f"must be a number from 1 to {PAGE_MAX}")
    state = query.get("state")
    if state is not None and state not in STATES:
        raise problems.invalid_field("state", f"must be one of {', '.join(STATES)}")
    category = query.get("category")
    rows = await faq_store.page(
        context.services.stores.database,
        caller.principal.tenant,
        category=None
        if category is None
        else schemas.parse_value("category", schemas.LINE, category),
        is_active=None if state is None else STATES[state],
        after=_after(query.get("cursor", "")),
        limit=int(limit) + 1,
    )
    page = rows[: int(limit)]
    log_reads(context, caller, page)
    return read_response(
        FaqsAnswer(
            faqs=tuple(faq_document.to_faq(row.document) for row in page),
            cursor=_cursor(page[-1].position) if len(rows) > len(page) else None,
        )
    )


async def list_categories(context: RequestContext[DocumentServices]) -> Response:
    tenant = (await authenticated_admin(context)).principal.tenant
    database = context.services.stores.database
    rows = await faq_store.categories(database, tenant, limit=CATEGORIES_MAX)
    return read_response(
        FaqCategoriesAnswer(
            categories=tuple(
                FaqCategoryAnswer(category=row.category or None, faqs=row.faqs, active=row.active)
                for row in rows
            )
        )
    )


async def get_faq(context: RequestContext[DocumentServices]) -> Response:
    caller = await authenticated_admin(context)
    document_id = faq_document.document_id_of(_faq_id(context))
    stored = await context.services.stores.documents.stored(caller.principal.tenant, document_id)
    document = _require_faq(caller, None if stored is None else stored.document)
    context.services.read_log.documents(caller.principal, [document_id], by_role=True)
    return preconditions.with_etag(
        context.request, document, read_response(faq_document.to_faq(document))
    )


async def put_faq(context: RequestContext[DocumentServices]) -> Response:
    caller = await authenticated_admin(context)
    services = context.services
    body, faq_id = await context.parse_body(FaqBody), _faq_id(context)
    document = faq_document.to_document(faq_id, body, services.settings.language)
    revise = preconditions.with_preconditions(
        context.request, faq_document.revised(document), "FAQ"
    )
    with context.span("write"):
        written = await services.writer.put(
            caller.principal.tenant,
            document.document_id,
            revise,
            may_publish=document_update.may_publish(caller.principal),
            author=document_update.author_of(caller.principal),
        )
    answer = FaqWritten(id=faq_id, document_id=document.document_id, revision=written.revision)
    return written_response(caller, answer, written)


async def delete_faq(context: RequestContext[DocumentServices]) -> Response:
    caller = await authenticated_admin(context)
    document_id = faq_document.document_id_of(_faq_id(context))
    return await remove_document(context, caller, document_id, _require_faq, "FAQ")


async def authenticated_admin(context: RequestContext[DocumentServices]) -> AuthenticatedRequest:
    """The caller; a 403 `Problem` for a token, which may be narrower than what a FAQ holds."""
    caller = await context.authenticate()
    if caller.principal.is_token:
        raise problems.forbidden("A token can't manage FAQs. Use the key itself.")
    return caller


def log_reads(
    context: RequestContext[DocumentServices], caller: AuthenticatedRequest, page: list[StoredFaq]
) -> None:
    document_ids = [row.document.document_id for row in page]
    context.services.read_log.documents(caller.principal, document_ids, by_role=True)


def _require_faq(_: AuthenticatedRequest, stored: Document | None) -> Document:
    if stored is None or not faq_document.is_faq(stored):
        raise _no_such_faq()
    return stored


def _faq_id(context: RequestContext[DocumentServices]) -> str:
    return schemas.parse_value("id", FAQ_ID, context.request.path_params["faq_id"])


def _after(cursor: str) -> FaqPosition | None:
    if not cursor:
        return None
    match = _CURSOR.fullmatch(cursor)
    if match is None:
        raise problems.invalid_field("cursor", "must be the `cursor` of the previous page")
    return FaqPosition(match[3], int(match[1]), faq_document.document_id_of(match[2]))


def _cursor(position: FaqPosition) -> str:
    faq_id = faq_document.id_of(position.document_id)
    return f"{position.priority}.{faq_id}.{position.category}"


def _no_such_faq() -> problems.Problem:
    return problems.not_found("id", "The FAQ does not exist.")
