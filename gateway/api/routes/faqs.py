"""The routes of FAQs; see `gateway.api.routes.table`."""

from gateway.api import parameters
from gateway.documents import deletion_schemas
from gateway.documents.document_services import DocumentServices
from gateway.faqs import faq_endpoints, faq_schemas, faq_transfer
from gateway.http.route import ApiRoute, body_limit

_NDJSON = "application/x-ndjson"
_CSV = "text/csv"

ROUTES: tuple[ApiRoute[DocumentServices], ...] = (
    ApiRoute(
        "GET",
        "/v1/faqs",
        faq_endpoints.list_faqs,
        needs="admin",
        summary="List FAQs by category, the highest priority first",
        answer=faq_schemas.FaqsAnswer,
        parameters={
            "category": parameters.LINE,
            "cursor": parameters.cursor(f"^({faq_endpoints.CURSOR_PATTERN})?$"),
            "limit": parameters.limit(),
            "state": parameters.one_of("active", "inactive"),
        },
    ),
    ApiRoute(
        "GET",
        "/v1/faq-categories",
        faq_endpoints.list_categories,
        needs="admin",
        summary="List the categories of FAQs, and how many each has",
        answer=faq_schemas.FaqCategoriesAnswer,
    ),
    ApiRoute(
        "GET",
        "/v1/faq-export",
        faq_transfer.export_faqs,
        needs="admin",
        summary="Get all FAQs, one per line, as an import takes them",
        answer=faq_schemas.FaqLine,
        media_type=_NDJSON,
    ),
    ApiRoute(
        "POST",
        "/v1/faq-import",
        faq_transfer.import_faqs,
        needs="admin",
        summary="Write many FAQs, one per line; the response has one result per line",
        body=faq_schemas.FaqLine,
        body_bytes_max=lambda settings: settings.batch_bytes_max,
        answer=faq_schemas.FaqImported,
        media_type=_NDJSON,
    ),
    ApiRoute(
        "GET",
        "/v1/faq-export/csv",
        faq_transfer.export_csv,
        needs="admin",
        summary="Get all FAQs as CSV, one per row, as an import of CSV takes them",
        answer=faq_schemas.FaqLine,
        media_type=_CSV,
    ),
    ApiRoute(
        "POST",
        "/v1/faq-import/csv",
        faq_transfer.import_csv,
        needs="admin",
        summary="Write many FAQs from CSV, one per row; the response has one result per row",
        body=faq_schemas.FaqLine,
        body_type=_CSV,
        body_bytes_max=lambda settings: settings.batch_bytes_max,
        answer=faq_schemas.FaqImported,
        media_type=_NDJSON,
    ),
    ApiRoute(
        "GET",
        "/v1/faqs/{faq_id}",
        faq_endpoints.get_faq,
        needs="admin",
        summary="Get a FAQ",
        answer=faq_schemas.FaqAnswer,
        has_etag=True,
    ),
    ApiRoute(
        "PUT",
        "/v1/faqs/{faq_id}",
        faq_endpoints.put_faq,
        needs="admin",
        summary="Write a FAQ; searches find it while it is active",
        body=faq_schemas.FaqBody,
        body_bytes_max=body_limit(262_144),
        answer=faq_schemas.FaqWritten,
        has_preconditions=True,
    ),
    ApiRoute(
        "DELETE",
        "/v1/faqs/{faq_id}",
        faq_endpoints.delete_faq,
        needs="admin",
        summary="Delete a FAQ; the response lists what is still pending",
        answer=deletion_schemas.DeletionAnswer,
        queued_answer=deletion_schemas.DeletionAnswer,
        has_preconditions=True,
    ),
)
