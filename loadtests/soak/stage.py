"""Creates the tenants and the keys; and the lock that pauses all work."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import orjson

from loadtests.load.request import Call
from loadtests.load.response import HttpResponse
from loadtests.soak.connections import connect
from loadtests.soak.model.credentials import CredentialModel, IssuedCredential
from loadtests.workload.viewer import Viewer

_CREATED = 201
_ERRORS_MAX = 0.2  # permitted for the semantic tier, so that a short soak gets some answers from it


@dataclass(frozen=True, slots=True)
class SoakKeys:
    """admins: the administrator's key of each tenant."""

    admins: Mapping[str, str]
    credentials: CredentialModel


async def make_keys(url: str, admin_key: str, subjects: Sequence[tuple[str, str]]) -> SoakKeys:
    """url, admin_key: of a gateway."""
    connection = connect(url)

    async def post(path: str, **body: object) -> HttpResponse:
        reply = await connection.send(Call("POST", path, orjson.dumps(body)), admin_key)
        assert reply.status == _CREATED, reply.body
        return reply

    async def key(tenant: str, subject: str, *roles: str) -> IssuedCredential:
        reply = await post("/v1/keys", tenant=tenant, subject=subject, roles=roles)
        created = orjson.loads(reply.body)
        return IssuedCredential(created["id"], created["key"], Viewer(tenant, subject))

    admins = {}
    for tenant in sorted({tenant for tenant, _ in subjects}):
        await post("/v1/tenants", id=tenant)
        admins[tenant] = (await key(tenant, "replay", "admin", "publisher")).secret
        body = orjson.dumps({"receives": True})
        await connection.send(Call("PUT", "/v1/public-documents", body), admins[tenant])
        body = orjson.dumps({"error_max": _ERRORS_MAX})
        await connection.send(Call("PUT", "/v1/cache/semantic", body), admins[tenant])
    keys = SoakKeys(admins, CredentialModel({who: await key(*who, "reader") for who in subjects}))
    await connection.close()
    return keys


class RestLock:
    """Many tasks hold it at once; `close` pauses them."""

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
        """Let no task begin; returns when none is working."""
        self._open.clear()
        await self._idle.wait()

    def open(self) -> None:
        self._open.set()
