"""The measured tenant: a few searches a second, a write each second, and a queued write."""

import asyncio
import json
import time
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import count
from typing import Self

import orjson

from loadtests.load import open_loop
from loadtests.load.connection_pool import ConnectionPool, Unanswered
from loadtests.load.figures import Latencies
from loadtests.load.request import Call

_SEARCHES_PER_S = 20
_CONNECTIONS = 16
_TIMEOUT_S = 20.0
_QUEUED_S_MAX = 20.0
_POLL_S = 0.05
_REPEATED = 20  # questions that half of the searches ask
_DOCUMENTS = 200
_TEXT = "Annual leave of team {0} is {0} days; ask the office of house {0} for more."


@dataclass(slots=True)
class Measured:
    """refused: by status, or why there was no response. queued_s: until each queued write ended."""

    searches: Latencies = field(default_factory=Latencies)
    writes: Latencies = field(default_factory=Latencies)
    queued_s: list[float] = field(default_factory=list)
    refused: Counter[str] = field(default_factory=Counter)

    @classmethod
    def merged(cls, periods: Iterable[Self]) -> Self:
        """All periods as one."""
        whole = cls()
        for one in periods:
            whole.searches.merge(one.searches)
            whole.writes.merge(one.writes)
            whole.queued_s += one.queued_s
            whole.refused += one.refused
        return whole

    def as_json(self) -> dict[str, object]:
        return {
            "searches": self.searches.as_json(),
            "writes": self.writes.as_json(),
            "queued_s": [round(seconds, 2) for seconds in self.queued_s],
            "refused": dict(self.refused),
        }


class OrdinaryTenant:
    def __init__(self, url: str, key: str) -> None:
        self._pool = ConnectionPool(
            url, connections_max=_CONNECTIONS, timeout_s=_TIMEOUT_S, resend=True
        )
        self._key = key
        self._numbers = count()

    async def prepare(self) -> None:
        lines = [
            orjson.dumps({"document_id": f"leave/{number}", "text": _TEXT.format(number)})
            for number in range(_DOCUMENTS)
        ]
        call = Call("POST", "/v1/documents/batch", b"\n".join(lines))
        assert (await self._pool.send(call, self._key)).status == 200
        for _ in range(3 * _REPEATED):
            await self._search(Measured(), time.monotonic())

    async def measure(self, seconds: float) -> Measured:
        measured = Measured()
        moments = [number / _SEARCHES_PER_S for number in range(int(seconds * _SEARCHES_PER_S))]
        begun_s = time.monotonic()
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self._write_queued(measured))
            tasks.create_task(
                open_loop.run(moments, begun_s, lambda due_s: self._search(measured, due_s))
            )
            tasks.create_task(
                open_loop.run(
                    range(int(seconds)), begun_s, lambda due_s: self._write(measured, due_s)
                )
            )
        return measured

    async def close(self) -> None:
        await self._pool.close()

    async def _search(self, measured: Measured, due_s: float) -> None:
        number = next(self._numbers)
        question = f"leave of team {number % _REPEATED}" if number % 2 else f"house {number}?"
        call = Call("POST", "/v1/search", orjson.dumps({"query": question}))
        await self._timed(measured, measured.searches, call, due_s)

    async def _write(self, measured: Measured, due_s: float) -> None:
        number = next(self._numbers)
        body = orjson.dumps({"text": _TEXT.format(number)})
        call = Call("PUT", f"/v1/documents/leave/{number % _DOCUMENTS}", body)
        await self._timed(measured, measured.writes, call, due_s)

    async def _timed(
        self, measured: Measured, latencies: Latencies, call: Call, due_s: float
    ) -> bytes:
        """The body of the response; empty if there is none. Latency counts from `due_s`."""
        try:
            response = await self._pool.send(call, self._key)
        except Unanswered as error:
            measured.refused[str(error)] += 1
            return b""
        latencies.add(time.monotonic() - due_s)
        if response.status >= 400:
            measured.refused[str(response.status)] += 1
        return response.body

    async def _write_queued(self, measured: Measured) -> None:
        begun_s = time.monotonic()
        body = orjson.dumps({"text": _TEXT.format(next(self._numbers))})
        headers = (("Prefer", "respond-async"),)
        call = Call("PUT", "/v1/documents/queued", body, headers=headers)
        queued = await self._timed(measured, measured.writes, call, begun_s)
        look = Call("GET", f"/v1/jobs/{json.loads(queued)['job_id']}") if queued else None
        state = ""
        while look and state != "done" and time.monotonic() < begun_s + _QUEUED_S_MAX:
            await asyncio.sleep(_POLL_S)
            job = await self._timed(measured, Latencies(), look, time.monotonic())
            state = json.loads(job).get("state", "") if job else ""
        measured.refused["a queued write did not end"] += state != "done"
        measured.queued_s.append(time.monotonic() - begun_s)
