"""Follows the configured stores of OpenFGA, each in one worker at a time.

A worker watches a store while it holds a lock on a connection of its own. If the connection is lost
while the worker goes on for a moment, the changes of one of the two are refused: the position in
the store's changes moves by compare-and-swap.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from datetime import UTC, datetime

import structlog

from common.errors import Saturated
from gateway.extension import listed
from gateway.extensions.openfga.errors import OpenfgaUnavailable
from gateway.extensions.openfga.openfga_client import OpenfgaClient
from gateway.extensions.openfga.openfga_metrics import PollOutcome
from gateway.extensions.openfga.openfga_services import OpenfgaServices
from gateway.extensions.openfga.openfga_settings import OpenfgaSettings
from gateway.extensions.openfga.store_watch import StoreWatch, WatchedStore, WatchServices
from gateway.extensions.openfga.tuple_mapping import ObjectRelation, TupleMapping
from index.errors import IndexStoreError
from index.postgres.session import Session
from ingest.errors import DocumentContended

# Starting values, not measured.
_PAUSE_S_MAX = 30.0  # after repeated failures
_LEAD_S = 5.0  # between two attempts to watch a store that another worker watches
_LOCK_S_MAX = 15.0
_REREAD_S = 3_600.0  # all tuples, in case a change was missed

log = structlog.get_logger()


async def watch_stores(services: OpenfgaServices, stop: asyncio.Event) -> None:
    """Follow all configured stores until `stop` is set; a look that runs then is given up."""
    stores = [
        WatchedStore(tenant, store_id) for store_id, tenant in services.settings.tenants().items()
    ]
    async with opened(services) as watching, asyncio.TaskGroup() as group:
        watchers = [StoreWatcher(services, watching, store) for store in stores]
        tasks = [group.create_task(watcher.run(stop)) for watcher in watchers]
        await stop.wait()
        for task in tasks:  # reading all tuples may take minutes
            task.cancel()


@asynccontextmanager
async def opened(services: OpenfgaServices) -> AsyncIterator[WatchServices]:
    """What watchers use; OpenFGA must be configured."""
    settings = services.settings
    assert settings.url is not None, "the caller has checked it"
    token = settings.token
    client = OpenfgaClient(settings.url, None if token is None else token.get_secret_value())
    try:
        yield WatchServices(
            client,
            services.tuples,
            services.writer,
            mapping_of(settings),
            _REREAD_S,
            services.metrics.tuple_ignored,
            services.metrics.tuples_changed,
            lambda: datetime.now(UTC),
        )
    finally:
        await client.close()


def mapping_of(settings: OpenfgaSettings) -> TupleMapping:
    return TupleMapping(
        settings.user_type,
        _relation(settings.group_relation),
        tuple(map(_relation, listed(settings.reader_relations))),
    )


def _relation(text: str) -> ObjectRelation:
    object_type, _, relation = text.partition("#")
    return ObjectRelation(object_type, relation)


class StoreWatcher:
    """Follows one store while this process leads."""

    def __init__(
        self, services: OpenfgaServices, watching: WatchServices, store: WatchedStore
    ) -> None:
        self._services = services
        self._watching = watching
        self._store = store

    async def run(self, stop: asyncio.Event) -> None:
        while not stop.is_set():
            try:
                async with self._services.database.direct_session() as session:
                    await self._lead(session, stop)
            except (IndexStoreError, Saturated, TimeoutError) as error:
                self._log("unavailable", str(error))
            await _pause(stop, _LEAD_S)

    async def _lead(self, session: Session, stop: asyncio.Event) -> None:
        """Poll while the session holds the lock; each look at the lock shows that it is alive."""
        watch, failures = StoreWatch(self._watching, self._store), 0
        outcome: PollOutcome
        while not stop.is_set():
            async with asyncio.timeout(_LOCK_S_MAX):
                if not await session.value("openfga.try_lead", self._store.tenant):
                    return
            pause_s = self._services.settings.poll_s
            try:
                outcome = "read_all" if await watch.poll() else "followed"
                failures = 0
            except (OpenfgaUnavailable, IndexStoreError, Saturated, DocumentContended) as error:
                outcome, failures = "failed", failures + 1
                asked_s = error.retry_after_s if isinstance(error, OpenfgaUnavailable) else 0.0
                pause_s = max(asked_s, min(pause_s * 2 ** min(failures, 10), _PAUSE_S_MAX))
                self._log("failed", str(error))
            except Exception:
                outcome, failures, pause_s = "failed", failures + 1, _PAUSE_S_MAX
                log.exception("openfga", state="failed", store=self._store.store_id)
            self._services.metrics.store_polled(outcome)
            await _pause(stop, pause_s)

    def _log(self, state: str, detail: str) -> None:
        store = self._store
        log.warning(
            "openfga", state=state, tenant=store.tenant, store=store.store_id, detail=detail
        )


async def _pause(stop: asyncio.Event, seconds: float) -> None:
    with suppress(TimeoutError):
        await asyncio.wait_for(stop.wait(), seconds)
