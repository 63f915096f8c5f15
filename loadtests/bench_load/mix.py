"""The mix of searches and writes: the capacity, and the latencies at half of it."""

from collections.abc import Sequence
from dataclasses import asdict, replace
from functools import partial

from loadtests.bench import capacity, measurement
from loadtests.bench.frame import SETTINGS, Run
from loadtests.bench.section import Bar, Section
from loadtests.bench_load import bare
from loadtests.load.figures import Figures
from loadtests.loadtest.driver import Load
from loadtests.loadtest.environment import LoadEnvironment
from loadtests.servers import service
from loadtests.servers.service import Service

_P99_MS_MAX = 20.0  # at half of the capacity
_BARE_S_MAX = 10.0  # of the bare app, before and after
_WRITES = 2.0  # per second: edits, removals, shares and changes of groups
_TIERS = ("memory", "redis", "semantic", "miss")
_SCOPES = ("all", "private", "shared", "tenant", "public")


def measure(run: Run) -> Section:
    return measurement.on(service.nearhit(SETTINGS), run, partial(_measured, run))


async def _measured(run: Run, _: Service, environment: LoadEnvironment) -> Section:
    load = Load(writes=_WRITES, connections=256, seconds=measurement.seconds(run))
    agents = environment.agents(load)
    borne = await capacity.find(environment, load, agents, run.console)
    steady = replace(load, rate=borne / 2)
    before_ms = await _bare_p99_ms(run, environment)
    figures = await measurement.drive(environment, steady, agents, run.console)
    bare_p99s_ms = before_ms, await _bare_p99_ms(run, environment)
    return _section(run, environment, borne, steady, figures, bare_p99s_ms)


async def _bare_p99_ms(run: Run, environment: LoadEnvironment) -> float:
    load = bare.hits_load(min(measurement.seconds(run), _BARE_S_MAX))
    figures = await bare.drive(environment, load, environment.agents(load), run.console)
    return measurement.percentile_ms(figures, 99)


def _section(
    run: Run,
    environment: LoadEnvironment,
    borne: float,
    load: Load,
    figures: Figures,
    bare_p99s_ms: Sequence[float],
) -> Section:
    counts, usual_ms = environment.judge.counts, bare.USUAL_P99_MS
    is_usual = bare.is_usual(bare_p99s_ms, usual_ms)
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
        f"The capacity is the greatest rate with a P99 of at most {capacity.P99_MS_MAX:g} ms and "
        f"{100 * capacity.ERRORS_MAX:g} % errors: **{borne:,.0f} searches per second**.\n"
        f"Then {load.seconds:g} s at half of it, {load.rate:,.0f} per second:\n\n"
        f"{measurement.latency_table(rows)}\n\n"
        f"A cache gave {100 * (1 - figures.share('tier.miss')):.0f} % of the answers; "
        f"{figures.errors.total()} of {figures.requests:,} requests failed. "
        f"{counts['judged']:,} answers with {counts['hits']:,} hits were judged in all; "
        f"{counts['expected']:,} times an acknowledged text was searched for at once. "
        f"The load generator itself was late by {figures.late.percentile_ms(99):.1f} ms at P99.\n"
        f"{bare.usual_sentence(bare_p99s_ms, usual_ms)}"
    )
    json_figures = {"capacity": borne, "load": asdict(load), "judged": dict(counts)}
    json_figures["bare"] = {"p99s_ms": bare_p99s_ms, "usual_p99_ms": usual_ms}
    p99_ms = measurement.percentile_ms(figures, 99)
    return Section(
        "The mix, at half of the capacity",
        text,
        json_figures | {"steady": figures.as_json()},
        [
            Bar("P99 ms", p99_ms, at_most=_P99_MS_MAX, judged=is_usual),
            Bar("share of errors", figures.error_share, at_most=capacity.ERRORS_MAX),
            *measurement.correct(environment),
        ],
    )
