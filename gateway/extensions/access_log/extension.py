"""Reads and refused requests are in the audit log, as changes are."""

import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from gateway.extension import AccessRecorders, AnswerLog, Extension, Settings, Stores
from gateway.extensions.access_log.access_log_store import AccessLogStore
from gateway.extensions.access_log.denial_log import DenialLog
from gateway.extensions.access_log.ended_keys import EndedKeyStore
from gateway.extensions.access_log.read_log import StoredReadLog


@asynccontextmanager
async def open_access_log(
    settings: Settings, stores: Stores, answer_log: AnswerLog
) -> AsyncIterator[AccessRecorders]:
    if settings.audit_log == "off":
        yield AccessRecorders()
        return
    store = AccessLogStore(stores.database)
    denials = DenialLog(store, EndedKeyStore(stores.database), time.time)
    async with denials.background_flush():
        if settings.audit_log == "changes":
            yield AccessRecorders(denials=denials)
            return
        reads = StoredReadLog(store, time.time, collect=answer_log.tell)
        answer_log.watchers.append(reads.watch)
        async with reads.background_flush():
            yield AccessRecorders(reads, denials)


EXTENSION: Extension[None] = Extension(
    "reads and refused requests are in the audit log", access_log=open_access_log
)
