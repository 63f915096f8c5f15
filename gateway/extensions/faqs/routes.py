"""The routes of FAQs, for admins."""

from collections.abc import Callable
from functools import partial

from gateway.extension import (
    ApiRoute,
    DeletionAnswer,
    DocumentServices,
    Parameter,
    body_limit,
    schemas,
)
from gateway.extensions.faqs import faq_endpoints, faq_schemas, faq_transfer

_NDJSON = "application/x-ndjson"
_CSV = "text/csv"
_FAQ_ID = Parameter({**faq_schemas.FAQ_ID.json_schema(), "description": "identifier of the FAQ"})
_CURSOR = f"^({faq_endpoints.CURSOR_PATTERN})?$"

_route: Callable[..., ApiRoute[DocumentServices]] = partial(
    ApiRoute, needs="admin", path_parameters={"faq_id": _FAQ_ID}
)

ROUTES: tuple[ApiRoute[DocumentServices], ...] = (
    _route(
        "GET",
        "/v1/faqs",
        faq_endpoints.list_faqs,
        summary="List FAQs by category, the highest priority first",
        answer=faq_schemas.FaqsAnswer,
        parameters={
            "category": Parameter(
                {**schemas.LINE.json_schema(), "description": "only FAQs of this category"}
            ),
            "cursor": Parameter({"type": "string", "pattern": _CURSOR}),
            "limit": Parameter(
                {"type": "integer", "minimum": 1, "maximum": faq_endpoints.PAGE_MAX}
            ),
            "state": Parameter({"type": "string", "enum": [*faq_endpoints.STATES]}),
        },
    ),
    _route(
        "GET",
        "/v1/faq-categories",
        faq_endpoints.list_categories,
        summary="List the categories of FAQs, and how many each has",
        answer=faq_schemas.FaqCategoriesAnswer,
    ),
    _route(
        "GET",
        "/v1/faq-export",
        faq_transfer.export_faqs,
        summary="Get all FAQs, one per line, as an import takes them",
        answer=faq_schemas.FaqLine,
        media_type=_NDJSON,
    ),
    _route(
        "POST",
        "/v1/faq-import",
        faq_transfer.import_faqs,
        summary="Write many FAQs, one per line; the response has one result per line",
        body=faq_schemas.FaqLine,
        body_bytes_max=lambda settings: settings.batch_bytes_max,
        answer=faq_schemas.FaqImported,
        media_type=_NDJSON,
    ),
    _route(
        "GET",
        "/v1/faq-export/csv",
        faq_transfer.export_csv,
        summary="Get all FAQs as CSV, one per row, as an import of CSV takes them",
        answer=faq_schemas.FaqLine,
        media_type=_CSV,
    ),
    _route(
        "POST",
        "/v1/faq-import/csv",
        faq_transfer.import_csv,
        summary="Write many FAQs from CSV, one per row; the response has one result per row",
        body=faq_schemas.FaqLine,
        body_type=_CSV,
        body_bytes_max=lambda settings: settings.batch_bytes_max,
        answer=faq_schemas.FaqImported,
        media_type=_NDJSON,
    ),
    _route(
        "GET",
        "/v1/faqs/{faq_id}",
        faq_endpoints.get_faq,
        summary="Get a FAQ",
        answer=faq_schemas.FaqAnswer,
        has_etag=True,
    ),
    _route(
        "PUT",
        "/v1/faqs/{faq_id}",
        faq_endpoints.put_faq,
        summary="Write a FAQ; searches find it while it is active",
        body=faq_schemas.FaqBody,
        body_bytes_max=body_limit(262_144),
        answer=faq_schemas.FaqWritten,
        has_preconditions=True,
    ),
    _route(
        "DELETE",
        "/v1/faqs/{faq_id}",
        faq_endpoints.delete_faq,
        summary="Delete a FAQ; the response lists what is still pending",
        answer=DeletionAnswer,
        queued_answer=DeletionAnswer,
        has_preconditions=True,
    ),
)
