"""What reading, writing and deleting documents uses."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from cache.invalidation.drain import Invalidation
from cache.redis.store import RedisStore
from common.processes.worker_pool import WorkerPool
from gateway.documents.committed_changes import CommittedChanges
from gateway.monitoring.metrics import Metrics
from gateway.recording.read_log import ReadLog
from gateway.recording.usage_meter import UsageMeter
from gateway.settings.settings import Settings
from gateway.stores import Stores
from index.invalidation.changes import ChangeSet
from index.model.scope import Scope
from index.resident.resident_shards import ResidentShards
from index.search.query_embedder import Embedder
from index.tenants.principals import Principal
from ingest.write.planning_process import PlanningProcess
from ingest.write.write_planner import Preprocessor
from ingest.write.writer import Writer

# Called with the caller, its scope, and the tenant and identifier of a document that it reads.
ReadingWatcher: TypeAlias = Callable[[Principal, Scope, str, str], Awaitable[None]]
# Gets what raises `BudgetSpent` if the budget of the billed tenant is spent. Reads files.
MakePreprocessor: TypeAlias = Callable[
    [Settings, Metrics, Callable[[], Awaitable[None]]], Preprocessor
]


@dataclass(frozen=True, slots=True)
class DocumentServices:
    """reading_watchers: of extensions."""

    settings: Settings
    stores: Stores
    writer: Writer
    read_log: ReadLog
    usage_meter: UsageMeter
    store: RedisStore
    invalidation: Invalidation[ChangeSet]
    reading_watchers: list[ReadingWatcher] = field(default_factory=list)


def build(
    settings: Settings,
    stores: Stores,
    store: RedisStore,
    invalidation: Invalidation[ChangeSet],
    embedders: Sequence[Embedder],
    preprocessor: Preprocessor | None,
    read_log: ReadLog,
    usage_meter: UsageMeter,
    *,
    shards: ResidentShards | None,
    planning: WorkerPool[PlanningProcess],
) -> DocumentServices:
    """shards: that follow commits; None if they are of a standby, which replays them later."""
    writer = Writer(
        stores.documents,
        embedders[0],
        invalidation if shards is None else CommittedChanges(invalidation, shards),
        *embedders[1:],
        preprocessor=preprocessor,
        chunk_counter=usage_meter,
        processes=planning,
    )
    return DocumentServices(
        settings=settings,
        stores=stores,
        writer=writer,
        read_log=read_log,
        usage_meter=usage_meter,
        store=store,
        invalidation=invalidation,
    )
