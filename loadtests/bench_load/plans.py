"""A search plan of five steps, and the same five searches one by one, for clients near and far."""

import asyncio
import statistics
import tempfile
import time
from collections.abc import Callable, Coroutine, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import httpx2
import uvloop

from loadtests.bench.frame import SETTINGS
from loadtests.bench.section import Bar, Section, table
from loadtests.bench_load.options import LoadBenchRun
from loadtests.servers import service
from loadtests.servers.faults.link import Link
from loadtests.servers.service import Service
from loadtests.workload.tenant_client import new_tenant

_ROUND_TRIPS_MS = (0, 20, 80)
_DOCUMENTS = 2_000
_RATIO_MAX = 0.5  # at 20 ms and more: five round trips become one
_TOPICS = ("leave", "travel", "expenses", "pensions", "training", "safety", "equipment", "visas")

_Search: TypeAlias = dict[str, Any]
_Found: TypeAlias = dict[str, list[str]]
_Way: TypeAlias = Callable[[httpx2.AsyncClient, int], Coroutine[Any, Any, _Found]]


def measure(run: LoadBenchRun) -> Section:
    with (
        tempfile.TemporaryDirectory(prefix="nearhit-bench-") as folder,
        service.nearhit(SETTINGS) as gateway,
        new_tenant(gateway, "bench", roles=("writer",)) as tenant,
    ):
        tenant.put([_document(number) for number in range(_DOCUMENTS)])
        link = Link(Path(folder) / "far.sock")
        try:
            medians = uvloop.run(_measured(gateway, tenant.key, link, run.options.plans))
        finally:
            link.cut()
    rows = [
        (
            f"{round_trip_ms} ms",
            *(f"{of_way['ms'][name]:.1f}" for name in _WAYS),
            *(f"{of_way['ratio'][name]:.2f}" for name in ("one by one", "in parallel")),
        )
        for round_trip_ms, of_way in medians.items()
    ]
    head = (
        "round trip",
        *(f"{name}, ms" for name in _WAYS),
        "plan / one by one",
        "plan / parallel",
    )
    text = (
        f"A client that is so far from the gateway runs {run.options.plans} times five searches on "
        f"{_DOCUMENTS:,} documents, of which three use what the first one found: one by one, two "
        "and then three at once, and as one plan. The three ways take turns, each with questions "
        "that no cache has. Medians; the ratios are medians of pairs.\n\n"
        f"{table(head, rows)}\n\nThe documents found are the same, which is checked each time."
    )
    return Section(
        "Search plans",
        text,
        {"plans": run.options.plans, "by_round_trip_ms": medians},
        [
            Bar(
                f"a plan to one by one, at {round_trip_ms} ms",
                medians[round_trip_ms]["ratio"]["one by one"],
                at_most=_RATIO_MAX,
            )
            for round_trip_ms in _ROUND_TRIPS_MS
            if round_trip_ms
        ],
    )


async def _measured(
    gateway: Service, key: str, link: Link, plans: int
) -> Mapping[int, Mapping[str, Any]]:
    medians, number = {}, 0
    for round_trip_ms in _ROUND_TRIPS_MS:
        through = None
        if round_trip_ms:
            link.lead(gateway.url.removeprefix("http://"), round_trip_ms // 2)
            through = httpx2.AsyncHTTPTransport(uds=str(link.socket))
        async with httpx2.AsyncClient(
            base_url=gateway.url, timeout=60, transport=through
        ) as client:
            client.headers["Authorization"] = f"Bearer {key}"
            rounds: list[Mapping[str, float]] = []
            for turn in range(plans + 1):
                times_s, found = {}, []
                for name in _turned(list(_WAYS), turn):
                    number += 1
                    started_s = time.perf_counter()
                    found.append(await _WAYS[name](client, number))
                    times_s[name] = time.perf_counter() - started_s
                assert found[0] == found[1] == found[2], "all ways find the same"
                rounds += [times_s] if turn else []  # the first one opens the connections
            medians[round_trip_ms] = _medians(rounds)
    return medians


def _medians(rounds: Sequence[Mapping[str, float]]) -> Mapping[str, Any]:
    return {
        "ms": {name: 1000 * statistics.median(one[name] for one in rounds) for name in _WAYS},
        "ratio": {
            name: statistics.median(one["plan"] / one[name] for one in rounds) for name in _WAYS
        },
    }


def _document(number: int) -> dict[str, Any]:
    topic, other = _TOPICS[number % 8], _TOPICS[(number // 8) % 8]
    return {
        "document_id": f"rule-{number}",
        "text": f"Rule {number} on {topic}: apply in writing; it also touches on {other}.",
        "tags": [topic, other],
    }


def _searches(number: int) -> Mapping[str, _Search]:
    """The five searches; those with a reference take documents or tags of the first one.

    Another number gives other searches to a cache, with the same answers.
    """
    within = {"documents": {"from": "first.document_ids"}}
    without = {"exclude_documents": {"from": "first.document_ids"}}
    like = {"tags_any": {"from": "first.tags"}}
    searches: Mapping[str, _Search] = {
        "first": {"query": "rule on leave", "top_k": 20},
        "other": {"query": "rule on visas"},
        "within": {"query": "apply in writing", "filter": within},
        "without": {"query": "apply for leave", "filter": without},
        "like": {"query": "touches on safety", "filter": like},
    }
    return {name: search | {"min_score": number * 1e-9} for name, search in searches.items()}


async def _one_by_one(client: httpx2.AsyncClient, number: int) -> _Found:
    first: Mapping[str, Any] = {}
    found = {}
    for name, search in _searches(number).items():
        answer = await _search(client, search, first)
        first = first or answer
        found[name] = _documents(answer)
    return found


async def _in_parallel(client: httpx2.AsyncClient, number: int) -> _Found:
    searches = _searches(number)
    names = list(searches)
    first, other = await asyncio.gather(
        *(_search(client, searches[name], {}) for name in names[:2])
    )
    others = await asyncio.gather(*(_search(client, searches[name], first) for name in names[2:]))
    return dict(zip(names, map(_documents, (first, other, *others)), strict=True))


async def _as_plan(client: httpx2.AsyncClient, number: int) -> _Found:
    steps = [{"name": name, **search} for name, search in _searches(number).items()]
    answer = await client.post("/v1/search/plan", json={"steps": steps})
    answer.raise_for_status()
    return {step["name"]: _documents(step["answer"]) for step in answer.json()["steps"]}


_WAYS: Mapping[str, _Way] = {
    "one by one": _one_by_one,
    "in parallel": _in_parallel,
    "plan": _as_plan,
}


async def _search(
    client: httpx2.AsyncClient, search: _Search, first: Mapping[str, Any]
) -> Mapping[str, Any]:
    document_filter = {}
    for field in search.get("filter", {}):
        values = (
            [tag for hit in first["hits"] for tag in hit["tags"]]
            if field == "tags_any"
            else _documents(first)
        )
        document_filter[field] = list(dict.fromkeys(values))
    body = search | {"filter": document_filter}
    answer = await client.post("/v1/search", json=body)
    answer.raise_for_status()
    found: Mapping[str, Any] = answer.json()
    return found


def _documents(answer: Mapping[str, Any]) -> list[str]:
    return [hit["document_id"] for hit in answer["hits"]]


def _turned(names: list[str], turn: int) -> list[str]:
    first = turn % len(names)
    return names[first:] + names[:first]
