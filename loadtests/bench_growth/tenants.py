"""New and repeated questions in growing numbers of tenants of the same size."""

from itertools import cycle
from random import Random

import uvloop

from loadtests.bench.section import Section, table
from loadtests.bench_growth import caller, generated_corpus, plot, probe
from loadtests.bench_growth.options import GrowthRun
from loadtests.bench_growth.probe import RequestCost
from loadtests.bench_index import corpus
from loadtests.servers import service

_CHUNKS = 20  # of each
_ASKING_MAX = 500  # tenants that get questions, a random sample
_SEED = 23


def measure(run: GrowthRun) -> Section:
    new: dict[int, RequestCost] = {}
    repeated: dict[int, RequestCost] = {}
    questions = generated_corpus.questions()
    with service.nearhit() as gateway, run.console.status("filling") as status:
        filled = 0
        for count in run.options.tenants:
            status.update(f"{count:,} tenants")
            names = {f"tenant-{number}": _CHUNKS for number in range(filled, count)}
            uvloop.run(
                corpus.fill(
                    gateway.database_url,
                    generated_corpus.passages(),
                    names,
                    seed=generated_corpus.SEED,
                )
            )
            filled = count
            random = Random(_SEED)  # noqa: S311  no secret
            drawn = random.sample(range(count), min(count, _ASKING_MAX))
            asking = [caller.of(gateway, f"tenant-{number}") for number in drawn]
            requests = (
                ask(question) for ask, question in zip(cycle(asking), questions, strict=False)
            )
            probe.warm(gateway, requests, len(asking))
            new[count] = probe.take(gateway, requests, seconds=run.options.seconds)
            same = generated_corpus.built().questions[0]
            repeats = [ask(same) for ask in asking]
            probe.warm(gateway, iter(repeats), len(repeats))
            repeated[count] = probe.take(gateway, cycle(repeats), seconds=run.options.seconds)
    return Section(
        title="Tenants",
        text=_text(run, new, repeated),
        figures={
            "new": {str(count): cost.as_json() for count, cost in new.items()},
            "repeated": {str(count): cost.as_json() for count, cost in repeated.items()},
        },
        bars=[],
    )


def _text(run: GrowthRun, new: dict[int, RequestCost], repeated: dict[int, RequestCost]) -> str:
    picture = plot.lines(
        run.pictures / "growth-tenants.svg",
        list(new),
        {
            "ms": {
                "new, P50": [cost.p50_ms for cost in new.values()],
                "new, P99": [cost.p99_ms for cost in new.values()],
                "repeated, P50": [cost.p50_ms for cost in repeated.values()],
            },
            "MB": {
                "gateway": [cost.gateway_mb for cost in repeated.values()],
                "PostgreSQL": [cost.database_mb for cost in repeated.values()],
                "Redis": [cost.redis_mb for cost in repeated.values()],
            },
        },
        xlabel="tenants",
    )
    notes = (
        f"So many tenants of {_CHUNKS} chunks each. One connection asks in {_ASKING_MAX} of them "
        "at most, in turn, with one key per tenant: new questions, and one question repeated."
    )
    rows = [(f"{count:,}, new", *cost.row()) for count, cost in new.items()]
    rows += [(f"{count:,}, repeated", *cost.row()) for count, cost in repeated.items()]
    return f"{notes}\n\n{table(('tenants', *probe.HEAD), rows)}\n\n{picture}"
