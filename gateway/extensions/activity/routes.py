"""The routes of what admins and the operator see of searches, costs, processes and reads."""

from gateway.extension import ApiRoute, Parameter, parameters
from gateway.extensions.activity import (
    audit_log_endpoints,
    audit_log_schemas,
    operation_endpoints,
    operation_schemas,
    statistics_endpoints,
    statistics_schemas,
    usage_endpoint,
    usage_schemas,
)
from gateway.extensions.activity.activity_services import ActivityServices

_AFTER = Parameter(
    {
        "type": "string",
        "description": "`verified` of the part before, or a line that was kept elsewhere, which "
        "must still be in the log",
        "pattern": f"^{audit_log_schemas.HEAD_PATTERN}$",
    }
)
_CHUNK = Parameter(
    {
        "type": "string",
        "description": "only those who were shown this chunk of the document",
        "pattern": "^[0-9]{1,18}$",
    }
)
_UNTIL = Parameter(
    {"type": "string", "description": "only what was before this time", "format": "date-time"}
)

ROUTES: tuple[ApiRoute[ActivityServices], ...] = (
    ApiRoute(
        "GET",
        "/v1/search/statistics",
        statistics_endpoints.get_search_statistics,
        needs="admin",
        summary="Get how searches were answered: by tier and outcome, latencies, audits",
        answer=statistics_schemas.SearchStatisticsAnswer,
        parameters={
            "from": parameters.DAY,
            "step": parameters.one_of("day", "hour"),
            "to": parameters.DAY,
        },
    ),
    ApiRoute(
        "GET",
        "/v1/usage",
        usage_endpoint.get_usage,
        needs="admin",
        summary="Get tokens and cost by day and operation, this month's budget, and quotas",
        answer=usage_schemas.UsageAnswer,
        parameters={"from": parameters.DAY, "to": parameters.DAY},
    ),
    ApiRoute(
        "GET",
        "/v1/processes",
        operation_endpoints.list_processes,
        needs="operator",
        summary="List the gateways and workers that run",
        answer=operation_schemas.ProcessesAnswer,
    ),
    ApiRoute(
        "GET",
        "/v1/latencies",
        operation_endpoints.get_latencies,
        needs="operator",
        summary="Get how long the searches of all tenants took, by time and tier",
        answer=operation_schemas.LatenciesAnswer,
        parameters={"step": parameters.one_of("day", "hour")},
    ),
    ApiRoute(
        "GET",
        "/v1/audit/log",
        audit_log_endpoints.get_audit_log,
        needs="admin",
        summary="List who read and who changed which documents, newest first",
        answer=audit_log_schemas.AuditLogAnswer,
        parameters={
            "cursor": parameters.NUMBER_CURSOR,
            "document": parameters.LINE,
            "limit": parameters.limit(),
            "since": parameters.INSTANT,
            "subject": parameters.LINE,
        },
    ),
    ApiRoute(
        "GET",
        "/v1/audit/recipients",
        audit_log_endpoints.list_recipients,
        needs="admin",
        summary="List who was shown a document or a chunk of it, and when",
        answer=audit_log_schemas.RecipientsAnswer,
        parameters={
            "chunk": _CHUNK,
            "cursor": parameters.NUMBER_CURSOR,
            "document": parameters.LINE,
            "since": parameters.INSTANT,
            "until": _UNTIL,
        },
    ),
    ApiRoute(
        "GET",
        "/v1/audit/chunks",
        audit_log_endpoints.list_chunk_views,
        needs="admin",
        summary="Count how often each chunk of a document was shown",
        answer=audit_log_schemas.ChunkViewsAnswer,
        parameters={
            "cursor": parameters.NUMBER_CURSOR,
            "document": parameters.LINE,
            "since": parameters.INSTANT,
        },
    ),
    ApiRoute(
        "GET",
        "/v1/audit/verification",
        audit_log_endpoints.verify_audit_log,
        needs="admin",
        summary="Verify that the rows of the audit log are as they were written, in parts",
        answer=audit_log_schemas.VerifiedAnswer,
        parameters={"after": _AFTER},
    ),
)
