"""The sources that the index is behind: an audit reads each, and writes nothing."""

import asyncio
from collections.abc import AsyncIterator

from gateway.extension import IndexProblem
from gateway.extensions._sources.sync.dry_run import DryRunWriter
from gateway.extensions._sources.sync.pruning import ANY_NUMBER
from gateway.extensions._sources.sync.source_sync import READING_S_MAX, SourceSync
from gateway.extensions.sources.source_services import SourceServices
from ingest.errors import JobRefused
from ingest.worker import job_slot


async def problems(
    services: SourceServices,
    tenant: str,
    repair: bool,  # noqa: FBT001  `Extension.audit` has it so
) -> AsyncIterator[IndexProblem]:
    """Yield sources that have changed or can't be read; a repair queues their synchronization.

    All of them together have the time of one reading, and each has a second of it at least. Those
    that wait for their hosts come last: from then on the audit needs no slot.
    """
    kinds = services.kinds
    loop = asyncio.get_running_loop()
    until_s = loop.time() + READING_S_MAX
    sources = await services.sources.all(tenant)
    for source in sorted(sources, key=lambda each: not kinds.needs_slot(each.kind)):
        if source.kind is None or source.paused:
            continue
        if kinds.following(source.kind) is not None:
            if source.last_error is not None:
                yield IndexProblem("behind", source.source, source.last_error)
            continue
        if not kinds.needs_slot(source.kind):
            job_slot.leave()
        dry_run = DryRunWriter(services.stores.documents)
        try:
            body = kinds.configured(source)
            assert body is not None, "it has a kind"
            reader = await kinds.open(tenant, source.source, body)
            sync = SourceSync(
                reader,
                tenant,
                dry_run,
                services.stores.documents,
                ANY_NUMBER,
                source.may_publish,
            )
            await sync.read(time_s_max=max(1.0, until_s - loop.time()))
        except JobRefused as refused:
            yield IndexProblem("behind", source.source, str(refused))
            continue
        if dry_run.behind:
            if repair:
                await services.sources.enqueue_sync(tenant, source.source)
            yield IndexProblem(
                "behind", source.source, f"{len(dry_run.behind):,} documents", repair
            )
