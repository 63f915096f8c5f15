"""Tenants, keys and the first documents: created before the load, removed after it."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import orjson

from loadtests.load.connection_pool import ConnectionPool, Unanswered
from loadtests.load.request import Call
from loadtests.load.response import HttpResponse
from loadtests.loadtest.judge import StalenessJudge
from loadtests.workload.agents import Who
from loadtests.workload.world import NamedHistory
from loadtests.workload.writes import (
    JoinGroup,
    PutDocument,
    RemoveDocument,
    ShareDocument,
    Write,
    call_of,
)

OnLeft: TypeAlias = Callable[[str], None]

_BATCH_DOCUMENTS = 50
_ROLES = ("reader", "writer")
_REMOVED = (200, 202, 204, 404)


class SetupRefused(Exception):
    """The service rejected a request of the set-up; the message quotes its response."""


@dataclass(frozen=True, slots=True)
class LoadKeys:
    """admin: the operator's key, if the run creates tenants. writers: by tenant. readers: by
    tenant and subject.
    """

    admin: str | None
    writers: Mapping[str, str]
    readers: Mapping[Who, str]


@asynccontextmanager
async def set_up(
    connections: ConnectionPool,
    world: NamedHistory,
    judge: StalenessJudge,
    *,
    key: str | None,
    admin_key: str | None,
    on_left: OnLeft,
) -> AsyncIterator[LoadKeys]:
    """With the operator's key the run creates tenants. Raises `SetupRefused`.

    on_left: called at the end if something that the run wrote is left, with a sentence about it.
    """
    if admin_key is None:
        assert key is not None, "there is a key or the operator's"
        (who,) = world.subjects
        keys = LoadKeys(None, {who[0]: key}, {who: key})
    else:
        keys = await _made(connections, world, admin_key)
    try:
        await _write_first(connections, world.first, keys, judge)
        yield keys
    finally:
        try:
            left = await asyncio.shield(_remove(connections, keys, judge))
        except asyncio.CancelledError:
            on_left("What the run wrote is left: its removal was cancelled.")
            raise
        if left:
            on_left(f"{len(left):,} removals failed, the first: {left[0]}")


def call_with_access(write: Write, keys: LoadKeys, judge: StalenessJudge) -> Call:
    """The HTTP call of a write; the judge already knows the write."""
    match write:
        case PutDocument(tenant, document_id) if keys.admin is not None:
            return call_of(write, _access(judge.rights.readers(tenant, document_id)))
        case ShareDocument(_, _, readers) if keys.admin is not None:
            return call_of(write, _access(readers))
        case _:
            return call_of(write, {})


def _access(readers: frozenset[str]) -> dict[str, Any]:
    """A document with a single reader belongs to that reader."""
    names = sorted(readers)
    if len(names) == 1 and names[0].startswith("user:"):
        return {"owner": names[0].removeprefix("user:"), "readers": []}
    return {"owner": None, "readers": names}


async def _made(connections: ConnectionPool, world: NamedHistory, admin_key: str) -> LoadKeys:
    async def post(path: str, **body: object) -> Any:
        reply = await connections.send(Call("POST", path, orjson.dumps(body)), admin_key)
        return orjson.loads(_done(path, reply).body)

    async def key(tenant: str, subject: str, roles: Sequence[str]) -> str:
        created = await post("/v1/keys", tenant=tenant, subject=subject, roles=roles)
        secret: str = created["key"]
        return secret

    for tenant in world.tenants:
        await post("/v1/tenants", id=tenant)
    roles = ["admin", "publisher"] if world.public else ["admin"]
    admins = {tenant: await key(tenant, "loadtest", roles) for tenant in world.tenants}
    for admin in admins.values() if world.public else ():
        await _receive(connections, admin)
    return LoadKeys(admin_key, admins, {who: await key(*who, _ROLES) for who in world.subjects})


async def _receive(connections: ConnectionPool, admin: str) -> None:
    """Let the admin's tenant receive public documents, as the run expects."""
    path = "/v1/public-documents"
    body = orjson.dumps({"receives": True})
    reply = _done(path, await connections.send(Call("PUT", path, body), admin))
    if not orjson.loads(reply.body)["allowed"]:
        raise SetupRefused(
            f"{path}: the deployment lets no tenant receive public documents: set "
            "NEARHIT_PUBLIC_DOCUMENTS=true, or leave --public out"
        )


async def _write_first(
    connections: ConnectionPool, writes: Iterable[Write], keys: LoadKeys, judge: StalenessJudge
) -> None:
    waiting: dict[str, list[PutDocument]] = {}
    for write in writes:
        judge.asked(write, 0.0)
        match write:
            case PutDocument():
                batch = waiting.setdefault(write.tenant, [])
                batch.append(write)
                if len(batch) == _BATCH_DOCUMENTS:
                    await _put(connections, waiting.pop(write.tenant), keys)
            case JoinGroup() if keys.admin is not None:
                call = call_of(write, {})
                reply = await connections.send(call, keys.writers[write.tenant])
                _done(call.path, reply)
            case _:
                pass
        judge.acknowledged(write, 0.0, None)
    for batch in waiting.values():
        await _put(connections, batch, keys)


async def _put(connections: ConnectionPool, batch: Sequence[PutDocument], keys: LoadKeys) -> None:
    lines = (
        call_of(
            replace(write, delivery="batch"),
            _access(write.readers) if keys.admin is not None else {},
        )
        for write in batch
    )
    path, key = "/v1/documents/batch", keys.writers[batch[0].tenant]
    call = Call("POST", path, b"\n".join(line.body for line in lines))
    reply = _done(path, await connections.send(call, key))
    for line in map(orjson.loads, reply.body.splitlines()):
        if "revision" not in line:
            raise SetupRefused(f"{path}: {line}")


async def _remove(
    connections: ConnectionPool, keys: LoadKeys, judge: StalenessJudge
) -> Sequence[str]:
    """Remove everything that the run created; returns the removals that failed."""
    left = []
    for call, key in _removals(keys, judge):
        try:
            reply = await connections.send(call, key)
        except Unanswered as error:
            left.append(f"{call.path} ({error})")
            continue
        if reply.status not in _REMOVED:
            left.append(f"{call.path} ({reply.status})")
    return left


def _removals(keys: LoadKeys, judge: StalenessJudge) -> Iterator[tuple[Call, str]]:
    for tenant, key in keys.writers.items():
        if keys.admin is not None:
            yield Call("DELETE", f"/v1/tenants/{tenant}"), keys.admin
            continue
        for document_id in judge.rights.documents(tenant):
            yield call_of(RemoveDocument(tenant, document_id), {}), key


def _done(path: str, reply: HttpResponse) -> HttpResponse:
    if reply.status >= 300:
        raise SetupRefused(f"{path} answers {reply.status}: {_detail(reply.body)}")
    return reply


def _detail(body: bytes) -> str:
    """What a problem says; of any other answer, its beginning."""
    try:
        return str(orjson.loads(body)["detail"])
    except (orjson.JSONDecodeError, KeyError, TypeError):
        return body.decode(errors="replace")[:500]
