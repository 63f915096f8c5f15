"""Agents that search: exact hits alone, and the mix with writes at half of its capacity.

A target in milliseconds is for one machine that does nothing else. A bare app under the load of
exact hits shows what the machine and the generator take by themselves, and so whether a run was on
such a machine.
"""

from collections.abc import Sequence
from dataclasses import asdict, replace
from functools import partial

from loadtests.bench import measurement
from loadtests.bench.frame import SETTINGS, Run
from loadtests.bench.measurement import ERRORS_MAX, P99_MS_MAX
from loadtests.bench.section import Bar, Section
from loadtests.load.connection_pool import ConnectionPool
from loadtests.load.figures import Figures
from loadtests.load.request import Call
from loadtests.loadtest.driver import Load
from loadtests.loadtest.environment import LoadEnvironment
from loadtests.loadtest.judge import StalenessJudge
from loadtests.servers import service
from loadtests.servers.service import Service

RATE = 500.0  # exact hits per second, that of a busy tenant
USUAL_P99_MS = 1.58  # of the bare app, on the page of commit e67eb62
_TOLERANCE = 0.5  # of the usual P99; a choice, not measured
_HITS_P99_MS_MAX, _HITS_P99_TO_BARE_MAX, _HITS_MIN = 2.0, 1.5, 0.999
_MIX_P99_MS_MAX = 20.0  # at half of the capacity
_BARE_S_MAX = 10.0  # of the bare app, before and after the mix
_WRITES = 2.0  # per second: edits, removals, shares and changes of groups
_TIERS = ("memory", "redis", "semantic", "miss")
_SCOPES = ("all", "private", "shared", "tenant", "public")


def measure_hits(run: Run) -> Section:
    """Exact hits only, at the rate of a busy tenant."""
    servers = service.nearhit(SETTINGS)
    return measurement.on(servers, run, partial(_hits, run), writes=False)


def measure_mix(run: Run) -> Section:
    """The mix of searches and writes: the capacity, and the latencies at half of it."""
    return measurement.on(service.nearhit(SETTINGS), run, partial(_mix, run))


async def _hits(run: Run, _: Service, environment: LoadEnvironment) -> Section:
    load = _hits_load(measurement.seconds(run))
    figures = await measurement.drive(environment, load, environment.agents(load), run.console)
    bare = await _drive_bare(run, environment, load)
    p99_ms, bare_p99_ms = (measurement.percentile_ms(driven, 99) for driven in (figures, bare))
    rows = {
        f"{whose}from when it was {moment}": (driven, group)
        for whose, driven in (("", figures), ("a bare app, ", bare))
        for moment, group in (("due", "all"), ("sent", "sent"))
    }
    text = (
        f"{load.rate:g} requests per second for {load.seconds:g} s, Poisson arrivals, no writes: "
        f"each of {len(environment.world.subjects)} agents repeats its one question.\n\n"
        f"{measurement.latency_table(rows)}\n\n"
        "The bare app is a Starlette app that parses the body and returns the bytes of such an "
        "answer: its latency is the share of the machine and of the load generator.\n"
        f"The load generator itself was late by {figures.late.percentile_ms(99):.1f} ms at P99, on "
        "cores that it shares with the servers."
    )
    bars = [
        Bar("P99 ms", p99_ms, at_most=_HITS_P99_MS_MAX),
        Bar("P99, to the bare app's", p99_ms / bare_p99_ms, at_most=_HITS_P99_TO_BARE_MAX),
        Bar("share of hits", 1 - figures.share("tier.miss"), at_least=_HITS_MIN),
        Bar("errors", figures.errors.total(), at_most=0),
    ]
    measured = {"load": asdict(load), "hits": figures.as_json(), "bare": bare.as_json()}
    return Section("Exact hits", text, measured, bars)


async def _mix(run: Run, _: Service, environment: LoadEnvironment) -> Section:
    load = Load(writes=_WRITES, connections=256, seconds=measurement.seconds(run))
    agents = environment.agents(load)
    borne = await measurement.capacity(environment, load, agents, run.console)
    load = replace(load, rate=borne / 2)
    before_ms = await _bare_p99_ms(run, environment)
    figures = await measurement.drive(environment, load, agents, run.console)
    bare_p99s_ms = before_ms, await _bare_p99_ms(run, environment)
    counts = environment.judge.counts
    histories = "real histories" if run.data_folder else "generated histories"
    groups = {
        "all": "all",
        **{f"by {tier}": f"tier.{tier}" for tier in _TIERS},
        **{f"scope {scope}": f"scope.{scope}" for scope in _SCOPES},
        "writes": "write",
    }
    rows = {label: (figures, group) for label, group in groups.items() if figures.count(group)}
    text = (
        f"Agents of {len(environment.world.tenants)} tenants; {100 * load.repeats:.0f} % of their "
        f"searches repeat one of their own; {load.writes:g} writes per second of {histories}; "
        "Poisson arrivals.\n"
        f"The capacity is the greatest rate with a P99 of at most {P99_MS_MAX:g} ms and "
        f"{100 * ERRORS_MAX:g} % errors: **{borne:,.0f} searches per second**.\n"
        f"Then {load.seconds:g} s at half of it, {load.rate:,.0f} per second:\n\n"
        f"{measurement.latency_table(rows)}\n\n"
        f"A cache gave {100 * (1 - figures.share('tier.miss')):.0f} % of the answers; "
        f"{figures.errors.total()} of {figures.requests:,} requests failed. "
        f"{counts['judged']:,} answers with {counts['hits']:,} hits were judged in all; "
        f"{counts['expected']:,} times an acknowledged text was searched for at once. "
        f"The load generator itself was late by {figures.late.percentile_ms(99):.1f} ms at P99.\n"
        f"{usual_sentence(bare_p99s_ms, USUAL_P99_MS)}"
    )
    bars = [
        Bar(
            "P99 ms",
            measurement.percentile_ms(figures, 99),
            at_most=_MIX_P99_MS_MAX,
            judged=is_usual(bare_p99s_ms, USUAL_P99_MS),
        ),
        Bar("share of errors", figures.error_share, at_most=ERRORS_MAX),
        *measurement.correct(environment),
    ]
    measured = {
        "capacity": borne,
        "load": asdict(load),
        "judged": dict(counts),
        "bare": {"p99s_ms": bare_p99s_ms, "usual_p99_ms": USUAL_P99_MS},
        "steady": figures.as_json(),
    }
    return Section("The mix, at half of the capacity", text, measured, bars)


def _hits_load(seconds: float) -> Load:
    """Each agent repeats its one question, and nothing is written."""
    return Load(rate=RATE, writes=0, repeats=1, strangers=0, connections=256, seconds=seconds)


async def _bare_p99_ms(run: Run, environment: LoadEnvironment) -> float:
    load = _hits_load(min(measurement.seconds(run), _BARE_S_MAX))
    return measurement.percentile_ms(await _drive_bare(run, environment, load), 99)


async def _drive_bare(run: Run, environment: LoadEnvironment, load: Load) -> Figures:
    """The load on an app that returns a fixed answer, one of the environment's gateway."""
    agents = environment.agents(load)
    request = agents.ask()
    connections = ConnectionPool(
        environment.target.url, connections_max=1, timeout_s=load.timeout_s
    )
    key = environment.keys.readers[request.who]
    answer = await connections.send(Call("POST", "/v1/search", request.question.body), key)
    await connections.close()
    with service.bare(answer.body) as (url, _):
        target, judge = replace(environment.target, url=url), StalenessJudge("no documents")
        elsewhere = replace(environment, target=target, judge=judge)
        return await measurement.drive(elsewhere, load, agents, run.console)


def is_usual(p99s_ms: Sequence[float], usual_ms: float) -> bool:
    """Whether each P99 of the bare app is near its usual one; not if it was not measured."""
    return all(abs(p99_ms - usual_ms) <= _TOLERANCE * usual_ms for p99_ms in p99s_ms)


def usual_sentence(p99s_ms: Sequence[float], usual_ms: float) -> str:
    """The bare app's figures of this run, and whether the P99 of the mix is judged."""
    measured = " and ".join(f"{p99_ms:.2f}" for p99_ms in p99s_ms)
    verdict = "is judged" if is_usual(p99s_ms, usual_ms) else "is not judged"
    return (
        f"Before and after that, a bare app had a P99 of {measured} ms at {RATE:g} requests per "
        f"second. It usually has {usual_ms:g} ms on the machine that the target is for. "
        f"The P99 of the mix is judged if both are within {_TOLERANCE:.0%} of that; here it "
        f"{verdict}."
    )
