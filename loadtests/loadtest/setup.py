"""Tenants, keys and the first documents: made before the load, removed after it."""

import asyncio
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import orjson

from loadtests.load.connection_pool import ConnectionPool
from loadtests.load.request import Call
from loadtests.load.response import HttpResponse
from loadtests.loadtest.judge import Judge
from loadtests.workload import calls
from loadtests.workload.agents import Who
from loadtests.workload.world import Named
from loadtests.workload.writes import Join, Put, Remove, Share, Write

_BATCH_DOCUMENTS = 50
_ROLES = ("reader", "writer")


class NotStaged(Exception):
    """The service has refused what the run needs; the message says what it said."""


@dataclass(frozen=True, slots=True)
class Keys:
    """admin: the operator's, if the run may make tenants. writers: by tenant. readers: of each who
    asks.
    """

    admin: str | None
    writers: Mapping[str, str]
    readers: Mapping[Who, str]


@asynccontextmanager
async def staged(
    connections: ConnectionPool,
    world: Named,
    judge: Judge,
    *,
    key: str | None,
    admin_key: str | None,
) -> AsyncIterator[Keys]:
    """Either key; with the operator's there are tenants of the run's own. Raises `NotStaged`."""
    if admin_key is None:
        assert key is not None, "there is a key or the operator's"
        (who,) = world.subjects
        keys = Keys(None, {who[0]: key}, {who: key})
    else:
        keys = await _made(connections, world, admin_key)
    try:
        await _write_first(connections, world.first, keys, judge)
        yield keys
    finally:
        await asyncio.shield(_remove(connections, keys, judge))


def call_of(write: Write, keys: Keys, judge: Judge) -> Call:
    """judge: knows of it already."""
    if keys.admin is None or not isinstance(write, Put | Share):
        return calls.of(write, {})
    if isinstance(write, Put):
        return calls.of(write, _access(judge.rights.readers(write.tenant, write.document_id)))
    return calls.of(write, _access(write.readers))


def _access(readers: frozenset[str]) -> dict[str, Any]:
    """What one person alone reads is that person's."""
    names = sorted(readers)
    if len(names) == 1 and names[0].startswith("user:"):
        return {"owner": names[0].removeprefix("user:"), "readers": []}
    return {"owner": None, "readers": names}


async def _made(connections: ConnectionPool, world: Named, admin_key: str) -> Keys:
    async def post(path: str, **body: object) -> Any:
        reply = await connections.send(Call("POST", path, orjson.dumps(body)), admin_key)
        return orjson.loads(_done(path, reply).body)

    async def key(tenant: str, subject: str, roles: Sequence[str]) -> str:
        made = await post("/v1/keys", tenant=tenant, subject=subject, roles=roles)
        secret: str = made["key"]
        return secret

    for tenant in world.tenants:
        await post("/v1/tenants", id=tenant)
    return Keys(
        admin_key,
        {tenant: await key(tenant, "loadtest", ["admin"]) for tenant in world.tenants},
        {who: await key(*who, _ROLES) for who in world.subjects},
    )


async def _write_first(
    connections: ConnectionPool, writes: Iterable[Write], keys: Keys, judge: Judge
) -> None:
    waiting: dict[str, list[Put]] = {}
    for write in writes:
        judge.asked(write, 0.0)
        match write:
            case Put():
                batch = waiting.setdefault(write.tenant, [])
                batch.append(write)
                if len(batch) == _BATCH_DOCUMENTS:
                    await _put(connections, waiting.pop(write.tenant), keys)
            case Join() if keys.admin is not None:
                call = calls.of(write, {})
                reply = await connections.send(call, keys.writers[write.tenant])
                _done(call.path, reply)
            case _:
                pass
        judge.acknowledged(write, 0.0, None)
    for batch in waiting.values():
        await _put(connections, batch, keys)


async def _put(connections: ConnectionPool, batch: Sequence[Put], keys: Keys) -> None:
    lines = (
        {"document_id": write.document_id}
        | calls.document(
            write.document_id,
            write.text,
            {} if keys.admin is None else _access(write.readers),
        )
        for write in batch
    )
    path = "/v1/documents/batch"
    body = b"\n".join(map(orjson.dumps, lines))
    reply = _done(
        path, await connections.send(Call("POST", path, body), keys.writers[batch[0].tenant])
    )
    for line in map(orjson.loads, reply.body.splitlines()):
        if "revision" not in line:
            raise NotStaged(f"{path}: {line}")


async def _remove(connections: ConnectionPool, keys: Keys, judge: Judge) -> None:
    """What is left of it, as far as the service still answers."""
    for tenant, key in keys.writers.items():
        if keys.admin is not None:
            await connections.send(Call("DELETE", f"/v1/tenants/{tenant}"), keys.admin)
            continue
        for document_id in judge.rights.documents(tenant):
            call = calls.of(Remove(tenant, document_id), {})
            await connections.send(call, key)


def _done(path: str, reply: HttpResponse) -> HttpResponse:
    if reply.status >= 300:
        said = reply.body.decode(errors="replace")[:500]
        raise NotStaged(f"{path}: {reply.status} {said}")
    return reply
