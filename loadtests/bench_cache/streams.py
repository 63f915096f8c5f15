"""Streams of real questions, each in a tenant of its own, with the semantic tier and without."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import compress
from statistics import median
from typing import Any

import orjson

from loadtests.bench.section import Bar, Section, figure_table
from loadtests.bench_cache import cosine, question_streams
from loadtests.bench_cache.cosine import Neighbour
from loadtests.bench_cache.options import PATIENT, CacheRun
from loadtests.bench_cache.question_streams import Stream
from loadtests.bench_peers.similar import is_wrong
from loadtests.load.response import HttpResponse
from loadtests.servers import service
from loadtests.servers.service import Service
from loadtests.workload.tenant_client import TenantClient, connected, new_tenant

# Without shards a search reads PostgreSQL with the tier and without it: the tier alone differs.
_SETTINGS = {**PATIENT, **service.COMPARE_ALL, "NEARHIT_SHARD_BYTES_MAX": "0"}
_LIMIT = 0.01  # the default of the share that may be wrong
_TURN = 250  # questions asked in a row
_PAIRED_TURNS = 4  # of so many turns, the questions of one are asked without the tier too
_COSTLY_MS = 20.0  # of a call of a model, from which on searches are costly
_COST_MAX = 0.2  # of a hit, to what it spares
_JUDGED = "banking77_en"  # whose hits are compared with those of a cosine
_COSINE_RATIO_MIN = 3.0
_SEED = 23
_HITS = {
    "requests": ("requests", ",d"),
    "exact": ("exact hits", ",d"),
    "semantic": ("semantic hits", ",d"),
    "share": ("share", ".2%"),
    "semantic_wrong": ("wrong", ",d"),
    "semantic_other_label": ("another label", ",d"),
    "cosine_hits": ("a cosine's hits", ".2%"),
    "cosine_hits_by_label": ("by label", ".2%"),
}
_COSTS = {
    "verified": ("pairs verified", ",d"),
    "verified_wrong": ("wrong", ",d"),
    "missing_right": ("missing right", ",d"),
    "added_processor_ms": ("added ms", ".2f"),
    "cost_to_search": ("cost of a hit", ".2f"),
    "cost_to_costly_search": ("with a model", ".2f"),
}


@dataclass(frozen=True, slots=True)
class SemanticHit:
    """cached: the question whose answer was served. time_ms, search_ms: with the tier, without.

    The latter is None if the question was asked without the tier before.
    """

    asked: str
    cached: str
    is_wrong: bool
    time_ms: float
    search_ms: float | None


@dataclass(slots=True)
class StreamResult:
    """tiers: requests by the tier that answered. chunks: by question, those of its real answer.

    first_with: by answer, the question that it was computed for.
    verified, wrong, missing_right: of the similar pairs that passed the guards, as the gateway
        counts them.
    processor_ms: of the worker for one request, by turn, with the tier and without.
    """

    stream: Stream
    tiers: Counter[str] = field(default_factory=Counter)
    semantic: list[SemanticHit] = field(default_factory=list)
    chunks: dict[str, list[int]] = field(default_factory=dict)
    first_with: dict[bytes, str] = field(default_factory=dict)
    verified: int = 0
    wrong: int = 0
    missing_right: int = 0
    processor_ms: list[tuple[float, float]] = field(default_factory=list)
    cosine_hits: int = 0
    cosine_hits_by_label: int | None = None

    @property
    def requests(self) -> int:
        return len(self.stream.questions)

    @property
    def exact(self) -> int:
        return self.tiers["memory"] + self.tiers["redis"]

    @property
    def wrong_hits(self) -> int:
        return sum(hit.is_wrong for hit in self.semantic)

    @property
    def other_labels(self) -> int | None:
        labels = self.stream.labels
        if not labels:
            return None
        return sum(labels[hit.asked] != labels[hit.cached] for hit in self.semantic)

    @property
    def added_ms(self) -> float:
        return median(with_tier - without for with_tier, without in self.processor_ms)

    def cost(self, call_ms: float) -> float | None:
        """Of a hit, to the search that it spares with a call of so many milliseconds."""
        ratios = [
            hit.time_ms / (hit.search_ms + call_ms)
            for hit in self.semantic
            if hit.search_ms is not None
        ]
        return median(ratios) if ratios else None


def measure(run: CacheRun) -> Section:
    results = []
    with service.nearhit(_SETTINGS) as gateway, run.progress() as progress:
        for name in question_streams.NAMES:
            stream = question_streams.read(run.data, name, _SEED).first(run.options.questions)
            turns = list(range(0, len(stream.questions), _TURN))
            result = _played(gateway, stream, progress.track(turns, description=name))
            run.console.print(f"{name}: {len(result.semantic)} semantic, {result.wrong_hits} wrong")
            results.append(result)
    return Section(
        title="Similar questions",
        text=_text(results),
        figures={result.stream.name: _figures(result) for result in results},
        bars=_bars(results),
    )


def _played(gateway: Service, stream: Stream, turns: Iterable[int]) -> StreamResult:
    """Each turn's questions one after the other, with the tier, and then without it."""
    result = StreamResult(stream)
    with new_tenant(gateway, stream.name.replace("_", "-"), roles=("admin",)) as admin:
        admin.put([{**passage, "readers": ["tenant"]} for passage in stream.passages])
        admin.share_no_answers()
        with (
            connected(gateway.url, admin.new_key("tiered")) as tiered,
            connected(gateway.url, admin.new_key("plain")) as plain,
        ):
            for number, start in enumerate(turns):
                questions = stream.questions[start : start + _TURN]
                answers, tiered_ms = _asked(gateway, tiered, questions, semantic="bounded")
                is_similar = [answer.tier == "semantic" for answer in answers]
                if number % _PAIRED_TURNS == 0:
                    fresh, plain_ms = _asked(gateway, plain, questions)
                    real = list(compress(fresh, is_similar))
                    result.processor_ms.append((tiered_ms, plain_ms))
                else:
                    real, _ = _asked(gateway, plain, list(compress(questions, is_similar)))
                add_answers(result, questions, answers, real)
        _add_counts(result, admin)
    _add_cosine(result)
    return result


def add_answers(
    result: StreamResult,
    questions: Sequence[str],
    answers: Sequence[HttpResponse],
    real: Sequence[HttpResponse],
) -> None:
    """real: the fresh answers to the questions that got a similar one's, in their order."""
    fresh = iter(real)
    for question, answer in zip(questions, answers, strict=True):
        result.tiers[answer.tier] += 1
        if answer.tier != "semantic":
            result.chunks.setdefault(question, _chunks(answer))
            result.first_with.setdefault(answer.body, question)
            continue
        own = next(fresh)
        # The gateway computes a sample of these too; then it serves similar questions with it.
        result.first_with.setdefault(own.body, question)
        chunks = result.chunks.setdefault(question, _chunks(own))
        hit = SemanticHit(
            question,
            result.first_with[answer.body],
            is_wrong(_chunks(answer), chunks),
            answer.seconds * 1e3,
            None if own.is_hit else own.seconds * 1e3,
        )
        result.semantic.append(hit)


def _asked(
    gateway: Service, tenant: TenantClient, questions: Sequence[str], **options: str
) -> tuple[list[HttpResponse], float]:
    """The responses, and the worker's processor time in milliseconds for one request."""
    bodies = [orjson.dumps({"query": question, **options}) for question in questions]
    before_s = service.processor_s(gateway.pid)
    responses = tenant.search_all(bodies, connections=1)
    spent_s = service.processor_s(gateway.pid) - before_s
    return responses, spent_s / max(len(questions), 1) * 1e3


def _chunks(answer: HttpResponse) -> list[int]:
    return [hit["chunk_id"] for hit in orjson.loads(answer.body)["hits"]]


def _add_counts(result: StreamResult, admin: TenantClient) -> None:
    counts = admin.client.get("/v1/cache/semantic").raise_for_status().json()
    result.verified, result.wrong = counts["verified"], counts["wrong"]
    result.missing_right = counts["missing_right"]


def _add_cosine(result: StreamResult) -> None:
    """What similarity alone would serve at the limit, were its threshold known beforehand."""
    chunks, labels = result.chunks, result.stream.labels
    neighbours = cosine.nearest_before(list(chunks))

    def is_pair_wrong(pair: Neighbour) -> bool:
        return is_wrong(chunks[pair.cached], chunks[pair.asked])

    def has_other_label(pair: Neighbour) -> bool:
        return labels[pair.cached] != labels[pair.asked]

    result.cosine_hits = cosine.served_within(neighbours, is_pair_wrong, _LIMIT)
    if labels:
        result.cosine_hits_by_label = cosine.served_within(neighbours, has_other_label, _LIMIT)


def _figures(result: StreamResult) -> dict[str, Any]:
    """What the tables and JSON show."""
    served, requests = len(result.semantic), result.requests
    by_label = result.cosine_hits_by_label
    return {
        "requests": requests,
        "tiers": dict(result.tiers),
        "exact": result.exact,
        "semantic": served,
        "share": served / requests,
        "semantic_wrong": result.wrong_hits,
        "semantic_other_label": result.other_labels,
        "verified": result.verified,
        "verified_wrong": result.wrong,
        "missing_right": result.missing_right,
        "added_processor_ms": result.added_ms,
        "cost_to_search": result.cost(0),
        "cost_to_costly_search": result.cost(_COSTLY_MS),
        "cosine_hits": result.cosine_hits / requests,
        "cosine_hits_by_label": None if by_label is None else by_label / requests,
    }


def _bars(results: Sequence[StreamResult]) -> list[Bar]:
    bars = [
        Bar(
            f"share of the semantic hits of {result.stream.name} that is wrong",
            result.wrong_hits / max(len(result.semantic), 1),
            at_most=_LIMIT,
            judged=bool(result.semantic),
        )
        for result in results
    ]
    for result in results:
        cost = result.cost(_COSTLY_MS)
        if cost is not None:
            what = f"cost of a semantic hit of {result.stream.name}, to a search with a model"
            bars.append(Bar(what, cost, at_most=_COST_MAX))
        if result.stream.name == _JUDGED and result.cosine_hits:
            what = f"semantic hits of {result.stream.name}, to those of a cosine at equal error"
            ratio = len(result.semantic) / result.cosine_hits
            bars.append(Bar(what, ratio, at_least=_COSINE_RATIO_MIN))
    return bars


def _text(results: Sequence[StreamResult]) -> str:
    rows = {result.stream.name: _figures(result) for result in results}
    notes = (
        "Five public sets of real questions, each in a random order, the same in each run, over "
        "its passages. A question comes as often as the set has it. Of `banking77_en`, twenty "
        "questions of each intent are the passages, and the others are asked.\n"
        "In each stream's tenant the counts of the tier begin at zero. One caller asks with "
        f"`semantic: bounded`, the default limit of {_LIMIT:.0%} and "
        "`NEARHIT_SEMANTIC_SEARCHES=all`, one question after the other. Another one asks without "
        f"the tier what got a similar question's answer, and of {_PAIRED_TURNS} turns of {_TURN} "
        "questions one as a whole; neither gets the other's answers. Both use PostgreSQL and "
        "Redis and no shard.\n"
        "A hit is wrong if its first hit is not among the first three of the real answer, or if "
        "it holds fewer than half of the real hits. Labels are people's: the intent, the "
        "paraphrase, what MedQuAD asks of which disease; other sets have none."
    )
    hits = figure_table("stream", rows, _HITS)
    middle = (
        "A cosine's hits are those of the built-in model's similarity alone, at the threshold that "
        f"serves most while {_LIMIT:.0%} of it is wrong, or has another label. That threshold "
        "is chosen afterwards, with all answers known, so no cache can have it.\n"
        "The next table says why the tier serves what it serves: of the very similar pairs that "
        "passed the guards, as `GET /v1/cache/semantic` counts them (older ones count less), so "
        "many were wrong, and so many right ones in a row are missing until it serves.\n"
        "Added time is the worker's processor time for a request, in pairs of turns, by which the "
        "tier makes each bounded request longer, hit or not. The cost of a hit is its time to that "
        "of the real search of the same question, alone and with a model's call of "
        f"{_COSTLY_MS:g} ms, from which on a search is worth comparing."
    )
    return f"{notes}\n\n{hits}\n\n{middle}\n\n{figure_table('stream', rows, _COSTS)}"
