"""New and repeated questions in growing numbers of tenants of the same size."""

from itertools import cycle
from random import Random

import uvloop

from loadtests.bench.frame import Run
from loadtests.bench.section import Section, rows_section
from loadtests.bench_growth import generated_corpus, probe
from loadtests.bench_growth.probe import Probe, RequestCost
from loadtests.bench_index import corpus
from loadtests.servers import service

_CHUNKS = 20  # of each
_ASKING_MAX = 500  # tenants that get questions, a random sample
_SEED = 23
_NOTES = (
    f"So many tenants of {_CHUNKS} chunks each. One connection asks in {_ASKING_MAX} of them "
    "at most, in turn, with one key per tenant: new questions, and one question repeated."
)


def measure(run: Run) -> Section:
    rows: dict[str, dict[str, RequestCost]] = {"new": {}, "repeated": {}}
    questions, seconds = generated_corpus.questions(), probe.seconds(run)
    with service.nearhit() as gateway, run.console.status("filling") as status:
        filled = 0
        for count in run.sizes(1, 10, 100, 1_000, 10_000, quick=(1, 10, 100)):
            status.update(f"{count:,} tenants")
            sizes = {f"tenant-{number}": _CHUNKS for number in range(filled, count)}
            passages, seed = generated_corpus.passages(), generated_corpus.SEED
            uvloop.run(corpus.fill(gateway.database_url, passages, sizes, seed=seed))
            filled = count
            random = Random(_SEED)  # noqa: S311  no secret
            drawn = random.sample(range(count), min(count, _ASKING_MAX))
            asking = [probe.asking(gateway, f"tenant-{number}") for number in drawn]
            new = (ask(question) for ask, question in zip(cycle(asking), questions, strict=False))
            same = generated_corpus.built().questions[0]
            repeated = cycle([ask(same) for ask in asking])
            for name, requests in (("new", new), ("repeated", repeated)):
                asked = Probe(gateway, requests)
                probe.warm(asked, len(asking))
                cost = probe.take({"": asked}, seconds=seconds)[""]
                rows[name][f"{count:,}, {name}"] = cost
    new_first = {**rows["new"], **rows["repeated"]}
    return rows_section("Tenants", _NOTES, "tenants", new_first, probe.COLUMNS)
