"""What counting the openings of documents uses."""

import time
from dataclasses import dataclass

from cache.invalidation.drain import Invalidation
from gateway.extension import Services
from gateway.extensions.popularity.opening_log import OpeningLog
from gateway.extensions.popularity.popularity_rollup import PopularityRollup
from gateway.extensions.popularity.popularity_store import PopularityStore
from index.invalidation.changes import ChangeSet

_INTERVAL_S = 60.0  # of a tenant: each update ends cached answers that rank by it


@dataclass(frozen=True, slots=True)
class PopularityServices:
    popularity: PopularityStore
    openings: OpeningLog
    rollup: PopularityRollup
    invalidation: Invalidation[ChangeSet]


def build(services: Services) -> PopularityServices:
    stores = services.stores
    store = PopularityStore(stores.database)
    return PopularityServices(
        store,
        OpeningLog(stores.visible_documents, store, time.time),
        PopularityRollup(stores.database, interval_s=_INTERVAL_S),
        services.documents.invalidation,
    )
