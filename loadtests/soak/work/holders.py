"""Holders of keys: they make narrower tokens; their keys are rotated and revoked."""

import asyncio
import time
from collections.abc import Sequence
from dataclasses import replace
from random import Random
from typing import Any

import orjson

from loadtests.load.request import Call
from loadtests.load.response import HttpResponse
from loadtests.soak.model.credentials import Holder, IssuedCredential
from loadtests.soak.work.context import SoakContext
from loadtests.workload.viewer import SCOPES, SOURCES, Viewer

# Starting values, not measured.
_PAUSE_S = (0.1, 0.5)
_TOKEN_S = range(2, 20)  # lifetime of a token
_OVERLAP_S = (0, 0, 1, 2)
_WAYS = ("narrow", "rotate", "revoke token", "revoke key")
_WEIGHTS = (60, 20, 10, 10)
_CREATED, _GONE = 201, 204
_AGAIN_S = 0.2


class Holders:
    def __init__(self, context: SoakContext, holders: Sequence[Holder], random: Random) -> None:
        self.rotated = 0
        self.narrowed = 0
        self.revoked = 0
        self._context = context
        self._holders = holders
        self._random = random
        self._ways = context.ways()
        self._state = context.state

    async def change(self) -> None:
        while True:
            await asyncio.sleep(self._random.uniform(*_PAUSE_S))
            await self._context.in_epoch()
            async with self._context.lock:
                await self._change_one(self._random.choice(self._holders))

    async def _change_one(self, holder: Holder) -> None:
        credentials = self._state.credentials
        credentials.sweep(time.monotonic())
        (way,) = self._random.choices(_WAYS, _WEIGHTS)
        tokens = credentials.tokens.get(holder)
        match way:
            case "rotate":
                await self._rotate(holder, self._random.choice(_OVERLAP_S))
            case "revoke key":
                await self._revoke_key(holder)
            case "revoke token" if tokens:
                await self._revoke_token(holder, self._random.choice(tokens))
            case _:
                await self._narrow(holder)

    async def _narrow(self, holder: Holder) -> None:
        """A token of the key, or of one of its tokens."""
        parent = self._state.credentials.draw(holder, self._random, narrowed=0.3)
        viewer, body = self._narrower(parent.viewer)
        body["expires_in_s"] = self._random.choice(_TOKEN_S)
        asked_s = time.monotonic()
        reply = await self._send(Call("POST", "/v1/tokens", orjson.dumps(body)), parent.secret)
        if reply is None or reply.status != _CREATED:
            return  # the subject left a group meanwhile, or the parent has just ended
        created = orjson.loads(reply.body)
        token = IssuedCredential(created["id"], created["token"], viewer, parent)
        lives_s = body["expires_in_s"]
        token.end(asked_s + lives_s, time.monotonic() + lives_s, "expired")
        self._state.credentials.add_token(holder, token)
        self.narrowed += 1

    def _narrower(self, viewer: Viewer) -> tuple[Viewer, dict[str, Any]]:
        body: dict[str, Any] = {}
        if self._random.random() < 0.5:
            count = self._random.randint(1, len(viewer.scopes))
            chosen = self._random.sample(viewer.scopes, count)
            body["scopes"] = chosen
            viewer = replace(viewer, scopes=tuple(name for name in SCOPES if name in chosen))
        if self._random.random() < 0.5:
            groups = self._state.rights.groups(viewer.tenant, viewer.subject)
            counting = sorted(groups if viewer.groups is None else groups & viewer.groups)
            count = self._random.randint(0, len(counting))
            body["groups"] = self._random.sample(counting, count)
            viewer = replace(viewer, groups=frozenset(body["groups"]))
        if viewer.sources is None and self._random.random() < 0.4:
            sources = self._random.sample(SOURCES, 2)
            body["filter"] = {"sources": sources}
            viewer = replace(viewer, sources=frozenset(sources))
        return viewer, body

    async def _rotate(self, holder: Holder, overlap_s: int) -> None:
        """Tokens of the old key end with it."""
        old = self._state.credentials.keys[holder]
        call = Call("POST", f"/v1/keys/{old.key_id}/rotate", orjson.dumps({"overlap_s": overlap_s}))
        asked_s = time.monotonic()
        old.doubt(asked_s + overlap_s)
        reply = await self._send(call, self._context.admins[holder[0]])
        if reply is None or reply.status != _CREATED:
            await self._give_new(holder, old)
            return
        old.end(asked_s + overlap_s, time.monotonic() + overlap_s, "rotated")
        created = orjson.loads(reply.body)
        new = IssuedCredential(created["id"], created["key"], old.viewer)
        self._state.credentials.replace_key(holder, new)
        self.rotated += 1

    async def _revoke_key(self, holder: Holder) -> None:
        old = self._state.credentials.keys[holder]
        asked_s = time.monotonic()
        old.doubt(asked_s)
        call = Call("DELETE", f"/v1/keys/{old.key_id}")
        reply = await self._send(call, self._context.admins[holder[0]])
        if reply is not None and reply.status == _GONE:
            old.end(asked_s, time.monotonic(), "revoked")
            self.revoked += 1
        await self._give_new(holder, old)

    async def _revoke_token(self, holder: Holder, token: IssuedCredential) -> None:
        asked_s = time.monotonic()
        token.doubt(asked_s)
        key = self._state.credentials.keys[holder]
        reply = await self._send(Call("DELETE", f"/v1/tokens/{token.key_id}"), key.secret)
        if reply is not None and reply.status == _GONE:
            token.end(asked_s, time.monotonic(), "revoked")
            self.revoked += 1
        if token in self._state.credentials.tokens.get(holder, ()):
            self._state.credentials.drop_token(holder, token)

    async def _give_new(self, holder: Holder, old: IssuedCredential) -> None:
        """Issue a new key to the holder, whatever became of the old one."""
        tenant, subject = holder
        body = orjson.dumps({"subject": subject, "roles": ["reader"]})
        while True:
            epoch = await self._context.in_epoch()
            if self._state.credentials.keys[holder] is not old:
                return  # PostgreSQL went back to an older history, and the key with it
            reply = await self._send(Call("POST", "/v1/keys", body), self._context.admins[tenant])
            if epoch == self._state.epoch and reply is not None:
                assert reply.status == _CREATED, reply.body
                created = orjson.loads(reply.body)
                new = IssuedCredential(created["id"], created["key"], Viewer(tenant, subject))
                self._state.credentials.replace_key(holder, new)
                return
            await asyncio.sleep(_AGAIN_S)

    async def _send(self, call: Call, key: str) -> HttpResponse | None:
        """None if the outcome is not known."""
        epoch = self._state.epoch
        way = self._random.choice(self._ways)
        reply = await self._context.send(way.connection, call, key, "credentials")
        return None if epoch != self._state.epoch else reply
