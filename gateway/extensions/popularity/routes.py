"""The routes of popularity."""

from gateway.extension import ApiRoute, body_limit
from gateway.extensions.popularity import popularity_endpoints, popularity_schemas
from gateway.extensions.popularity.popularity_services import PopularityServices

ROUTES: tuple[ApiRoute[PopularityServices], ...] = (
    ApiRoute(
        "POST",
        "/v1/feedback",
        popularity_endpoints.post_feedback,
        needs="reader",
        summary="Report which documents were opened, if the tenant counts it",
        body=popularity_schemas.FeedbackBody,
        answer=popularity_schemas.FeedbackAnswer,
    ),
    ApiRoute(
        "GET",
        "/v1/popularity",
        popularity_endpoints.get_popularity,
        needs="admin",
        summary="Get which openings of documents count for their popularity",
        answer=popularity_schemas.PopularityBody,
    ),
    ApiRoute(
        "PUT",
        "/v1/popularity",
        popularity_endpoints.put_popularity,
        needs="admin",
        summary="Set which openings count, or none and delete those stored",
        body=popularity_schemas.PopularityBody,
        body_bytes_max=body_limit(1_024),
        answer=popularity_schemas.PopularityBody,
    ),
)
