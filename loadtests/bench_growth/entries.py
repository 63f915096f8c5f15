"""The cost of repeated questions and of edits among the live answers of one tenant."""

from itertools import cycle, islice
from statistics import fmean, median

import uvloop

from loadtests.bench import edit_cost
from loadtests.bench.frame import Run
from loadtests.bench.section import Section, rows_section
from loadtests.bench_growth import generated_corpus, probe
from loadtests.bench_growth.probe import Probe, RequestCost
from loadtests.load import closed_loop
from loadtests.servers import service
from loadtests.workload import topics
from loadtests.workload.tenant_client import new_tenant

_EDITS = 20
_CONNECTIONS = 8
_STRETCH = 1_000  # requests at a time
_REPEATED_MAX = 1_000  # questions that are repeated, in turns
_COLUMNS = {
    "drain_ms": ("drain ms", ".1f"),
    "put_ms": ("PUT ms", ".1f"),
    "dropped": ("dropped an edit", ".1f"),
}


def measure(run: Run) -> Section:
    counts = run.sizes(100, 1_000, 10_000, 100_000, quick=(100, 1_000))
    settings = {"NEARHIT_REDIS_ENTRIES_MAX": str(2 * max(counts))}
    built, questions = generated_corpus.built(), generated_corpus.questions()
    rows: dict[str, RequestCost] = {}
    with (
        service.nearhit(settings) as gateway,
        new_tenant(gateway, "bench") as tenant,
        run.console.status("writing") as status,
    ):
        tenant.put(built.documents)
        ask, edits = probe.asking(gateway, "bench"), topics.edits(built, generated_corpus.SEED)
        live = 0
        for count in counts:
            status.update(f"{count:,} entries")
            while live < count:
                some = list(islice(questions, min(_STRETCH, count - live)))
                requests = [ask(question) for question in some]
                uvloop.run(closed_loop.send_all(gateway.url, requests, connections=_CONNECTIONS))
                live += len(some)
            repeats = [ask(question) for question in some[-_REPEATED_MAX:]]
            probes = {"": Probe(gateway, cycle(repeats))}
            cost = probe.take(probes, seconds=probe.seconds(run))[""]
            tenant.edit_first(next(edits))  # its drain reads the records stored since the last one
            edited = [edit_cost.edit(gateway, tenant, text) for text in islice(edits, _EDITS)]
            rows[f"{count:,}"] = {
                **cost,
                "drain_ms": median(one.drain_ms for one in edited),
                "put_ms": median(one.put_ms for one in edited),
                "dropped": fmean(one.dropped for one in edited),
            }
    notes = (
        f"One tenant with {len(built.documents):,} documents and so many live "
        "answers, to as many different questions of one caller. One connection repeats the newest "
        f"of them, at most {_REPEATED_MAX:,}, in turn. Then one document is edited {_EDITS} times; "
        "the drain is timed within the gateway, and dropped answers are not computed again."
    )
    columns = {**probe.COLUMNS, **_COLUMNS}
    return rows_section("Live entries", notes, "live answers", rows, columns)
