"""The routes of sources."""

from collections.abc import Sequence

from gateway.extension import ApiRoute, Parameter, body_limit, schemas
from gateway.extensions._sources.source_body import body_of
from gateway.extensions.sources import source_answers, source_endpoints
from gateway.extensions.sources.source_services import SourceServices

_CURSOR = Parameter(schemas.LINE.json_schema())


def routes(contributions: Sequence[object]) -> Sequence[ApiRoute[SourceServices]]:
    """With the configuration of each kind. Raises `CommandError` if two have one name."""
    return (
        ApiRoute(
            "GET",
            "/v1/sources",
            source_endpoints.list_sources,
            needs="admin",
            summary="List the tenant's sources with their state and last result, by name",
            answer=source_answers.SourcesAnswer,
            parameters={"cursor": _CURSOR},
        ),
        ApiRoute(
            "PUT",
            "/v1/sources/{source:path}",
            source_endpoints.put_source,
            needs="admin",
            summary="Configure or pause a source",
            body=body_of(contributions),
            body_bytes_max=body_limit(65_536),
            answer=source_answers.SourceAnswer,
        ),
        ApiRoute(
            "POST",
            "/v1/sources/{source:path}/reindex",
            source_endpoints.reindex_source,
            needs="admin",
            summary="Read a source now: embed changed chunks, remove missing documents",
            answer=schemas.QueuedAnswer,
            status=202,
        ),
        ApiRoute(
            "POST",
            "/v1/sources/{source:path}/confirm-removals",
            source_endpoints.confirm_removals,
            needs="admin",
            summary="Confirm that the missing documents which the last reading kept are removed",
            answer=schemas.QueuedAnswer,
            status=202,
        ),
        ApiRoute(
            "DELETE",
            "/v1/sources/{source:path}",
            source_endpoints.delete_source,
            needs="admin",
            summary="Remove a source with all its documents",
            answer=schemas.QueuedAnswer,
            status=202,
        ),
    )
