"""What a process of a region does, if the settings name one: of one of the extensions."""

from gateway.caching.region import OpenRegion, no_region
from gateway.configured import of_one_extension
from gateway.settings.settings import Settings


def find(settings: Settings) -> OpenRegion:
    """Raises `CommandError` unless one extension that is on keeps read leases, if it is needed."""
    if settings.region is None and settings.replica_url is None:
        return no_region
    named = "replica_url" if settings.region is None else "region"
    return of_one_extension.require(
        settings, lambda each: each.region, "keep read leases of regions", named
    )
