"""The second tier: the answers that all processes share in Redis, and the lock of who fills one."""

import asyncio
import secrets
from dataclasses import replace
from typing import Any

from cache import protocol
from cache.errors import CacheUnavailable
from cache.invalidation.drain import CountEvent, Invalidation
from cache.lookup import ComputedAnswer, ServedAnswer
from cache.protocol import EntryVersion
from cache.redis.codec import Entry
from cache.redis.store import CacheSnapshot, RedisStore
from cache.tiers.tier import LookupRun

_ATTEMPTS_MAX = 8  # of one fill, whose compare-and-swap may fail; giving up costs speed only
# For another process that computes the same; starting values, not measured.
_WAIT_S_MAX = 0.3
_WAIT_S = 0.004
# Of an answer with its record in Redis, a starting value. With the number of entries it bounds what
# a tenant takes of the server's memory, for which Redis else evicts the answers of others.
ENTRY_BYTES_MAX = 65_536


class RedisTier:
    def __init__(
        self, store: RedisStore, invalidation: Invalidation[Any], count: CountEvent
    ) -> None:
        self._store = store
        self._invalidation = invalidation
        self._count = count

    async def look(self, run: LookupRun) -> ServedAnswer | None:
        """A run that only computing can answer then asks for the fill lock in the same trip."""
        if run.lookup.question is None:
            return await self.look_to_fill(run)
        run.snapshot = await self.snapshot(run)
        return _served(run)

    async def look_to_fill(self, run: LookupRun) -> ServedAnswer | None:
        """The answer, or the fill lock; waits `_WAIT_S_MAX` for a process that holds the lock."""
        run.lock_token = secrets.token_hex(8)
        run.snapshot = await self.snapshot(run)
        if _is_being_filled(run):
            self._count("waited")
            clock_s = asyncio.get_running_loop().time
            ends_s = clock_s() + _WAIT_S_MAX
            while _is_being_filled(run) and clock_s() < ends_s:
                await asyncio.sleep(_WAIT_S)
                run.snapshot = await self.snapshot(run)
        return _served(run)

    async def keep(self, run: LookupRun, served: ServedAnswer) -> ServedAnswer:
        if run.snapshot is None or run.keepable is None:
            return served
        return replace(served, stored=await self._fill(run, run.snapshot, run.keepable))

    async def snapshot(self, run: LookupRun) -> CacheSnapshot | None:
        """A snapshot whose state has all the partitions; None if Redis is unavailable."""
        lookup, revisions = run.lookup, run.revisions
        try:
            snapshot = await self._store.lookup(
                lookup.tenant, revisions.history, lookup.key, lock_token=run.lock_token
            )
            if await self._invalidation.is_impossible(snapshot, revisions):
                return None  # and the computed answer will belong to another history too
            return await self._with_partitions(run, snapshot)
        except CacheUnavailable:
            self._count("unavailable")
            return None

    def holds_lock(self, run: LookupRun) -> bool:
        snapshot, token = run.snapshot, run.lock_token
        return bool(token) and snapshot is not None and snapshot.fill_lock_owner == token

    async def release(self, run: LookupRun) -> None:
        """Release the fill lock of a run that has stored nothing."""
        try:
            await self._store.release_fill_lock(run.lookup.tenant, run.lookup.key)
        except CacheUnavailable:
            self._count("unavailable")

    async def drop(self, tenant: str, key: str) -> None:
        try:
            await self._store.drop(tenant, key)
        except CacheUnavailable:
            self._count("unavailable")

    async def _with_partitions(self, run: LookupRun, snapshot: CacheSnapshot) -> CacheSnapshot:
        """The snapshot with the run's partitions in its state.

        If another worker has changed the state meanwhile, the snapshot holds that state instead.
        """
        state = snapshot.state
        if state is None:
            self._count("reset")
            new_state = protocol.reset(snapshot.server_id, secrets.token_hex(8), run.revisions)
        else:
            new_state = protocol.with_partitions(state, run.revisions)
        if new_state is state:
            return snapshot
        cas = await self._store.compare_and_swap(snapshot, new_state)
        return replace(cas.snapshot, fill_lock_owner=snapshot.fill_lock_owner)

    async def _fill(self, run: LookupRun, snapshot: CacheSnapshot, answer: ComputedAnswer) -> bool:
        """Store the answer; False if it is too large or the state has changed."""
        record = answer.record()
        if len(answer.body) + len(record) > ENTRY_BYTES_MAX:
            self._count("oversized")
            return False
        if snapshot.state is None:
            return False
        lookup = run.lookup
        version = EntryVersion(snapshot.state.nonce, answer.as_of)
        question = b"" if lookup.question is None else lookup.question.encode()
        entry = Entry(version, record, question, answer.body)
        try:
            for _ in range(_ATTEMPTS_MAX):
                if not protocol.may_fill(snapshot.state, version):
                    break
                fill = await self._store.fill(
                    snapshot, lookup.key, entry, lock_token=run.lock_token
                )
                if fill.is_done:
                    self._count("stored")
                    self._invalidation.register_stored(lookup.tenant, lookup.key, entry, fill)
                    return True
                snapshot = fill.snapshot
        except CacheUnavailable:
            self._count("unavailable")
        self._count("refused")
        return False


def _served(run: LookupRun) -> ServedAnswer | None:
    """The entry of the run's snapshot, if the state allows it."""
    if run.snapshot is None or run.snapshot.entry is None:
        return None
    state, entry = run.snapshot.state, run.snapshot.entry
    if state is None or not protocol.may_serve(state, entry.version, run.revisions):
        return None
    valid_until = protocol.valid_until(state, entry.version, run.revisions)
    return ServedAnswer(entry.body, valid_until, "redis", run.lookup.key)


def _is_being_filled(run: LookupRun) -> bool:
    """Whether another process is computing the answer."""
    return run.snapshot is not None and run.snapshot.fill_lock_owner not in ("", run.lock_token)
