"""The tenants, the keys and the first documents; and each write as the call that asks for it."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import orjson

from loadtests.soak import calls
from loadtests.soak.client import Connection, Reply
from loadtests.soak.rights import Rights
from loadtests.soak.servers import Servers
from loadtests.soak.writes import Put, Share, Write

_CREATED = 201


@dataclass(frozen=True, slots=True)
class Keys:
    """admins: by tenant. subjects: by tenant and subject."""

    admins: Mapping[str, str]
    subjects: Mapping[tuple[str, str], str]


async def make_keys(
    servers: Servers, tenants: Sequence[str], subjects: Sequence[tuple[str, str]]
) -> Keys:
    connection = Connection(servers.gateways[0].url)

    async def post(path: str, **body: object) -> Reply:
        reply = await connection.call("POST", path, servers.admin_key, orjson.dumps(body))
        assert reply.status == _CREATED, reply.body
        return reply

    async def key(tenant: str, subject: str, role: str) -> str:
        reply = await post("/v1/keys", tenant=tenant, subject=subject, roles=[role])
        made: str = orjson.loads(reply.body)["key"]
        return made

    for tenant in tenants:
        await post("/v1/tenants", id=tenant)
    keys = Keys(
        {tenant: await key(tenant, "replay", "admin") for tenant in tenants},
        {who: await key(*who, "reader") for who in subjects},
    )
    await connection.close()
    return keys


async def ask_for(write: Write, connection: Connection, keys: Keys, rights: Rights) -> Reply:
    """As the tenant's admin; documents belong to nobody. `rights` know of it already."""
    access: dict[str, Any] = {}
    match write:
        case Put(tenant, document_id):
            access = {"owner": None, "readers": sorted(rights.readers(tenant, document_id))}
        case Share(_, _, readers):
            access = {"readers": sorted(readers)}
        case _:
            pass
    call = calls.of(write, access)
    return await connection.call(call.method, call.path, keys.admins[write.tenant], call.body)


class Lock:
    """Many work, until one wants all to rest."""

    def __init__(self) -> None:
        self._open = asyncio.Event()
        self._open.set()
        self._idle = asyncio.Event()
        self._idle.set()
        self._working = 0

    async def __aenter__(self) -> None:
        await self._open.wait()
        self._working += 1
        self._idle.clear()

    async def __aexit__(self, *_: object) -> None:
        self._working -= 1
        if not self._working:
            self._idle.set()

    async def close(self) -> None:
        """Returns once nobody works."""
        self._open.clear()
        await self._idle.wait()

    def open(self) -> None:
        self._open.set()
