"""Cached answers per second, beside a bare Starlette app that returns the same bytes.

The same generator loads each server of one worker in turn, so that the ratios hold while the speed
of the machine drifts.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import count, cycle, repeat
from random import Random
from statistics import median

import orjson
import uvloop
from rich.console import Console
from rich.progress import Progress

from loadtests.bench.section import Bar, Section, table
from loadtests.bench_cache.options import CacheRun
from loadtests.load import closed_loop
from loadtests.load.closed_loop import ClosedLoopResult
from loadtests.load.request import RequestTemplate
from loadtests.servers import service
from loadtests.workload.tenant_client import TenantClient, new_tenant, through

_RATIO_MIN = 0.6  # of the bare app's requests a second, for exact hits
_P99_MAX = 2.5  # times the bare app's
_TEAMS = 200
_VERIFIED = 600  # pairs after which similar answers are served, even if one of them is wrong
_PAIRS_TRIES = 10  # checks whether they are
_SEED = 14
_QUESTION = "how many days of leave does team 17 get?"

# Names of the rows.
_BARE = "bare"
_EXACT = "exact hit"
_STALE = "exact hit, at most 1 s old"
_REDIS = "exact hit, by Redis alone"
_SEMANTIC = "semantic hit"
_MISS = "miss"


@dataclass(frozen=True, slots=True)
class Case:
    """bodies: started again with each turn. pid: of the worker."""

    request: RequestTemplate
    pid: int
    bodies: Callable[[], Iterator[bytes]]


@dataclass(frozen=True, slots=True)
class Turn:
    outcome: ClosedLoopResult
    processor_s: float


@dataclass(frozen=True, slots=True)
class SpeedRow:
    """Medians over the rounds; ratios are to the bare app's turn of the same round.

    processor_us: of the worker, for one request. hits: the share that a cache answered.
    """

    per_second: float
    processor_us: float
    p50_ms: float
    p99_ms: float
    ratio: float
    p99_ratio: float
    hits: float


def measure(run: CacheRun) -> Section:
    with ExitStack() as stack:
        progress = stack.enter_context(run.progress())
        cases = _cases(stack, run.console)
        rows = _rows(_turns(cases, run, progress))
    exact = rows[_EXACT]
    return Section(
        title="Speed",
        text=_text(rows, run),
        figures={
            name: {field: getattr(row, field) for field in SpeedRow.__slots__}
            for name, row in rows.items()
        },
        bars=[
            Bar("exact hits a second, to the bare app's", exact.ratio, at_least=_RATIO_MIN),
            Bar("P99 of exact hits, to the bare app's", exact.p99_ratio, at_most=_P99_MAX),
        ],
    )


def _cases(stack: ExitStack, console: Console) -> Mapping[str, Case]:
    gateway = stack.enter_context(service.nearhit(service.COMPARE_ALL))
    tenant = stack.enter_context(new_tenant(gateway, "bench"))
    tenant.put([_document(number) for number in range(_TEAMS)], lambda _: None)
    # A worker whose memory holds nothing.
    forgetful = stack.enter_context(service.beside(gateway, {"NEARHIT_LOCAL_CACHE_BYTES_MAX": "1"}))
    other = stack.enter_context(through(tenant, forgetful))
    body = _body(_QUESTION)
    _, answer = tenant.search_all([body, body], connections=1)
    assert answer.is_hit
    bare_url, bare_pid = stack.enter_context(service.bare(answer.body))
    leaves = [_body(_leave_of(number)) for number in range(_TEAMS)]
    tenant.search_all(leaves, connections=1)
    cases = {
        _BARE: Case(
            RequestTemplate(f"{bare_url}/v1/search", tenant.key), bare_pid, lambda: repeat(body)
        ),
        _EXACT: Case(tenant.search_request, gateway.pid, lambda: repeat(body)),
        _STALE: Case(
            tenant.search_request,
            gateway.pid,
            lambda: repeat(_body(_QUESTION, max_staleness_ms=1000)),
        ),
        _REDIS: Case(other.search_request, forgetful.pid, lambda: cycle(leaves)),
    }
    rewordings = _rewordings()
    if _serves_similar(tenant, rewordings):
        cases[_SEMANTIC] = Case(tenant.search_request, gateway.pid, lambda: rewordings)
    else:
        console.print("no semantic hits: the service does not serve them, so they are left out")
    never_asked = (_body(f"leave of team {number}") for number in count())
    cases[_MISS] = Case(tenant.search_request, gateway.pid, lambda: never_asked)
    return cases


def _serves_similar(tenant: TenantClient, rewordings: Iterator[bytes]) -> bool:
    """Ask until a similar question's answer is served, if it ever is."""
    try:
        tenant.search_all([_similar(_leave_of(number)) for number in range(_TEAMS)], connections=4)
    except RuntimeError:  # the field is not known
        return False
    for _ in range(_PAIRS_TRIES):
        answers = tenant.search_all([next(rewordings) for _ in range(_VERIFIED)], connections=4)
        if "semantic" in answers[-1].cache_status:
            return True
    return False


def _rewordings() -> Iterator[bytes]:
    """The teams' questions with their words in another order, hardly ever the same one."""
    random = Random(_SEED)  # noqa: S311  no secret
    while True:
        how, many, *others = _leave_of(random.randrange(_TEAMS)).rstrip("?").split()
        random.shuffle(others)
        yield _similar(f"{' '.join([how, many, *others])}?")


def _leave_of(team: int) -> str:
    return f"how many days of leave does team {team} get?"


def _similar(question: str) -> bytes:
    return _body(question, semantic="bounded")


def _body(question: str, **options: object) -> bytes:
    return orjson.dumps({"query": question, **options})


def _document(number: int) -> dict[str, object]:
    text = (
        f"# Team {number}\n\nTeam {number} gets {number % 20 + 10} days of leave. "
        "Leave is asked for two weeks ahead, and what is left over at the end of the year is kept "
        "until March. Whoever is ill on a day of leave gets the day back."
    )
    return {"document_id": f"team-{number}", "text": text, "language": "en"}


def _turns(
    cases: Mapping[str, Case], run: CacheRun, progress: Progress
) -> Mapping[str, Sequence[Turn]]:
    """By row, a turn a round; the first round warms up and is left out."""
    turns: dict[str, list[Turn]] = {name: [] for name in cases}
    for number in progress.track(range(run.options.rounds + 1), description="rounds"):
        for name, case in cases.items():
            turn = _turn(case, run)
            if number > 0:
                turns[name].append(turn)
    return turns


def _turn(case: Case, run: CacheRun) -> Turn:
    before_s = service.processor_s(case.pid)
    driving = closed_loop.run(
        case.request.url,
        map(case.request.encode, case.bodies()),
        connections=run.options.connections,
        seconds=run.options.seconds,
    )
    outcome = uvloop.run(driving)
    return Turn(outcome, service.processor_s(case.pid) - before_s)


def _rows(turns: Mapping[str, Sequence[Turn]]) -> dict[str, SpeedRow]:
    bare = [turn.outcome for turn in turns[_BARE]]
    return {name: _row(row_turns, bare) for name, row_turns in turns.items()}


def _row(turns: Sequence[Turn], bare: Sequence[ClosedLoopResult]) -> SpeedRow:
    outcomes = [turn.outcome for turn in turns]
    rounds = list(zip(outcomes, bare, strict=True))
    return SpeedRow(
        per_second=median(result.per_second for result in outcomes),
        processor_us=median(turn.processor_s / turn.outcome.count * 1e6 for turn in turns),
        p50_ms=median(result.percentile_ms(50) for result in outcomes),
        p99_ms=median(result.percentile_ms(99) for result in outcomes),
        ratio=median(result.per_second / yardstick.per_second for result, yardstick in rounds),
        p99_ratio=median(
            result.percentile_ms(99) / yardstick.percentile_ms(99) for result, yardstick in rounds
        ),
        hits=median(result.hits / result.count for result in outcomes),
    )


def _text(rows: Mapping[str, SpeedRow], run: CacheRun) -> str:
    notes = (
        f"One worker, {run.options.connections} connections in a closed loop, "
        f"{run.options.rounds} rounds of {run.options.seconds:g} s each; medians of the rounds, "
        "ratios within a round.\n"
        "The bare app parses the body and returns the bytes that exact hits return, under the same "
        "server settings.\n"
        "The generator, PostgreSQL and Redis share the machine's cores with the worker; other work "
        "on the machine affects the worker's processor time per request the least.\n"
        f"Exact hits repeat one question; those of Redis repeat {_TEAMS} questions in turn, at a "
        "worker whose memory holds nothing. A miss is a new question each time, over "
        f"{_TEAMS} documents. A semantic hit is one of {_TEAMS} questions with its words in "
        "another order, each order once; the gateway also computes a sample of them, as always."
    )
    cells = [
        (
            name,
            f"{row.per_second:,.0f}",
            f"{row.processor_us:,.0f}",
            f"{row.p50_ms:.2f}",
            f"{row.p99_ms:.2f}",
            f"{row.ratio:.2f}",
            f"{row.p99_ratio:.2f}",
            f"{row.hits:.2f}",
        )
        for name, row in rows.items()
    ]
    head = (
        "",
        "requests/s",
        "processor µs",
        "P50 ms",
        "P99 ms",
        "requests/s to bare",
        "P99 to bare",
        "hits",
    )
    return f"{notes}\n\n{table(head, cells)}"
