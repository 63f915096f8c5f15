"""A far region is cut off: what it answers meanwhile, and how long it delays writes at home."""

import asyncio
import statistics
import time
from collections.abc import Callable
from contextlib import ExitStack, suppress
from dataclasses import asdict, dataclass, field
from typing import Any, TypeAlias

import orjson
import uvloop

from loadtests.bench.section import Bar, Section, figure_table
from loadtests.bench_edges import callers, edge_servers, regions
from loadtests.bench_edges.callers import Caller
from loadtests.bench_edges.options import EdgesRun
from loadtests.bench_edges.regions import HOME, READ_LEASE_S, Region
from loadtests.load.connection_pool import Unanswered
from loadtests.servers.faults.link import Link
from loadtests.servers.gateway import GatewayProcess
from loadtests.workload.tenant_client import new_tenant

_BEFORE_S, _AWAY_S, _AFTER_S = 3.0, 4.0 * READ_LEASE_S, 5.0
_LEASED_AGAIN_S_MAX = 2.0 * READ_LEASE_S
_WRITE_EVERY_S, _ASK_EVERY_S = 0.2, 0.02
_ASKERS = 3  # of the number that is written; one that waits does not keep the others
_OK = 200
_QUESTION, _REPEATED = "what does the counter show", "what everybody asks"
# More than this over its usual time, and a write was delayed.
_DELAYED_S = 0.2 * READ_LEASE_S
# A delayed write waits for the lease from when it has read the leases, and for its usual work.
_DELAY_LEASES_MAX = 1.1

_COLUMNS = {
    "answered": ("answered", ",d"),
    "refused": ("refused", ",d"),
    "unanswered": ("unanswered", ",d"),
    "wrong": ("wrong", ",d"),
    "usual_ms": ("a write, ms", ",.0f"),
    "delays": ("delays", "d"),
    "longest_ms": ("the longest, ms", ",.0f"),
    "leased_again_s": ("lease again, s", ".2f"),
    "writes_delayed_s": ("writes delayed, s", ".2f"),
}

_Cut: TypeAlias = tuple[str, Callable[[Link], None], Callable[[Link], None]]
_CUTS: tuple[_Cut, ...] = (
    ("cut off", Link.cut, Link.heal),
    ("silent", Link.silence, Link.resume),
)


@dataclass(slots=True)
class CutResult:
    """One cut of one region, from some seconds before it until its gateway has a lease again.

    answered, refused, unanswered: strong requests in the region that were sent while it was away,
        and still waited or were sent when its lease had certainly run out: with 200, with an error,
        and not before the region was back.
    wrong: answers without a write that was acknowledged before they were asked.
    usual_s: of a write before the cut. delays_s: of the writes that took longer, and would usually
        have ended before the region was back, how much longer.
    leased_again_s: from the end of the cut. writes_delayed_s: from then until the end of the last
        write that was delayed.
    """

    region: str
    way: str
    answered: int = 0
    refused: int = 0
    unanswered: int = 0
    wrong: int = 0
    judged: int = 0
    failed_at_home: int = 0
    usual_s: float = 0.0
    delays_s: list[float] = field(default_factory=list)
    leased_again_s: float = 0.0
    writes_delayed_s: float = 0.0


def measure(run: EdgesRun) -> Section:
    results: list[CutResult] = []
    with (
        regions.running(delays=run.options.delays) as started,
        ExitStack() as stack,
    ):
        gateways = {
            name: region.gateway({}, leased=True) for name, region in started.by_name.items()
        }
        edge_servers.start_all(stack, list(gateways.values()))
        home = gateways[HOME].service
        keys = [stack.enter_context(new_tenant(home, name)).key for name in ("counted", "quiet")]
        for _ in range(run.options.cuts):
            for region in started.far:
                for cut in _CUTS:
                    one_way_ms = started.way_ms(region.name, HOME)
                    trial = _Trial(region, one_way_ms, gateways, keys[0], keys[1], cut)
                    result = uvloop.run(trial.measure())
                    run.console.print(str(asdict(result)), markup=False)
                    results.append(result)
    return _section(results)


class _Trial:
    """quiet_key: of a tenant in which nobody writes; its answers show whether there is a lease."""

    def __init__(
        self,
        region: Region,
        one_way_ms: int,
        gateways: dict[str, GatewayProcess],
        key: str,
        quiet_key: str,
        cut: _Cut,
    ) -> None:
        way, self._cut, self._heal = cut
        self._result = CutResult(region.name, way)
        self._region = region
        self._one_way_ms = one_way_ms
        self._home = callers.at(gateways[HOME].url, key)
        self._url = gateways[region.name].url
        self._key, self._quiet_key = key, quiet_key
        self._gateways = gateways
        # By the clock of all callers.
        self._begun_s = self._ended_s = float("inf")
        self._acknowledged = 0
        self._writes: list[tuple[float, float]] = []  # sent, and the seconds it took

    async def measure(self) -> CutResult:
        for name, gateway in self._gateways.items():  # a cold one delays writes
            if name != HOME:
                quiet = callers.at(gateway.url, self._quiet_key)
                await callers.until_leased(quiet, _REPEATED, self._one_way_ms)
        works = [
            asyncio.create_task(self._write()),
            *(asyncio.create_task(self._ask()) for _ in range(_ASKERS)),
        ]
        await asyncio.sleep(_BEFORE_S)
        self._begun_s = time.monotonic()
        self._cut(self._region.link)
        await asyncio.sleep(_AWAY_S)
        await asyncio.to_thread(self._heal, self._region.link)
        self._ended_s = time.monotonic()
        await callers.until_one_is_fast(self._url, self._quiet_key, _REPEATED, self._one_way_ms)
        self._result.leased_again_s = time.monotonic() - self._ended_s
        await asyncio.sleep(_AFTER_S)
        for work in works:
            work.cancel()
        await asyncio.gather(*works, return_exceptions=True)
        self._summarize_writes()
        return self._result

    async def _write(self) -> None:
        while True:
            number, sent_s = time.monotonic_ns(), time.monotonic()
            reply = await self._home.put("counter", f"The counter shows {number} now.")
            if reply.status == _OK:
                self._acknowledged = number
                self._writes.append((sent_s, time.monotonic() - sent_s))
            else:
                self._result.failed_at_home += 1
            await asyncio.sleep(_WRITE_EVERY_S)

    async def _ask(self) -> None:
        caller = callers.at(self._url, self._key)
        while True:
            await self._ask_once(caller)
            await asyncio.sleep(_ASK_EVERY_S)

    async def _ask_once(self, caller: Caller) -> None:
        sent_s, floor = time.monotonic(), self._acknowledged
        status, body = 0, b""
        with suppress(Unanswered):
            reply = await caller.search(_QUESTION)
            status, body = reply.status, reply.body
        if status == _OK and floor:
            self._result.judged += 1
            self._result.wrong += _number(body) < floor
        answered_s = time.monotonic()
        is_away = self._begun_s < sent_s < self._ended_s
        if not is_away or answered_s < self._begun_s + READ_LEASE_S:
            return
        if answered_s > self._ended_s:
            self._result.unanswered += 1
        elif status == _OK:
            self._result.answered += 1
        else:
            self._result.refused += 1

    def _summarize_writes(self) -> None:
        begun_s, result = self._begun_s, self._result
        usual_s = [took_s for sent_s, took_s in self._writes if sent_s + took_s < begun_s]
        result.usual_s = statistics.median(usual_s)
        result.writes_delayed_s = max(
            (
                sent_s + took_s - self._ended_s
                for sent_s, took_s in self._writes
                if sent_s + took_s > self._ended_s and took_s > result.usual_s + _DELAYED_S
            ),
            default=0.0,
        )
        result.delays_s = [
            took_s - result.usual_s
            for sent_s, took_s in self._writes
            if begun_s < sent_s + took_s
            and sent_s + result.usual_s < self._ended_s
            and took_s > result.usual_s + _DELAYED_S
        ]


def _number(body: bytes) -> int:
    """The number that the answer shows; 0 if none."""
    numbers = [
        int(word)
        for hit in orjson.loads(body)["hits"]
        for word in hit["text"].split()
        if word.isdigit()
    ]
    return max(numbers, default=0)


def _section(results: list[CutResult]) -> Section:
    rows = {
        f"{number}: {result.region}, {result.way}": {
            **asdict(result),
            "usual_ms": result.usual_s * 1000,
            "delays": len(result.delays_s),
            "longest_ms": max(result.delays_s, default=0.0) * 1000,
        }
        for number, result in enumerate(results, start=1)
    }
    text = (
        f"A region is away for {_AWAY_S:g} s: *cut off*, when its connections are lost, or "
        "*silent*, when nothing comes through. A caller at home writes a number again and again; "
        "callers in the region ask for it. *Answered*, *refused* and *unanswered* count requests "
        "that waited, or were sent, after the lease of the region had run out: with an answer, "
        "with an error, or not before the region was back. An answer is *wrong* if it shows less "
        "than what was acknowledged before it was asked. *Delays* are those of writes at home "
        "that would usually have ended while the region is away, beyond that time; *writes "
        "delayed* is how long after the end of the cut the last write ends that is delayed: what a "
        "silent region has sent arrives then, a renewal of its lease too. *Lease again* counts "
        "from the end of the cut until the gateway answers a request without a round trip; those "
        "that were sent before it had a lease wait for the primary.\n\n"
        f"{figure_table('region', rows, _COLUMNS)}"
    )
    leases = max((max(one.delays_s, default=0.0) for one in results), default=0.0) / READ_LEASE_S
    delayed = max(len(one.delays_s) for one in results)
    again_s = max(one.leased_again_s for one in results)
    bars = [
        Bar("wrong answers", sum(one.wrong for one in results), at_most=0),
        Bar("answers of a region that was away", sum(one.answered for one in results), at_most=0),
        Bar("failed writes at home", sum(one.failed_at_home for one in results), at_most=0),
        Bar("the longest delay of a write, in leases", leases, at_most=_DELAY_LEASES_MAX),
        Bar("most delayed writes of one cut", delayed, at_most=1),
        Bar("seconds until a lease is held again, at most", again_s, at_most=_LEASED_AGAIN_S_MAX),
    ]
    figures: dict[str, Any] = {
        f"{number}: {result.region}, {result.way}": asdict(result)
        for number, result in enumerate(results)
    }
    return Section("A region that is away", text, figures, bars)
